#include "emu/explore.h"

#include <absl/strings/str_cat.h>

#include <exception>

#include "core/posix_heap.h"
#include "emu/execution.h"

namespace emu {

constexpr std::uint64_t kProgressEvery = 4096;  // schedules

absl::StatusOr<std::unique_ptr<Explorer>> Explorer::create(symrace::Program& program,
                                                           std::int32_t ranks,
                                                           const Options& options) {
  absl::StatusOr<std::unique_ptr<symrace::PosixHeap>> heap = symrace::PosixHeap::create(ranks);
  if (!heap.ok()) return heap.status();
  std::unique_ptr<Execution> execution;
  try {
    execution = std::make_unique<Execution>(program, **heap, options);
  } catch (const std::exception& error) {  // bad_alloc of stacks, system_error of threads
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot make ", ranks,
                     options.vehicle == VehicleKind::kFiber ? " fiber stacks" : " threads", " (",
                     error.what(), "); use fewer ranks",
                     options.vehicle == VehicleKind::kThread ? ", or --vehicle fiber" : ""));
  }
  std::unique_ptr<Explorer> explorer(new Explorer(*std::move(heap), std::move(execution)));
  explorer->interrupt_ = options.interrupt;
  return explorer;
}

Explorer::Explorer(std::unique_ptr<symrace::SymmetricHeap> heap,
                   std::unique_ptr<Execution> execution)
    : heap_(std::move(heap)), execution_(std::move(execution)) {}

Explorer::~Explorer() = default;

RunResult Explorer::run(Strategy& strategy, std::uint64_t seed) {
  return execution_->run(strategy, seed);
}

RecordedRun Explorer::record(Strategy& strategy, std::uint64_t seed) {
  RecordedRun recorded;
  execution_->run(strategy, seed, &recorded);
  return recorded;
}

Exploration Explorer::explore(Strategy& strategy, const Seeds& seeds,
                              const std::function<void(std::uint64_t)>& progress) {
  Exploration sum;
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    if (interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed)) {
      sum.interrupted = true;
      break;
    }
    RunResult result = execution_->run(strategy, seeds.first + i);
    if (result.outcome == Outcome::kInterrupted) {
      sum.interrupted = true;
      break;
    }
    ++sum.schedules;
    sum.decisions += result.decisions;
    if (progress && sum.schedules % kProgressEvery == 0) progress(sum.schedules);
    switch (result.outcome) {
      case Outcome::kOk:
        continue;
      case Outcome::kMismatch:
        ++sum.mismatches;
        break;
      case Outcome::kDeadlock:
        ++sum.deadlocks;
        break;
      case Outcome::kStepBound:
        ++sum.step_bounds;
        break;
      case Outcome::kError:
      case Outcome::kInterrupted:
        break;
    }
    const bool error = result.outcome == Outcome::kError;
    if (!sum.first_failure || error) sum.first_failure = std::move(result);
    if (error || seeds.stop_at_first_failure) break;
  }
  return sum;
}

}  // namespace emu
