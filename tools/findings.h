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
#include "tools/command_line.h"

namespace tools {

struct Findings {
  const RunRequest& request;
  std::optional<emu::Exploration> exploration = {};  // with --seeds, or exhaustive
  std::optional<emu::DeterminismCheck> determinism = {};
  // The only run, or the first that failed, shrunk; then it has `shrunk_from` decisions less.
  std::optional<emu::RecordedRun> run = {};
  std::optional<std::uint64_t> shrunk_from = {};
  std::vector<emu::Finding> findings = {};  // of `run`
  std::string replay_command = {};          // of `run`

  bool interrupted() const;
  // The error that ended everything, in one line; empty when there was none.
  std::string error() const;
};

// "ok", "mismatch", "deadlock", "step-bound", "error", "interrupted".
std::string_view outcome_name(emu::Outcome outcome);

// 16 hexadecimal digits.
std::string hex(std::uint64_t hash);

// Names everything a schedule depends on beside its decisions; hashed into a replay token.
std::string canonical_program(const RunRequest& request);

// The command that repeats `run`: by token, or by seed when a token would be too long to copy.
std::string replay_command(const RunRequest& request, const emu::RecordedRun& run);

}  // namespace tools

#endif  // SYMRACE_TOOLS_FINDINGS_H_
