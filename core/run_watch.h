// Sees a run whose ranks are really parallel to its end: all have finished, all wait for ever, one
// failed, or it is ended from outside. How ranks wait is up to the fabrics: see DirectWaits and
// PolledWaits. Of ranks that are processes, any may die at any moment; once its run is then
// stopped, the others come to their end none the less.
#ifndef SYMRACE_CORE_RUN_WATCH_H_
#define SYMRACE_CORE_RUN_WATCH_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/fabric.h"
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
class RunWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  // How often whoever awaits a run looks for an interrupt: a signal handler can only set a flag,
  // and may do so before the sleep.
  static constexpr std::chrono::milliseconds kLookForInterrupt{10};

  enum class End : std::uint8_t { kFinished, kDeadlock, kTimeLimit, kError, kInterrupted };

  // Throws boost::interprocess::interprocess_exception when there is no memory.
  RunWatch(std::int32_t ranks, RanksAs ranks_as);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  virtual ~RunWatch() = default;

  void begin();

  // --- For a running rank ---
  // One load of a line that nobody writes.
  bool is_over() const { return over_.load(std::memory_order_relaxed); }
  // Ends the rank in `last`, in a run that is over.
  [[noreturn]] void leave(std::int32_t rank, const DirectWait& last);
  // The rank's kernel has ended, and nothing that it moved is on its way; on `error` the run is
  // over.
  void finish(std::int32_t rank, bool error);

  // --- For the engine ---
  // Of threads: returns when every rank has finished; `interrupt` may be null. While the run is
  // over and some rank has not, calls `overdue`, if there is one, each time that `patience` has
  // passed.
  End await_all(Clock::time_point deadline, const std::atomic<bool>* interrupt,
                Clock::duration patience = {}, const std::function<void()>& overdue = nullptr);
  // Of processes: ends a run for what none of its ranks sees, such as the death of one.
  void stop(End why);
  // Of processes: how the run ended, as far as it has.
  End ended() const { return end_; }
  // When every rank has finished, or is gone: what the rank was in when the run's end overtook it,
  // or null.
  const DirectWait* left_in(std::int32_t rank) const {
    const std::optional<DirectWait>& left_in = left_in_[static_cast<std::size_t>(rank)];
    return left_in ? &*left_in : nullptr;
  }
  // Likewise: what is in the cell that it was left in.
  virtual std::int32_t cell(std::int32_t rank, const Cell& cell) const = 0;

 protected:
  std::int32_t ranks() const { return static_cast<std::int32_t>(left_in_.size()); }
  RanksAs ranks_as() const { return ranks_as_; }
  // Of a rank that did not leave by itself.
  void leave_in(std::int32_t rank, const DirectWait& last) {
    left_in_[static_cast<std::size_t>(rank)] = last;
  }
  RankMutex& mutex() { return mutex_; }
  // All below under mutex(), but that stop() goes without it where a rank will not give it up:
  void end(End end);
  std::int32_t finished() const { return finished_; }
  virtual void on_begin() {}
  // The run is over: lets every rank that is blocked go on, to leave.
  virtual void release_all() {}
  // Whatever a kernel did with the end of its run, the rank waits for nothing.
  virtual void forget(std::int32_t rank) = 0;
  // To be called whenever one rank less can go on: ends the run if that was the last.
  virtual void look_for_deadlock() = 0;

 private:
  const RanksAs ranks_as_;
  SharedArray<std::optional<DirectWait>> left_in_;  // each written by its rank only
  alignas(128) std::atomic<bool> over_{false};
  alignas(128) RankMutex mutex_;
  std::optional<std::condition_variable_any> all_finished_;  // of threads
  std::int32_t finished_ = 0;
  End end_ = End::kFinished;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RUN_WATCH_H_
