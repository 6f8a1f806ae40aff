#include "core/polled_waits.h"

#include <algorithm>

namespace symrace {

void PolledWaits::on_begin() {
  std::fill(seats_.begin(), seats_.end(), Seat{});
  waiting_ = 0;
}

void PolledWaits::begin_wait(std::int32_t rank) {
  const std::lock_guard lock(mutex());
  seat(rank).waits = true;
  ++waiting_;
  change_.fetch_add(1, std::memory_order_release);
}

void PolledWaits::end_wait(std::int32_t rank) {
  const std::lock_guard lock(mutex());
  forget(rank);
}

void PolledWaits::forget(std::int32_t rank) {
  if (seat(rank).waits) {
    seat(rank).waits = false;
    --waiting_;
  }
  change_.fetch_add(1, std::memory_order_release);
}

void PolledWaits::looked(std::int32_t rank, std::uint64_t since, std::int32_t actual) {
  const std::lock_guard lock(mutex());
  seat(rank).looked_since = since;
  seat(rank).actual = actual;
  if (is_over() || waiting_ + finished() != ranks()) return;
  const std::uint64_t last = change();
  const bool all_in_vain = std::all_of(seats_.begin(), seats_.end(), [&](const Seat& other) {
    return !other.waits || other.looked_since == last;
  });
  if (all_in_vain) end(End::kDeadlock);
}

void PolledWaits::tested(std::int32_t rank, std::int32_t actual) {
  const std::lock_guard lock(mutex());
  seat(rank).actual = actual;
}

}  // namespace symrace
