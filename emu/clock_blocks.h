// Blocks of a vector clock: the times of sixteen neighbouring ranks, shared by reference count and
// never changed while shared, so that clocks that know the same of those ranks hold one block.
//
// Equal blocks of snapshots are one: a barrier leaves all ranks with the same knowledge, each of
// which has put it together for itself, and the next barrier's joins then compare pointers.
#ifndef SYMRACE_EMU_CLOCK_BLOCKS_H_
#define SYMRACE_EMU_CLOCK_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/chunked_pool.h"

namespace emu {

enum class Component : std::uint8_t {
  kProgram,     // the rank's own steps
  kReleased,    // pieces that a later notify of the rank waits for
  kUnreleased,  // pieces that only a fence waits for
  kReads,       // deferred reads, which their first use waits for
};
inline constexpr std::size_t kComponents = 4;

using RankTimes = std::array<std::uint32_t, kComponents>;

struct ClockBlock {
  static constexpr std::size_t kRanks = 16;

  std::array<RankTimes, kRanks> times{};
  std::uint32_t holders = 0;
  bool is_canonical = false;   // found by content, and so not to be changed
  std::size_t bucket = 0;      // where it is found
  ClockBlock* next = nullptr;  // in its bucket, or in the list of free ones
};

class ClockBlocks {
 public:
  ClockBlocks();

  // Knows nothing; may be held and dropped like any other.
  ClockBlock* zero() { return &zero_; }

  static void hold(ClockBlock* block) { ++block->holders; }
  void drop(ClockBlock* block) {
    if (--block->holders == 0) recycle(block);
  }
  // A copy, of the first `width` ranks, that nobody else holds.
  ClockBlock* copy(const ClockBlock& from, std::size_t width) {
    ClockBlock* block = free_;
    if (block == nullptr) {
      pool_.grow_to(pool_.size() + 1);
      block = &pool_[pool_.size() - 1];
    } else {
      free_ = block->next;
    }
    for (std::size_t rank = 0; rank < width; ++rank) block->times[rank] = from.times[rank];
    block->holders = 1;
    return block;
  }
  // The one block of this content, of all its ranks, held; `block` is dropped.
  ClockBlock* canonical(ClockBlock* block);
  // Makes a block that nobody else holds fit to be changed.
  void about_to_change(ClockBlock* block) {
    if (block->is_canonical) forget(block);
  }

 private:
  void recycle(ClockBlock* block) {
    if (block->is_canonical) forget(block);
    block->next = free_;
    free_ = block;
  }
  void forget(ClockBlock* block);
  void grow_buckets();

  ClockBlock zero_;
  ChunkedPool<ClockBlock, 64> pool_;
  ClockBlock* free_ = nullptr;
  std::vector<ClockBlock*> buckets_;  // of the canonical ones; a power of two
  std::size_t canonical_count_ = 0;
};

}  // namespace emu

#endif  // SYMRACE_EMU_CLOCK_BLOCKS_H_
