// Runs what a RunRequest asks for on a2a3 cards, and reports it.
#ifndef SYMRACE_TOOLS_HARDWARE_COMMAND_H_
#define SYMRACE_TOOLS_HARDWARE_COMMAND_H_

#include <absl/status/statusor.h>

#include "tools/command_line.h"

namespace tools {

// As run_command(), which calls it.
absl::StatusOr<int> hardware_command(const RunRequest& request);

}  // namespace tools

#endif  // SYMRACE_TOOLS_HARDWARE_COMMAND_H_
