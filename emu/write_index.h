// WriteIndex: roughly where the writes in flight of a rank go, so that a transfer which touches
// other bytes need not be compared with each of them.
#ifndef SYMRACE_EMU_WRITE_INDEX_H_
#define SYMRACE_EMU_WRITE_INDEX_H_

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <utility>

#include "core/region.h"

namespace emu {

// A region is kept as the one or two blocks, of a power of two of bytes, that its span lies in.
class WriteIndex {
 public:
  // Of the slice of `target`. What is removed has been added.
  void add(std::int32_t target, const symrace::WindowRegion& region);
  void remove(std::int32_t target, const symrace::WindowRegion& region);
  // False when no region that was added shares a byte with this one.
  bool may_overlap(std::int32_t target, const symrace::WindowRegion& region) const;
  void clear();

 private:
  struct Block {
    std::uint64_t number;  // in the slice
    std::int32_t target;
    std::int32_t level;  // it has 2^level bytes
    friend bool operator==(const Block&, const Block&) = default;
    template <class H>
    friend H AbslHashValue(H hash, const Block& block) {  // NOLINT(readability-identifier-naming)
      return H::combine(std::move(hash), block.number, block.target, block.level);
    }
  };
  template <class Visit>
  static void for_each_block(std::int32_t target, const symrace::WindowRegion& region,
                             Visit&& visit);

  absl::flat_hash_map<Block, std::uint32_t> regions_;  // never walked through
  std::array<std::uint32_t, 65> at_level_{};           // blocks
  std::uint64_t levels_ = 0;                           // bit l: at_level_[l] is not 0
};

}  // namespace emu

#endif  // SYMRACE_EMU_WRITE_INDEX_H_
