// Runs what a RunRequest asks for on the direct engine, and reports it; or reports a run of another
// engine whose ranks are really parallel.
#ifndef SYMRACE_TOOLS_DIRECT_COMMAND_H_
#define SYMRACE_TOOLS_DIRECT_COMMAND_H_

#include <absl/status/statusor.h>

#include <string_view>

#include "core/direct_engine.h"
#include "tools/command_line.h"

namespace tools {

// As run_command(), which calls it.
absl::StatusOr<int> direct_command(const RunRequest& request);

// Prints what came of a run on `engine`, as that word names it; returns the exit status. An error
// is not printed.
absl::StatusOr<int> report_direct(const RunRequest& request, const symrace::DirectResult& result,
                                  std::string_view engine);

}  // namespace tools

#endif  // SYMRACE_TOOLS_DIRECT_COMMAND_H_
