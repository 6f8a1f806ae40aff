// What came of a request: the material of the text report and of the JSON report.
#ifndef SYMRACE_TOOLS_FINDINGS_H_
#define SYMRACE_TOOLS_FINDINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "emu/determinism.h"
#include "emu/diagnosis.h"
#include "emu/explore.h"
#include "emu/run.h"
#include "emu/shrink.h"
#include "tools/command_line.h"

namespace tools {

struct Findings {
  const RunRequest& request;
  std::optional<emu::Exploration> exploration = {};  // with --seeds, or exhaustive
  std::optional<emu::DeterminismCheck> determinism = {};
  std::optional<emu::RecordedRun> run = {};  // the only one, or the first that failed
  std::optional<emu::Shrunk> shrunk = {};    // `run` is its simpler schedule
  std::vector<emu::Finding> findings = {};   // of `run`
  std::string replay_command = {};           // of `run`

  bool interrupted() const;
  // An exhaustive exploration that found nothing, and did not visit all.
  bool stopped_short() const;
  // Of the cost table of modelled time; empty when there is none.
  std::string costs_name() const;
  // The error that ended everything, in one line; empty when there was none.
  std::string error() const;
};

// "ok", "mismatch", "deadlock", "step-bound", "error", "interrupted".
std::string_view outcome_name(emu::Outcome outcome);

// 16 hexadecimal digits.
std::string hex(std::uint64_t hash);

// Names everything a schedule depends on beside its decisions; hashed into a replay token.
std::string canonical_program(const RunRequest& request);

// The command that repeats `run`: by token, or by seed when a token would be too long to copy and
// the seed gives that schedule.
std::string replay_command(const RunRequest& request, const emu::RecordedRun& run,
                           bool by_token_only);

}  // namespace tools

#endif  // SYMRACE_TOOLS_FINDINGS_H_
