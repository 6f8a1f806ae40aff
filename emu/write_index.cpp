#include "emu/write_index.h"

#include <algorithm>
#include <bit>

namespace emu {
namespace {

// Blocks of the smallest level have a cell of a signal window.
constexpr std::int32_t kSmallest = 2;
constexpr std::int32_t kLargest = 62;
// More blocks than that are not looked at: they may be written to.
constexpr std::uint64_t kMostLooks = 16;

std::int32_t level_of(std::uint64_t span) {
  return std::clamp(static_cast<std::int32_t>(std::bit_width(span - 1)), kSmallest, kLargest);
}

}  // namespace

template <class Visit>
void WriteIndex::for_each_block(std::int32_t target, const symrace::WindowRegion& region,
                                Visit&& visit) {
  if (region.extent.empty()) return;
  const std::int32_t level = level_of(region.end() - region.offset);
  const std::uint64_t last = (region.end() - 1) >> level;
  for (std::uint64_t number = region.offset >> level; number <= last; ++number) {
    visit(Block{number, target, level});
  }
}

void WriteIndex::add(std::int32_t target, const symrace::WindowRegion& region) {
  for_each_block(target, region, [&](const Block& block) {
    ++regions_[block];
    ++at_level_[static_cast<std::size_t>(block.level)];
    levels_ |= std::uint64_t{1} << block.level;
  });
}

void WriteIndex::remove(std::int32_t target, const symrace::WindowRegion& region) {
  for_each_block(target, region, [&](const Block& block) {
    const auto found = regions_.find(block);
    if (--found->second == 0) regions_.erase(found);
    if (--at_level_[static_cast<std::size_t>(block.level)] == 0) {
      levels_ &= ~(std::uint64_t{1} << block.level);
    }
  });
}

bool WriteIndex::may_overlap(std::int32_t target, const symrace::WindowRegion& region) const {
  if (region.extent.empty()) return false;
  for (std::uint64_t left = levels_; left != 0; left &= left - 1) {
    const std::int32_t level = std::countr_zero(left);
    const std::uint64_t first = region.offset >> level;
    const std::uint64_t last = (region.end() - 1) >> level;
    if (last - first >= kMostLooks) return true;
    for (std::uint64_t number = first; number <= last; ++number) {
      if (regions_.contains({number, target, level})) return true;
    }
  }
  return false;
}

void WriteIndex::clear() {
  regions_.clear();
  at_level_.fill(0);
  levels_ = 0;
}

}  // namespace emu
