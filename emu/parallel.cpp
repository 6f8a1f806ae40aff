#include "emu/parallel.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/kernel_faults.h"
#include "emu/strategies.h"

namespace emu {
namespace {

constexpr std::uint64_t kBlock = 256;  // schedules

class Work {
 public:
  Work(const Seeds& seeds, const std::function<void(std::uint64_t)>& progress)
      : seeds_(seeds), progress_(progress), blocks_((seeds.count + kBlock - 1) / kBlock) {}

  // The seeds of the next block; false when there is none, or its result would not count.
  bool take(std::uint64_t& block, Seeds& part) {
    const std::scoped_lock lock(mutex_);
    if (next_ == blocks_ || ended_ || !status_.ok()) return false;
    block = next_++;
    part = seeds_;
    part.first = seeds_.first + block * kBlock;
    part.count = std::min(kBlock, seeds_.count - block * kBlock);
    return true;
  }

  void give(std::uint64_t block, Exploration result) {
    const std::scoped_lock lock(mutex_);
    waiting_.emplace(block, std::move(result));
    while (!ended_ && !waiting_.empty() && waiting_.begin()->first == merged_) {
      merge_next(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++merged_;
    }
    if (progress_) progress_(sum_.schedules);
  }

  void fail(absl::Status status) {
    const std::scoped_lock lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }

  absl::StatusOr<Exploration> result() {
    if (!status_.ok()) return status_;
    return std::move(sum_);
  }

 private:
  void merge_next(Exploration& part) {
    sum_.schedules += part.schedules;
    sum_.decisions += part.decisions;
    sum_.mismatches += part.mismatches;
    sum_.deadlocks += part.deadlocks;
    sum_.step_bounds += part.step_bounds;
    sum_.racy += part.racy;
    sum_.failed += part.failed;
    merge(sum_.races, part.races);
    sum_.add_modelled(part.modelled);
    const bool is_error = part.first_failure && part.first_failure->outcome == Outcome::kError;
    if (part.first_failure && sum_.is_better_shown(*part.first_failure)) {
      sum_.first_failure = std::move(part.first_failure);
    }
    sum_.interrupted = part.interrupted;
    ended_ = part.interrupted || is_error || (seeds_.stop_at_first_failure && sum_.first_failure);
  }

  const Seeds seeds_;
  const std::function<void(std::uint64_t)>& progress_;
  const std::uint64_t blocks_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::uint64_t merged_ = 0;
  bool ended_ = false;  // what follows in seed order does not count
  std::map<std::uint64_t, Exploration> waiting_;
  Exploration sum_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Exploration> explore_in_parallel(
    const ProgramFactory& make_program, std::int32_t ranks, const Options& options,
    const std::string& strategy_name, const Seeds& seeds, std::uint32_t jobs,
    const std::function<void(std::uint64_t)>& progress) {
  Work work(seeds, progress);
  const auto worker = [&] {
    const symrace::FaultStack fault_stack;
    try {
      auto strategy = make_strategy(strategy_name);
      if (!strategy.ok()) return work.fail(strategy.status());
      auto program = make_program();
      if (!program.ok()) return work.fail(program.status());
      auto explorer = Explorer::create(**program, ranks, options);
      if (!explorer.ok()) return work.fail(explorer.status());
      std::uint64_t block = 0;
      for (Seeds part; work.take(block, part);) {
        work.give(block, (*explorer)->explore(**strategy, part));
      }
    } catch (const std::bad_alloc&) {
      work.fail(absl::ResourceExhaustedError("out of memory; use fewer jobs"));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < jobs; ++i) threads.emplace_back(worker);
    worker();
  }
  return work.result();
}

}  // namespace emu
