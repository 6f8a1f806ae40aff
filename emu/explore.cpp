#include "emu/explore.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/posix_heap.h"
#include "emu/execution.h"
#include "emu/exhaustive.h"
#include "emu/replay.h"
#include "emu/strategies.h"

namespace emu {

constexpr std::size_t kMostCounting = 200000;   // steps, to count naive schedules: some 20 ms
constexpr std::uint64_t kProgressEvery = 4096;  // schedules

absl::StatusOr<std::unique_ptr<Explorer>> Explorer::create(symrace::Program& program,
                                                           std::int32_t ranks,
                                                           const Options& options) {
  absl::StatusOr<std::unique_ptr<symrace::PosixHeap>> heap =
      symrace::PosixHeap::create(ranks, options.heap, "emulator");
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

const symrace::SymmetricHeap& Explorer::heap() const {
  execution_->memory().settle();
  return *heap_;
}

void Explorer::prepare(Strategy& strategy) {
  if (!strategy.wants_profile()) return;
  if (!profile_) {
    const auto round_robin = make_round_robin_strategy();
    Footprints footprints;
    profile_.emplace();
    profile_->decisions = execution_->run(*round_robin, 0, nullptr, &footprints).decisions;
    profile_->steps.resize(static_cast<std::size_t>(heap_->ranks()));
    profile_->deliveries.resize(static_cast<std::size_t>(heap_->ranks()));
    for (const Footprints::Step& step : std::span(footprints.steps()).subspan(1)) {
      const auto rank = static_cast<std::size_t>(step.decision.rank);
      ++(step.decision.is_delivery() ? profile_->deliveries : profile_->steps)[rank];
    }
  }
  strategy.prepare(*profile_);
}

RunResult Explorer::run(Strategy& strategy, std::uint64_t seed) {
  prepare(strategy);
  return execution_->run(strategy, seed);
}

RecordedRun Explorer::record(Strategy& strategy, std::uint64_t seed, Footprints* footprints) {
  prepare(strategy);
  RecordedRun recorded;
  execution_->run(strategy, seed, &recorded, footprints);
  find_missing_orders(recorded);
  return recorded;
}

// The same schedule, as near as can be, under a model whose notifies release all writes before
// them, and then reads too: the race that is then none lacks that release.
void Explorer::find_missing_orders(RecordedRun& run) {
  constexpr std::size_t kMostDecisions = 5000;
  constexpr std::uint8_t kAll = 0xff;
  constexpr std::uint8_t kWrites = kAll & ~Model::bit(ReleaseClass::kRead);
  const Model model = execution_->model();
  std::vector<Race>& races = run.result.races;
  for (const auto& [releases, missing] : {std::pair{kAll, MissingOrder::kReadRelease},
                                          std::pair{kWrites, MissingOrder::kWriteRelease}}) {
    if (races.empty() || (model.releases & releases) == releases) continue;
    Model released = model;
    released.releases = releases;
    execution_->set_model(released);
    const auto again = run.decisions.size() <= kMostDecisions ? make_wish_strategy(run.decisions)
                                                              : make_random_strategy();
    const std::vector<Race> left = execution_->run(*again, run.result.seed).races;
    for (Race& race : races) {
      const bool is_left = std::any_of(left.begin(), left.end(),
                                       [&](const Race& other) { return same_lines(race, other); });
      if (!is_left) race.missing = missing;
    }
  }
  execution_->set_model(model);
}

bool Exploration::is_better_shown(const RunResult& now) const {
  if (now.outcome == Outcome::kInterrupted) return false;
  if (now.outcome == Outcome::kOk && now.races.empty()) return false;
  if (!first_failure || now.outcome == Outcome::kError) return true;
  return first_failure->outcome == Outcome::kOk && now.outcome != Outcome::kOk;
}

bool Explorer::is_interrupted() const {
  return interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed);
}

bool Explorer::count(Exploration& sum, RunResult result, bool stop_at_first_failure) {
  if (result.outcome == Outcome::kInterrupted) {
    sum.interrupted = true;
    return true;
  }
  ++sum.schedules;
  sum.decisions += result.decisions;
  if (!result.races.empty()) {
    ++sum.racy;
    merge(sum.races, result.races);
  }
  if (result.has_modelled_time()) {
    sum.add_modelled(Exploration::ModelledTimes{.fastest = result.modelled_ps(),
                                                .slowest = result.modelled_ps()});
  }
  switch (result.outcome) {
    case Outcome::kMismatch:
      ++sum.mismatches;
      break;
    case Outcome::kDeadlock:
      ++sum.deadlocks;
      break;
    case Outcome::kStepBound:
      ++sum.step_bounds;
      break;
    case Outcome::kOk:
      if (result.races.empty()) return false;
      break;
    case Outcome::kError:
    case Outcome::kInterrupted:
    case Outcome::kAbandoned:
      break;
  }
  const bool error = result.outcome == Outcome::kError;
  if (!error) ++sum.failed;
  if (sum.is_better_shown(result)) sum.first_failure = std::move(result);
  return error || stop_at_first_failure;
}

Exploration Explorer::explore(Strategy& strategy, const Seeds& seeds,
                              const std::function<void(std::uint64_t)>& progress) {
  Exploration sum;
  prepare(strategy);
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    if (is_interrupted()) {
      sum.interrupted = true;
      break;
    }
    if (count(sum, execution_->run(strategy, seeds.first + i), seeds.stop_at_first_failure)) break;
    if (progress && sum.schedules % kProgressEvery == 0) progress(sum.schedules);
  }
  return sum;
}

Exploration Explorer::exhaust(
    const Bounds& bounds, bool stop_at_first_failure,
    const std::function<void(std::uint64_t)>& progress,
    const std::function<void(const RunResult&, const Footprints&)>& visit) {
  Exploration sum;
  if (!exhaustive_) exhaustive_ = std::make_unique<ExhaustiveStrategy>(footprints_);
  ExhaustiveStrategy& strategy = *exhaustive_;
  strategy.restart();
  std::size_t counting = kMostCounting;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t runs = 1;; ++runs) {
    if (is_interrupted()) {
      sum.interrupted = true;
      break;
    }
    RunResult result = execution_->run(strategy, sum.schedules, nullptr, &footprints_);
    strategy.ended();
    if (result.outcome == Outcome::kAbandoned) {
      ++sum.abandoned;
      sum.decisions += result.decisions;
    } else {
      if (visit) visit(result, footprints_);
      if (bounds.counts_naive) sum.naive += strategy.equivalent_schedules(counting);
      const bool is_better_shown = sum.is_better_shown(result);
      const bool last = count(sum, std::move(result), stop_at_first_failure);
      if (is_better_shown) {
        sum.first_failure_decisions.clear();
        for (std::size_t i = 1; i < footprints_.steps().size(); ++i) {
          sum.first_failure_decisions.push_back(footprints_.steps()[i].decision);
        }
      }
      if (last) {
        sum.end = Exploration::End::kFailure;
        break;
      }
    }
    if (!strategy.next()) break;
    if (bounds.max_executions != 0 && sum.schedules >= bounds.max_executions) {
      sum.end = Exploration::End::kMaxExecutions;
      break;
    }
    if (bounds.time_limit.count() != 0 &&
        std::chrono::steady_clock::now() - start >= bounds.time_limit) {
      sum.end = Exploration::End::kTimeLimit;
      break;
    }
    if (progress && runs % kProgressEvery == 0) progress(sum.schedules);
  }
  return sum;
}

}  // namespace emu
