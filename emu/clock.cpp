#include "emu/clock.h"

#include <algorithm>

namespace emu {

bool ClockView::has_beyond(const Instant& instant) const {
  return std::find(beyond->begin(), beyond->end(), instant) != beyond->end();
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
  const auto count = times_.size();
  for (std::size_t rank = 0; rank < count; ++rank) {
    for (std::size_t c = 0; c < kComponents; ++c) {
      times_[rank][c] = std::max(times_[rank][c], other.times[rank][c]);
    }
  }
  if (!beyond_.empty()) tidy();
  for (const Instant& instant : *other.beyond) add(instant);
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
  if (ranks != ranks_) {
    ranks_ = ranks;
    times_.clear();
    beyond_.clear();
    holders_.clear();
  }
  free_.clear();
  for (std::uint32_t slot = static_cast<std::uint32_t>(holders_.size()); slot-- > 0;) {
    free_.push_back(slot);
  }
}

std::uint32_t ClockTable::snapshot(const ClockView& clock) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(holders_.size()));
    holders_.push_back(0);
    beyond_.emplace_back();
    times_.resize(times_.size() + static_cast<std::size_t>(ranks_));
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  holders_[slot] = 1;
  std::copy_n(clock.times, ranks_, times_.begin() + slot * static_cast<std::ptrdiff_t>(ranks_));
  if (!beyond_[slot].empty() || !clock.beyond->empty()) beyond_[slot] = *clock.beyond;
  return slot;
}

}  // namespace emu
