// Who waits for which cell in a run whose ranks are really parallel: blocks and wakes them, sees at
// once when nobody can go on, and ends a run for whatever reason. Of ranks that are processes, any
// may die at any moment; once its run is then stopped, the others come to their end none the less.
#ifndef SYMRACE_CORE_DIRECT_WAITS_H_
#define SYMRACE_CORE_DIRECT_WAITS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <optional>

#include "core/asymmetric_fence.h"
#include "core/fabric.h"
#include "core/heap.h"
#include "core/rank_mutex.h"
#include "core/ranks_as.h"
#include "core/shared_array.h"

namespace symrace {

// What a rank waits for, or (`on_cell` false) the op in which it was when the run ended.
struct DirectWait {
  Site site;
  bool on_cell = false;
  Cell cell = {};
  std::int32_t expected = 0;
  pld::WaitCmp cmp = pld::WaitCmp::Eq;
};

// Unwinds a rank whose run is over. Deliberately no std::exception: kernels should let it pass.
struct DirectCancelled {};

// For ranks that are processes it lies itself in memory that they share.
class DirectWaits {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  enum class End : std::uint8_t { kFinished, kDeadlock, kTimeLimit, kError, kInterrupted };

  DirectWaits(SymmetricHeap& heap, RanksAs ranks_as);

  void begin();

  // --- For a running rank ---
  // One load of a line that nobody writes.
  bool is_over() const { return over_.load(std::memory_order_relaxed); }
  // Ends the rank in `last`, in a run that is over.
  [[noreturn]] void leave(std::int32_t rank, const DirectWait& last);
  // Returns when the cell has compared true; throws when the run is over.
  void block(std::int32_t rank, const DirectWait& wait);
  // To be called when a signal has changed `cell` of `rank`. There is a fence before the look at
  // who waits, and the waiter has its pair between its announcement and its last look at the cell:
  // one of the two sees the other.
  void signalled(std::int32_t rank, const std::int32_t* cell) {
    if (is_asymmetric_) [[likely]] {
      light_fence();
    } else {
      full_fence();
    }
    if (seats_[static_cast<std::size_t>(rank)].waits_for.load(std::memory_order_acquire) == cell)
        [[unlikely]] {
      wake(rank, cell);
    }
  }
  // The rank's kernel has ended; on `error` the run is over.
  void finish(std::int32_t rank, bool error);

  // --- For the engine ---
  // Of threads: returns when every rank has finished; `interrupt` may be null.
  End await_all(Clock::time_point deadline, const std::atomic<bool>* interrupt);
  // Of processes: ends a run for what none of its ranks sees, such as the death of one.
  void stop(End end);
  // Of processes, when they are gone: how the run ended.
  End ended() const { return end_; }
  // Of processes, for a rank whose end did not come from itself: left_in() is the wait in which it
  // slept, or `last`.
  void abandon(std::int32_t rank, const Site& last);
  // What the rank was in when the run's end overtook it. After await_all().
  const std::optional<DirectWait>& left_in(std::int32_t rank) const {
    return seats_[static_cast<std::size_t>(rank)].left_in;
  }
  std::int32_t cell(std::int32_t rank, const Cell& cell) const;

 private:
  // The first field is what notifiers look at: it changes only when the rank blocks.
  struct alignas(128) Seat {
    std::atomic<const std::int32_t*> waits_for{nullptr};
    std::atomic<std::uint32_t> woken{0};
    // Under mutex_:
    bool is_blocked = false;
    DirectWait wait;
    // The rank's own:
    bool is_asleep = false;
    std::optional<DirectWait> left_in;
  };

  std::int32_t* address(std::int32_t rank, const Cell& cell) const {
    return reinterpret_cast<std::int32_t*>(heap_.address(rank, cell.offset));
  }
  bool holds(std::int32_t rank, const DirectWait& wait) const;
  void wake(std::int32_t rank, const std::int32_t* cell);
  // Until `woken`.
  void sleep(Seat& seat);
  void rouse(Seat& seat);
  // Under mutex_:
  void unblock(Seat& seat);
  void end(End end);
  void look_for_deadlock();

  SymmetricHeap& heap_;
  SharedArray<Seat> seats_;
  const RanksAs ranks_as_;
  const bool is_asymmetric_;  // heavy and light fences do
  alignas(128) std::atomic<bool> over_{false};
  alignas(128) RankMutex mutex_;
  std::condition_variable_any all_finished_;  // of threads
  std::int32_t blocked_ = 0;
  std::int32_t finished_ = 0;
  End end_ = End::kFinished;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_WAITS_H_
