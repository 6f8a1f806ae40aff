#include "core/direct_waits.h"

#include <mutex>

#include "core/futex.h"

namespace symrace {

DirectWaits::DirectWaits(SymmetricHeap& heap, RanksAs ranks_as)
    : RunWatch(heap.ranks(), ranks_as),
      heap_(heap),
      seats_(static_cast<std::size_t>(heap.ranks())),
      is_asymmetric_(ranks_as == RanksAs::kThreads && kHasHeavyFence) {}

// A rank that died has left its seat as it was.
void DirectWaits::on_begin() {
  for (Seat& seat : seats_) {
    seat.waits_for.store(nullptr, std::memory_order_relaxed);
    seat.is_blocked = seat.is_asleep = false;
  }
  blocked_ = 0;
}

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
      if (is_asymmetric_) {
        heavy_fence();
      } else {
        full_fence();
      }
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
    seat.is_asleep = true;
    sleep(seat);
    seat.is_asleep = false;
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
  rouse(seat);
}

void DirectWaits::sleep(Seat& seat) {
  if (ranks_as() == RanksAs::kThreads) {
    seat.woken.wait(0, std::memory_order_acquire);
  } else {
    while (seat.woken.load(std::memory_order_acquire) == 0) futex_wait(seat.woken, 0);
  }
}

void DirectWaits::rouse(Seat& seat) {
  if (ranks_as() == RanksAs::kThreads) {
    seat.woken.notify_one();
  } else {
    futex_wake(seat.woken);
  }
}

// Whoever wakes a rank counts it as running, at once: a rank is blocked or can go on, never both.
void DirectWaits::unblock(Seat& seat) {
  if (seat.is_blocked) --blocked_;
  seat.is_blocked = false;
  seat.waits_for.store(nullptr, std::memory_order_relaxed);
  seat.woken.exchange(1, std::memory_order_seq_cst);
}

void DirectWaits::release_all() {
  for (Seat& seat : seats_) {
    // Whoever died may have been about to wake a rank that it had counted as running.
    if (!seat.is_blocked && ranks_as() == RanksAs::kThreads) continue;
    unblock(seat);
    rouse(seat);
  }
}

void DirectWaits::forget(std::int32_t rank) {
  seats_[static_cast<std::size_t>(rank)].waits_for.store(nullptr, std::memory_order_relaxed);
}

void DirectWaits::abandon(std::int32_t rank, const Site& last) {
  const Seat& seat = seats_[static_cast<std::size_t>(rank)];
  leave_in(rank, seat.is_asleep ? seat.wait : DirectWait{.site = last});
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
    rouse(seat);
    some_hold = true;
  }
  if (!some_hold) end(End::kDeadlock);
}

}  // namespace symrace
