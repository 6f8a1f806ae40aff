// A vector in chunks: it grows without moving what it holds, so that growth neither copies nor
// needs the memory twice.
#ifndef SYMRACE_EMU_CHUNKED_POOL_H_
#define SYMRACE_EMU_CHUNKED_POOL_H_

#include <cstddef>
#include <memory>
#include <vector>

namespace emu {

template <class T, std::size_t kChunk = 256>
class ChunkedPool {
 public:
  static_assert((kChunk & (kChunk - 1)) == 0);

  T& operator[](std::size_t index) { return chunks_[index / kChunk][index % kChunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / kChunk][index % kChunk]; }

  std::size_t size() const { return size_; }
  void grow_to(std::size_t size) {
    if (size <= size_) return;
    size_ = size;
    while (chunks_.size() * kChunk < size) chunks_.push_back(std::make_unique<T[]>(kChunk));
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace emu

#endif  // SYMRACE_EMU_CHUNKED_POOL_H_
