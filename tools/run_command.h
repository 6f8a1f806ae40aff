// Runs what a RunRequest asks for, and reports it.
#ifndef SYMRACE_TOOLS_RUN_COMMAND_H_
#define SYMRACE_TOOLS_RUN_COMMAND_H_

#include <absl/status/statusor.h>

#include "tools/command_line.h"

namespace tools {

// Exit statuses of every command.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFinding = 1;
inline constexpr int kExitError = 2;
inline constexpr int kExitInterrupted = 130;

// An exit status; or what went wrong, in one line, which exits kExitError.
absl::StatusOr<int> run_command(RunRequest request);

}  // namespace tools

#endif  // SYMRACE_TOOLS_RUN_COMMAND_H_
