#include "emu/clock_blocks.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace emu {

ClockBlocks::ClockBlocks() : buckets_(64, nullptr) {
  zero_.holders = 1;  // never recycled
}

ClockBlock* ClockBlocks::canonical(ClockBlock* block) {
  if (block->is_canonical || block == &zero_) return block;
  const std::uint64_t hash = XXH3_64bits(block->times.data(), sizeof(block->times));
  const std::size_t bucket = hash & (buckets_.size() - 1);
  for (ClockBlock* known = buckets_[bucket]; known != nullptr; known = known->next) {
    if (known->times != block->times) continue;
    hold(known);
    drop(block);
    return known;
  }
  block->is_canonical = true;
  block->bucket = bucket;
  block->next = buckets_[bucket];
  buckets_[bucket] = block;
  if (++canonical_count_ > buckets_.size()) grow_buckets();
  return block;
}

void ClockBlocks::forget(ClockBlock* block) {
  ClockBlock** at = &buckets_[block->bucket];
  while (*at != block) at = &(*at)->next;
  *at = block->next;
  block->is_canonical = false;
  --canonical_count_;
}

void ClockBlocks::grow_buckets() {
  std::vector<ClockBlock*> old(buckets_.size() * 2, nullptr);
  old.swap(buckets_);
  for (ClockBlock* chain : old) {
    while (chain != nullptr) {
      ClockBlock* block = chain;
      chain = chain->next;
      block->bucket =
          XXH3_64bits(block->times.data(), sizeof(block->times)) & (buckets_.size() - 1);
      block->next = buckets_[block->bucket];
      buckets_[block->bucket] = block;
    }
  }
}

}  // namespace emu
