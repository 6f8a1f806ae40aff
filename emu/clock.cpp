#include "emu/clock.h"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

std::size_t row_size(std::int32_t ranks) {
  return (static_cast<std::size_t>(ranks) + ClockBlock::kRanks - 1) / ClockBlock::kRanks;
}

// The times of a rank, compared at once.
using FourTimes [[gnu::vector_size(16)]] = std::uint32_t;
static_assert(sizeof(FourTimes) == sizeof(RankTimes));

FourTimes four(const RankTimes& times) {
  FourTimes loaded;
  std::memcpy(&loaded, &times, sizeof(loaded));
  return loaded;
}

bool any(FourTimes marks) { return (marks[0] | marks[1] | marks[2] | marks[3]) != 0; }

}  // namespace

bool ClockView::has_beyond(const Instant& instant) const {
  return std::find(beyond->begin(), beyond->end(), instant) != beyond->end();
}

void RankClock::begin(std::int32_t ranks, ClockBlocks& blocks) {
  blocks_ = &blocks;
  for (std::vector<ClockBlock*>* row : {&row_, &covered_}) {
    for (ClockBlock* block : *row) blocks.drop(block);
  }
  const std::size_t size = row_size(ranks);
  row_.resize(size);
  covered_.resize(size > 1 ? size : 0);
  for (std::vector<ClockBlock*>* row : {&row_, &covered_}) {
    for (ClockBlock*& block : *row) {
      block = blocks.zero();
      ClockBlocks::hold(block);
    }
  }
  width_ = std::min(static_cast<std::size_t>(ranks), ClockBlock::kRanks);
  beyond_.clear();
}

ClockBlock& RankClock::copied_block(std::size_t index) {
  ClockBlock*& block = row_[index];
  ClockBlock* shared = block;
  block = blocks_->copy(*shared, width_);
  if (is_wide()) std::swap(shared, covered_[index]);
  blocks_->drop(shared);
  return *block;
}

void RankClock::add(const Instant& instant) {
  if (view().covers(instant)) return;
  if (instant.time == time(instant.rank, instant.component) + 1) {
    raise(instant.rank, instant.component, instant.time);
    tidy();
  } else {
    beyond_.push_back(instant);
  }
}

void RankClock::join(const ClockView& other) {
  const std::size_t count = row_.size();
  if (count == 1) {
    if (other.blocks[0] != row_[0]) join_block(0, *other.blocks[0]);
  } else {
    const ClockBlock* const zero = blocks_->zero();
    for (std::size_t i = 0; i < count; ++i) {
      ClockBlock* const block = other.blocks[i];
      if (block == zero || block == covered_[i] || block == row_[i]) continue;
      join_block(i, *block);
    }
  }
  if (!beyond_.empty()) tidy();
  for (const Instant& instant : *other.beyond) add(instant);
}

void RankClock::join_block(std::size_t index, ClockBlock& other) {
  const ClockBlock& mine = *row_[index];
  FourTimes mine_is_ahead{};
  FourTimes other_is_ahead{};
  for (std::size_t rank = 0; rank < width_; ++rank) {
    const FourTimes my_times = four(mine.times[rank]);
    const FourTimes other_times = four(other.times[rank]);
    mine_is_ahead |= static_cast<FourTimes>(my_times > other_times);
    other_is_ahead |= static_cast<FourTimes>(other_times > my_times);
  }
  if (!any(other_is_ahead)) {
    if (!is_wide()) return;
    ClockBlocks::hold(&other);
    blocks_->drop(covered_[index]);
    covered_[index] = &other;
    return;
  }
  if (!any(mine_is_ahead)) {
    ClockBlocks::hold(&other);
    blocks_->drop(row_[index]);
    row_[index] = &other;
    return;
  }
  ClockBlock& joined = own_block(index);
  for (std::size_t rank = 0; rank < width_; ++rank) {
    const FourTimes my_times = four(joined.times[rank]);
    const FourTimes other_times = four(other.times[rank]);
    const FourTimes later = my_times > other_times ? my_times : other_times;
    std::memcpy(&joined.times[rank], &later, sizeof(later));
  }
}

void RankClock::tidy() {
  for (bool again = true; again && !beyond_.empty();) {
    again = false;
    for (std::size_t i = 0; i < beyond_.size();) {
      const Instant instant = beyond_[i];
      const std::uint32_t known = time(instant.rank, instant.component);
      if (instant.time > known + 1) {
        ++i;
        continue;
      }
      again = again || instant.time > known;
      raise(instant.rank, instant.component, instant.time);
      beyond_[i] = beyond_.back();
      beyond_.pop_back();
    }
  }
}

void ClockTable::begin(std::int32_t ranks) {
  for (std::uint32_t slot = 0; slot < holders_.size(); ++slot) {
    if (holders_[slot] == 0) continue;
    holders_[slot] = 0;
    recycle(slot);
  }
  if (row_size(ranks) != row_size_) {
    row_size_ = row_size(ranks);
    rows_.clear();
    beyond_.clear();
    holders_.clear();
    free_.clear();
  }
}

std::uint32_t ClockTable::snapshot(RankClock& clock) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(holders_.size()));
    holders_.push_back(0);
    beyond_.emplace_back();
    rows_.resize(rows_.size() + row_size_);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  holders_[slot] = 1;
  ClockBlock** const row = &rows_[slot * row_size_];
  for (std::size_t i = 0; i < row_size_; ++i) {
    if (row_size_ > 1) clock.row_[i] = blocks_.canonical(clock.row_[i]);
    row[i] = clock.row_[i];
    ClockBlocks::hold(row[i]);
  }
  if (!beyond_[slot].empty() || !clock.beyond_.empty()) beyond_[slot] = clock.beyond_;
  return slot;
}

void ClockTable::recycle(std::uint32_t slot) {
  for (std::size_t i = 0; i < row_size_; ++i) blocks_.drop(rows_[slot * row_size_ + i]);
  free_.push_back(slot);
}

}  // namespace emu
