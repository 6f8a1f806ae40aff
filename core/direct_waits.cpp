#include "core/direct_waits.h"

#include <algorithm>
#include <mutex>

#include "core/futex.h"

namespace symrace {
namespace {

// A signal handler can only set a flag, so somebody has to look.
constexpr std::chrono::milliseconds kLookForInterrupt{10};
// A rank that is stopped while it keeps the mutex must not keep the run from its end.
constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

DirectWaits::DirectWaits(SymmetricHeap& heap, RanksAs ranks_as)
    : heap_(heap),
      seats_(static_cast<std::size_t>(heap.ranks())),
      ranks_as_(ranks_as),
      is_asymmetric_(ranks_as == RanksAs::kThreads && kHasHeavyFence),
      mutex_(ranks_as) {}

void DirectWaits::begin() {
  const std::lock_guard lock(mutex_);
  for (Seat& seat : seats_) {
    seat.waits_for.store(nullptr, std::memory_order_relaxed);
    seat.is_blocked = seat.is_asleep = false;
    seat.left_in.reset();
  }
  over_.store(false, std::memory_order_relaxed);
  blocked_ = 0;
  finished_ = 0;
  end_ = End::kFinished;
}

std::int32_t DirectWaits::cell(std::int32_t rank, const Cell& cell) const {
  return std::atomic_ref(*address(rank, cell)).load(std::memory_order_seq_cst);
}

bool DirectWaits::holds(std::int32_t rank, const DirectWait& wait) const {
  return pld::compare(wait.cmp, cell(rank, wait.cell), wait.expected);
}

void DirectWaits::leave(std::int32_t rank, const DirectWait& last) {
  seats_[static_cast<std::size_t>(rank)].left_in = last;
  throw DirectCancelled{};
}

void DirectWaits::block(std::int32_t rank, const DirectWait& wait) {
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  // A woken rank looks again: the cell may have been signalled once more since.
  while (true) {
    {
      const std::lock_guard lock(mutex_);
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
    const std::lock_guard lock(mutex_);
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
  if (ranks_as_ == RanksAs::kThreads) {
    seat.woken.wait(0, std::memory_order_acquire);
  } else {
    while (seat.woken.load(std::memory_order_acquire) == 0) futex_wait(seat.woken, 0);
  }
}

void DirectWaits::rouse(Seat& seat) {
  if (ranks_as_ == RanksAs::kThreads) {
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

void DirectWaits::end(End end) {
  if (end_ == End::kFinished || end == End::kError) end_ = end;
  over_.store(true, std::memory_order_relaxed);
  for (Seat& seat : seats_) {
    // Whoever died may have been about to wake a rank that it had counted as running.
    if (!seat.is_blocked && ranks_as_ == RanksAs::kThreads) continue;
    unblock(seat);
    rouse(seat);
  }
}

void DirectWaits::stop(End why) {
  const bool is_mine = mutex_.try_lock_for(kPatience);
  end(why);
  if (is_mine) mutex_.unlock();
}

void DirectWaits::abandon(std::int32_t rank, const Site& last) {
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  seat.left_in = seat.is_asleep ? seat.wait : DirectWait{.site = last};
}

// When every unfinished rank is blocked, nobody is left to change a cell: a notifier finishes its
// notify, waking included, before it blocks or ends.
void DirectWaits::look_for_deadlock() {
  const auto ranks = static_cast<std::int32_t>(seats_.size());
  if (blocked_ == 0 || blocked_ + finished_ != ranks) return;
  // Data written over a cell wake nobody, but hold.
  bool some_hold = false;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    if (!seat.is_blocked || !holds(rank, seat.wait)) continue;
    unblock(seat);
    rouse(seat);
    some_hold = true;
  }
  if (!some_hold) end(End::kDeadlock);
}

void DirectWaits::finish(std::int32_t rank, bool error) {
  const std::lock_guard lock(mutex_);
  if (error) end(End::kError);
  // Whatever a kernel did with the end of its run, it has ended.
  seats_[static_cast<std::size_t>(rank)].waits_for.store(nullptr, std::memory_order_relaxed);
  ++finished_;
  if (finished_ == heap_.ranks()) {
    all_finished_.notify_one();
  } else {
    look_for_deadlock();
  }
}

DirectWaits::End DirectWaits::await_all(Clock::time_point deadline,
                                        const std::atomic<bool>* interrupt) {
  std::unique_lock lock(mutex_);
  const auto all = [this] { return finished_ == heap_.ranks(); };
  while (!all()) {
    const Clock::time_point now = Clock::now();
    if (is_over() || (deadline == kNever && interrupt == nullptr)) {
      all_finished_.wait(lock, all);
    } else if (interrupt != nullptr && interrupt->load(std::memory_order_relaxed)) {
      end(End::kInterrupted);
    } else if (now >= deadline) {
      end(End::kTimeLimit);
    } else {
      all_finished_.wait_until(
          lock, interrupt == nullptr ? deadline : std::min(deadline, now + kLookForInterrupt));
    }
  }
  return end_;
}

}  // namespace symrace
