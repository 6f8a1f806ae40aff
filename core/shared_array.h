// SharedArray: objects in memory that this process has in common with those it forks afterwards, at
// the same addresses. It has no name, and is gone with the last of them.
#ifndef SYMRACE_CORE_SHARED_ARRAY_H_
#define SYMRACE_CORE_SHARED_ARRAY_H_

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace symrace {

template <class T>
class SharedArray {
 public:
  SharedArray() = default;
  // Each element is made of `arguments`; without any it is default-initialized, in zeroed memory.
  // Throws boost::interprocess::interprocess_exception when there is no memory.
  template <class... Arguments>
  explicit SharedArray(std::size_t size, Arguments&... arguments) : size_(size) {
    if (size == 0) return;
    memory_ = boost::interprocess::anonymous_shared_memory(size * sizeof(T));
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (sizeof...(Arguments) == 0) {
        new (data() + i) T;
      } else {
        new (data() + i) T(arguments...);
      }
    }
  }
  SharedArray(SharedArray&& other) noexcept
      : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  SharedArray& operator=(SharedArray other) noexcept {
    memory_.swap(other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~SharedArray() { std::destroy_n(data(), size_); }

  std::size_t size() const { return size_; }
  T* data() const { return static_cast<T*>(memory_.get_address()); }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& operator[](std::size_t i) const { return data()[i]; }

 private:
  boost::interprocess::mapped_region memory_;
  std::size_t size_ = 0;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_SHARED_ARRAY_H_
