// One schedule of a program: what it is asked for, and what came of it.
#ifndef SYMRACE_EMU_RUN_H_
#define SYMRACE_EMU_RUN_H_

#include <absl/status/status.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric.h"
#include "core/named_heap.h"
#include "core/program.h"
#include "core/stuck_rank.h"
#include "emu/cost_model.h"
#include "emu/event_log.h"
#include "emu/model.h"
#include "emu/race.h"
#include "emu/strategy.h"
#include "emu/virtual_time.h"

namespace emu {

enum class VehicleKind : std::uint8_t { kFiber, kThread };

struct Options {
  Model model = Model::documented();
  VehicleKind vehicle = VehicleKind::kFiber;
  // Largest piece of a transfer in bytes; 0: a whole transfer, or a chunk of a chunked one.
  std::int64_t burst_bytes = 0;
  // Decisions after which a run counts as stuck; 0: a million a rank.
  std::uint64_t max_steps = 0;
  std::size_t stack_bytes = 256 * 1024;
  bool detect_races = true;
  // Device of each rank; empty: rank r on device r.
  std::vector<std::int32_t> devices = {};
  // Set (by a signal handler, say) to end a run early, as kInterrupted.
  const std::atomic<bool>* interrupt = nullptr;
  // What operations cost in modelled time; none: it is not modelled. No schedule depends on it.
  std::optional<CostModel> costs = {};
  // Makes the heap a named one, of one Explorer at a time.
  symrace::HeapLabel heap = {};
};

enum class Outcome : std::uint8_t {
  kOk,           // ended, output equals the golden
  kMismatch,     // ended, output differs
  kDeadlock,     // no transition enabled and a rank unfinished
  kStepBound,    // max_steps decisions and no end
  kError,        // a kernel asked for what the hardware cannot do, or threw
  kInterrupted,  // Options::interrupt was set
  kAbandoned,    // the strategy saw that nothing new would come of it
};

using symrace::StuckRank;

struct RunResult {
  Outcome outcome = Outcome::kOk;
  std::uint64_t seed = 0;
  std::uint64_t decisions = 0;
  std::string error = {};                          // kError: one line
  std::vector<StuckRank> stuck = {};               // kDeadlock, kStepBound
  std::vector<symrace::Mismatch> mismatches = {};  // kMismatch; filled when recorded
  std::vector<Race> races = {};                    // with any outcome
  // With Options::costs: when each rank ended, or how far it came.
  std::vector<Picoseconds> rank_ps = {};

  bool has_modelled_time() const {
    return !rank_ps.empty() && (outcome == Outcome::kOk || outcome == Outcome::kMismatch);
  }
  // When the last rank ended.
  Picoseconds modelled_ps() const {
    return rank_ps.empty() ? 0 : *std::max_element(rank_ps.begin(), rank_ps.end());
  }
};

// A recorded run: everything needed to show it and to repeat it.
struct RecordedRun {
  RunResult result;
  EventLog log;                          // emu/event_log.h
  std::uint64_t trace_hash = 0;          // of the log, independent of machine and build
  std::vector<Decision> decisions = {};  // what the strategy chose, for ReplayStrategy
  EventTimes times = {};                 // with Options::costs
};

}  // namespace emu

#endif  // SYMRACE_EMU_RUN_H_
