#include "core/run_watch.h"

#include <algorithm>
#include <mutex>

namespace symrace {
namespace {

// A rank that is stopped while it keeps the mutex must not keep the run from its end.
constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

RunWatch::RunWatch(std::int32_t ranks, RanksAs ranks_as)
    : ranks_as_(ranks_as), left_in_(static_cast<std::size_t>(ranks)), mutex_(ranks_as) {
  if (ranks_as == RanksAs::kThreads) all_finished_.emplace();
}

void RunWatch::begin() {
  const std::lock_guard lock(mutex_);
  for (std::optional<DirectWait>& left_in : left_in_) left_in.reset();
  over_.store(false, std::memory_order_relaxed);
  finished_ = 0;
  end_ = End::kFinished;
  on_begin();
}

void RunWatch::leave(std::int32_t rank, const DirectWait& last) {
  leave_in(rank, last);
  throw DirectCancelled{};
}

void RunWatch::end(End end) {
  if (end_ == End::kFinished || end == End::kError) end_ = end;
  over_.store(true, std::memory_order_relaxed);
  release_all();
}

void RunWatch::stop(End why) {
  const bool is_mine = mutex_.try_lock_for(kPatience);
  end(why);
  if (is_mine) mutex_.unlock();
}

void RunWatch::finish(std::int32_t rank, bool error) {
  const std::lock_guard lock(mutex_);
  if (error) end(End::kError);
  forget(rank);
  ++finished_;
  if (finished_ == ranks()) {
    if (all_finished_) all_finished_->notify_one();
  } else {
    look_for_deadlock();
  }
}

RunWatch::End RunWatch::await_all(Clock::time_point deadline, const std::atomic<bool>* interrupt,
                                  Clock::duration patience, const std::function<void()>& overdue) {
  if (!all_finished_) return end_;  // of processes, of which this is not asked
  std::condition_variable_any& all_finished = *all_finished_;
  std::unique_lock lock(mutex_);
  const auto all = [this] { return finished_ == ranks(); };
  const bool looks = interrupt != nullptr || overdue != nullptr;
  while (!all()) {
    const Clock::time_point now = Clock::now();
    if (is_over() || (deadline == kNever && !looks)) {
      if (overdue == nullptr) {
        all_finished.wait(lock, all);
      } else if (!all_finished.wait_for(lock, patience, all)) {
        lock.unlock();
        overdue();
        lock.lock();
      }
    } else if (interrupt != nullptr && interrupt->load(std::memory_order_relaxed)) {
      end(End::kInterrupted);
    } else if (now >= deadline) {
      end(End::kTimeLimit);
    } else {
      all_finished.wait_until(lock, looks ? std::min(deadline, now + kLookForInterrupt) : deadline);
    }
  }
  return end_;
}

}  // namespace symrace
