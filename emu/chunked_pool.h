// A vector in chunks: it grows without moving what it holds, so that growth neither copies nor
// needs the memory twice. A large one lives in large pages.
#ifndef SYMRACE_EMU_CHUNKED_POOL_H_
#define SYMRACE_EMU_CHUNKED_POOL_H_

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "emu/huge_pages.h"

namespace emu {

template <class T, std::size_t kChunk = 256>
class ChunkedPool {
 public:
  static_assert((kChunk & (kChunk - 1)) == 0);
  static_assert(alignof(T) <= 64);

  ChunkedPool() = default;
  ChunkedPool(const ChunkedPool&) = delete;
  ChunkedPool& operator=(const ChunkedPool&) = delete;
  ~ChunkedPool() {
    for (std::size_t i = small_.size(); i < chunks_.size(); ++i) std::destroy_n(chunks_[i], kChunk);
  }

  T& operator[](std::size_t index) { return chunks_[index / kChunk][index % kChunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / kChunk][index % kChunk]; }

  std::size_t size() const { return size_; }
  void grow_to(std::size_t size) {
    if (size <= size_) return;
    while (chunks_.size() * kChunk < size) add_chunk();
    size_ = size;
  }

 private:
  static constexpr std::size_t kSmallBytes = std::size_t{1}
                                             << 20;  // for which no large page is due

  void add_chunk() {
    chunks_.reserve(chunks_.size() + 1);
    if (chunks_.size() * kChunk * sizeof(T) < kSmallBytes) {
      small_.push_back(std::make_unique<T[]>(kChunk));
      chunks_.push_back(small_.back().get());
      return;
    }
    auto* const chunk = reinterpret_cast<T*>(large_.allocate(kChunk * sizeof(T)));
    std::uninitialized_value_construct_n(chunk, kChunk);
    chunks_.push_back(chunk);
  }

  std::vector<T*> chunks_;
  std::vector<std::unique_ptr<T[]>> small_;  // the first ones
  HugePages large_;                          // of the others
  std::size_t size_ = 0;
};

}  // namespace emu

#endif  // SYMRACE_EMU_CHUNKED_POOL_H_
