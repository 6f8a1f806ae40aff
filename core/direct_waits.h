// Who waits for which cell in a run whose ranks are really parallel: blocks and wakes them, sees at
// once when nobody can go on, and ends a run for whatever reason.
#ifndef SYMRACE_CORE_DIRECT_WAITS_H_
#define SYMRACE_CORE_DIRECT_WAITS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/fabric.h"
#include "core/heap.h"

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

class DirectWaits {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  enum class End : std::uint8_t { kFinished, kDeadlock, kTimeLimit, kError, kInterrupted };

  explicit DirectWaits(SymmetricHeap& heap);

  void begin();

  // --- For a running rank ---
  // One load of a line that nobody writes.
  bool is_over() const { return over_.load(std::memory_order_relaxed); }
  // Ends the rank in `last`, in a run that is over.
  [[noreturn]] void leave(std::int32_t rank, const DirectWait& last);
  // Returns when the cell has compared true; throws when the run is over.
  void block(std::int32_t rank, const DirectWait& wait);
  // To be called when a signal has changed `cell` of `rank`, with a light_fence() since. The waiter
  // has a heavy one between its announcement and its last look at the cell: one of the two sees the
  // other.
  void signalled(std::int32_t rank, const std::int32_t* cell) {
    if (seats_[static_cast<std::size_t>(rank)].waits_for.load(std::memory_order_acquire) == cell)
        [[unlikely]] {
      wake(rank, cell);
    }
  }
  // The rank's kernel has ended; on `error` the run is over.
  void finish(std::int32_t rank, bool error);

  // --- For the engine ---
  // Returns when every rank has finished; `interrupt` may be null.
  End await_all(Clock::time_point deadline, const std::atomic<bool>* interrupt);
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
    std::optional<DirectWait> left_in;
  };

  std::int32_t* address(std::int32_t rank, const Cell& cell) const {
    return reinterpret_cast<std::int32_t*>(heap_.address(rank, cell.offset));
  }
  bool holds(std::int32_t rank, const DirectWait& wait) const;
  void wake(std::int32_t rank, const std::int32_t* cell);
  // Under mutex_:
  void unblock(Seat& seat);
  void end(End end);
  void look_for_deadlock();

  SymmetricHeap& heap_;
  std::vector<Seat> seats_;
  alignas(128) std::atomic<bool> over_{false};
  alignas(128) std::mutex mutex_;
  std::condition_variable all_finished_;
  std::int32_t blocked_ = 0;
  std::int32_t finished_ = 0;
  End end_ = End::kFinished;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_WAITS_H_
