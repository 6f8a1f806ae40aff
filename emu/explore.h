// Runs many schedules of one program and says what came of them.
#ifndef SYMRACE_EMU_EXPLORE_H_
#define SYMRACE_EMU_EXPLORE_H_

#include <absl/status/statusor.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/heap.h"
#include "core/program.h"
#include "emu/footprints.h"
#include "emu/linear_extensions.h"
#include "emu/run.h"
#include "emu/strategy.h"

namespace emu {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  bool stop_at_first_failure = false;
};

// Where an exhaustive exploration stops short. Both are looked at between executions.
struct Bounds {
  std::uint64_t max_executions = 0;                  // 0: none
  std::chrono::steady_clock::duration time_limit{};  // 0: none
  bool counts_naive = true;  // Exploration::naive: costs about as much as the executions
};

struct Exploration {
  std::uint64_t schedules = 0;  // that ended, in seed order
  std::uint64_t decisions = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t step_bounds = 0;
  bool interrupted = false;
  // The one to be shown: of the lowest seed whose output is wrong or that got stuck; where there is
  // none, of the lowest that raced; an error ends the exploration.
  std::optional<RunResult> first_failure;
  // The decisions of that schedule, where a seed does not give them (exhaustive).
  std::vector<Decision> first_failure_decisions;
  std::uint64_t racy = 0;    // schedules with at least one race
  std::uint64_t failed = 0;  // schedules that failed in any of these ways
  std::vector<Race> races;   // of all schedules, a pair of lines each
  // Modelled times of the schedules that ended, with Options::costs; else none.
  struct ModelledTimes {
    Picoseconds fastest = 0, slowest = 0;
    void add(const ModelledTimes& other) {
      fastest = std::min(fastest, other.fastest);
      slowest = std::max(slowest, other.slowest);
    }
  };
  std::optional<ModelledTimes> modelled;

  void add_modelled(const std::optional<ModelledTimes>& times) {
    if (!times) return;
    if (!modelled) modelled = times;
    modelled->add(*times);
  }

  // Of an exhaustive exploration; `schedules` counts its executions, each of a class of its own.
  enum class End : std::uint8_t { kComplete, kMaxExecutions, kTimeLimit, kFailure };
  End end = End::kComplete;
  std::uint64_t abandoned = 0;  // schedules given up since all that could follow was known
  ScheduleCount naive;          // schedules that those executions stand for

  // Whether `now`, of a higher seed, is to be shown in place of first_failure.
  bool is_better_shown(const RunResult& now) const;
  // Not counting races: what a look at the outputs shows.
  std::uint64_t failures() const { return mismatches + deadlocks + step_bounds; }
};

class Execution;
class ExhaustiveStrategy;

// Owns a heap and an execution for one program at one rank count; reusable over schedules.
class Explorer {
 public:
  // Statuses name what was wrong, in one line: InvalidArgument, ResourceExhausted, AlreadyExists.
  static absl::StatusOr<std::unique_ptr<Explorer>> create(symrace::Program& program,
                                                          std::int32_t ranks,
                                                          const Options& options);
  ~Explorer();

  // One schedule; no log, no allocation in steady state.
  RunResult run(Strategy& strategy, std::uint64_t seed);
  // The same schedule with everything recorded.
  RecordedRun record(Strategy& strategy, std::uint64_t seed, Footprints* footprints = nullptr);
  // `progress(schedules so far)` is called every few thousand schedules.
  Exploration explore(Strategy& strategy, const Seeds& seeds,
                      const std::function<void(std::uint64_t)>& progress = {});
  // Every execution, one of each equivalence class, in an order of their own; their "seeds" count
  // them from 0. `visit` sees each.
  Exploration exhaust(const Bounds& bounds, bool stop_at_first_failure = false,
                      const std::function<void(std::uint64_t)>& progress = {},
                      const std::function<void(const RunResult&, const Footprints&)>& visit = {});
  // The slices, as the last schedule left them.
  const symrace::SymmetricHeap& heap() const;

 private:
  bool is_interrupted() const;
  // Finds out what is missing between the ends of each race of a recorded run.
  void find_missing_orders(RecordedRun& run);
  // Gives a strategy the profile that it wants.
  void prepare(Strategy& strategy);
  // Adds a result; returns whether it ends the exploration.
  static bool count(Exploration& sum, RunResult result, bool stop_at_first_failure);
  Explorer(std::unique_ptr<symrace::SymmetricHeap> heap, std::unique_ptr<Execution> execution);
  std::unique_ptr<symrace::SymmetricHeap> heap_;
  std::unique_ptr<Execution> execution_;
  const std::atomic<bool>* interrupt_ = nullptr;
  std::optional<Profile> profile_;
  // Of exhaust(): kept, so that another one allocates nothing.
  Footprints footprints_;
  std::unique_ptr<ExhaustiveStrategy> exhaustive_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_EXPLORE_H_
