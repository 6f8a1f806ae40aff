// The front door for tests: explore a program, and look at what was found.
//
//   symrace::FunctionProgram program([&](pld::Host& host) { ... }, [&] { return y == golden; });
//   const auto result = emu::explore(program, {.ranks = 3, .strategy = emu::Pct{3}});
//   if (!result.ok()) std::cerr << result;
//
// emu/doctest.h has matchers for doctest.
#ifndef SYMRACE_EMU_SYMRACE_H_
#define SYMRACE_EMU_SYMRACE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "core/function_program.h"
#include "core/pl.h"
#include "core/pld.h"
#include "emu/diagnosis.h"
#include "emu/explore.h"

namespace emu {

// How schedules are chosen; docs/exploration.md tells them apart.
struct Random {};
struct RoundRobin {};
struct Pct {
  std::uint32_t depth = 3;  // at least 1
};
struct Uniform {};
struct Exhaustive {
  std::uint64_t max_executions = 0;                  // 0: none
  std::chrono::steady_clock::duration time_limit{};  // 0: none
};
// One schedule, by the token of an earlier report.
struct Replay {
  std::string token;
};

struct ExploreOptions {
  std::int32_t ranks = 2;
  Model model = Model::documented();
  std::variant<Random, RoundRobin, Pct, Uniform, Exhaustive, Replay> strategy = Random{};
  std::uint64_t schedules = 1000;  // not of Exhaustive and Replay
  std::uint64_t seed = 0;          // of the first schedule
  bool stop_at_first_failure = false;
  bool shrink = true;  // the failure that is shown
  bool detect_races = true;
  std::int64_t burst_bytes = 0;  // largest piece of a transfer; 0: whole
  std::uint64_t max_steps = 0;   // decisions after which a run counts as stuck; 0: a million a rank
  VehicleKind vehicle = VehicleKind::kFiber;
  std::optional<CostModel> costs = {};  // of modelled time; none: it is not modelled
  std::string name = "program";         // in the report, and part of a replay token
};

class ExploreResult {
 public:
  // No schedule failed or raced, and nothing went wrong. An exhaustive exploration that stopped at
  // a bound is ok as far as it came: see exploration().end.
  bool ok() const { return error.empty() && exploration.failed == 0 && !exploration.interrupted; }
  // Every execution was visited, and none failed.
  bool verified() const {
    return ok() && is_exhaustive && exploration.end == Exploration::End::kComplete;
  }
  // Whether a finding has this symptom ("zeros"; `a2a3sim explain` lists them) or kind ("race",
  // "mismatch", "deadlock", "step-bound").
  bool has(std::string_view symptom_or_kind) const;
  // The report: counts, then the first failure in full.
  std::string text() const;

  // Windows in Race are null here: the findings have their names and ranges.
  std::string error;               // bad options, or a kernel that asked for the impossible
  Exploration exploration;         // the counts
  std::vector<Finding> findings;   // of the first failing schedule, shrunk
  std::optional<RecordedRun> run;  // that schedule
  std::string replay_token;        // of it; empty when nothing failed
  bool is_exhaustive = false;
  std::string name;
  std::int32_t ranks = 0;
  std::string model;
};

ExploreResult explore(symrace::Program& program, const ExploreOptions& options = {});

std::ostream& operator<<(std::ostream& out, const ExploreResult& result);

}  // namespace emu

#endif  // SYMRACE_EMU_SYMRACE_H_
