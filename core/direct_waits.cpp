#include "core/direct_waits.h"

#include "core/asymmetric_fence.h"

namespace symrace {

DirectWaits::DirectWaits(SymmetricHeap& heap)
    : RunWatch(heap.ranks()), heap_(heap), seats_(static_cast<std::size_t>(heap.ranks())) {}

std::int32_t DirectWaits::cell(std::int32_t rank, const Cell& cell) const {
  return std::atomic_ref(*address(rank, cell)).load(std::memory_order_seq_cst);
}

bool DirectWaits::holds(std::int32_t rank, const DirectWait& wait) const {
  return pld::compare(wait.cmp, cell(rank, wait.cell), wait.expected);
}

void DirectWaits::block(std::int32_t rank, const DirectWait& wait) {
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  // A woken rank looks again: the cell may have been signalled once more since.
  while (true) {
    {
      const std::lock_guard lock(mutex());
      if (is_over()) break;
      seat.waits_for.store(address(rank, wait.cell), std::memory_order_release);
      heavy_fence();
      if (holds(rank, wait)) {
        seat.waits_for.store(nullptr, std::memory_order_relaxed);
        return;
      }
      seat.wait = wait;
      seat.woken.store(0, std::memory_order_relaxed);
      seat.is_blocked = true;
      ++blocked_;
      look_for_deadlock();
    }
    seat.woken.wait(0, std::memory_order_acquire);
    if (holds(rank, wait)) return;
  }
  leave(rank, wait);
}

void DirectWaits::wake(std::int32_t rank, const std::int32_t* cell) {
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  {
    const std::lock_guard lock(mutex());
    // By now it may have seen the signal itself, and may wait for something else.
    if (!seat.is_blocked || address(rank, seat.wait.cell) != cell || !holds(rank, seat.wait)) {
      return;
    }
    unblock(seat);
  }
  // Outside, since the woken rank may run at once in this one's place, and come for the mutex.
  seat.woken.notify_one();
}

// Whoever wakes a rank counts it as running, at once: a rank is blocked or can go on, never both.
void DirectWaits::unblock(Seat& seat) {
  seat.is_blocked = false;
  seat.waits_for.store(nullptr, std::memory_order_relaxed);
  --blocked_;
  seat.woken.exchange(1, std::memory_order_seq_cst);
}

void DirectWaits::release_all() {
  for (Seat& seat : seats_) {
    if (!seat.is_blocked) continue;
    unblock(seat);
    seat.woken.notify_one();
  }
}

void DirectWaits::forget(std::int32_t rank) {
  seats_[static_cast<std::size_t>(rank)].waits_for.store(nullptr, std::memory_order_relaxed);
}

// When every unfinished rank is blocked, nobody is left to change a cell: a notifier finishes its
// notify, waking included, before it blocks or ends.
void DirectWaits::look_for_deadlock() {
  if (blocked_ == 0 || blocked_ + finished() != ranks()) return;
  // Data written over a cell wake nobody, but hold.
  bool some_hold = false;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    if (!seat.is_blocked || !holds(rank, seat.wait)) continue;
    unblock(seat);
    seat.woken.notify_one();
    some_hold = true;
  }
  if (!some_hold) end(End::kDeadlock);
}

}  // namespace symrace
