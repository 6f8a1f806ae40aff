// Which bytes of the slices a schedule wrote, so that the next one pays for zeroing those alone.
#ifndef SYMRACE_EMU_DIRTY_LINES_H_
#define SYMRACE_EMU_DIRTY_LINES_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/heap.h"

namespace emu {

// One bit a 64-byte line, one word a 4 KiB page of a slice, and a list of the words that are not 0.
class DirtyLines {
 public:
  // Sets the layout; nothing may be dirty.
  void begin(std::int32_t ranks, std::uint64_t slice_bytes) {
    const std::uint64_t pages = slice_bytes / kPageBytes;
    if (pages == pages_per_slice_) return;
    pages_per_slice_ = pages;
    words_.assign(static_cast<std::size_t>(ranks) * pages, 0);
  }

  void mark(std::int32_t rank, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t first = offset / kLineBytes;
    const std::uint64_t last = (offset + bytes - 1) / kLineBytes;
    const std::uint64_t base = static_cast<std::uint64_t>(rank) * pages_per_slice_;
    for (std::uint64_t page = first / 64; page <= last / 64; ++page) {
      const std::uint64_t low = page == first / 64 ? first % 64 : 0;
      const std::uint64_t high = page == last / 64 ? last % 64 : 63;
      const std::uint64_t mask = (~std::uint64_t{0} >> (63 - high)) & (~std::uint64_t{0} << low);
      std::uint64_t& word = words_[base + page];
      if (word == 0) dirty_.push_back(base + page);
      word |= mask;
    }
  }

  // Zeroes the marked lines of `heap` and forgets them.
  void clear(symrace::SymmetricHeap& heap) {
    for (const std::uint64_t index : dirty_) {
      const auto rank = static_cast<std::int32_t>(index / pages_per_slice_);
      std::byte* page = heap.address(rank, index % pages_per_slice_ * kPageBytes);
      std::uint64_t word = words_[index];
      while (word != 0) {
        const int begin = std::countr_zero(word);
        const int length = std::countr_one(word >> begin);
        std::memset(page + static_cast<std::uint64_t>(begin) * kLineBytes, 0,
                    static_cast<std::size_t>(length) * kLineBytes);
        word &= length == 64 ? 0 : ~(((std::uint64_t{1} << length) - 1) << begin);
      }
      words_[index] = 0;
    }
    dirty_.clear();
  }

 private:
  static constexpr std::uint64_t kLineBytes = 64;
  static constexpr std::uint64_t kPageBytes = 64 * kLineBytes;
  static_assert(kPageBytes == symrace::kWindowFloorBytes);

  std::uint64_t pages_per_slice_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> dirty_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_DIRTY_LINES_H_
