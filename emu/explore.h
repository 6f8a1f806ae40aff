// Runs many schedules of one program and says what came of them.
#ifndef SYMRACE_EMU_EXPLORE_H_
#define SYMRACE_EMU_EXPLORE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/heap.h"
#include "core/program.h"
#include "emu/run.h"
#include "emu/strategy.h"

namespace emu {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  bool stop_at_first_failure = false;
};

struct Exploration {
  std::uint64_t schedules = 0;  // that ended, in seed order
  std::uint64_t decisions = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t step_bounds = 0;
  bool interrupted = false;
  std::optional<RunResult> first_failure;  // the lowest failing seed; an error ends the exploration
  std::uint64_t failures() const { return mismatches + deadlocks + step_bounds; }
};

class Execution;

// Owns a heap and an execution for one program at one rank count; reusable over schedules.
class Explorer {
 public:
  // Statuses name what was wrong, in one line: InvalidArgument, ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<Explorer>> create(symrace::Program& program,
                                                          std::int32_t ranks,
                                                          const Options& options);
  ~Explorer();

  // One schedule; no log, no allocation in steady state.
  RunResult run(Strategy& strategy, std::uint64_t seed);
  // The same schedule with everything recorded.
  RecordedRun record(Strategy& strategy, std::uint64_t seed);
  // `progress(schedules so far)` is called every few thousand schedules.
  Exploration explore(Strategy& strategy, const Seeds& seeds,
                      const std::function<void(std::uint64_t)>& progress = {});

 private:
  Explorer(std::unique_ptr<symrace::SymmetricHeap> heap, std::unique_ptr<Execution> execution);
  std::unique_ptr<symrace::SymmetricHeap> heap_;
  std::unique_ptr<Execution> execution_;
  const std::atomic<bool>* interrupt_ = nullptr;
};

}  // namespace emu

#endif  // SYMRACE_EMU_EXPLORE_H_
