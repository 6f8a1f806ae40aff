// `a2a3sim heap`: a look at named heaps from outside.
#ifndef SYMRACE_TOOLS_HEAP_COMMAND_H_
#define SYMRACE_TOOLS_HEAP_COMMAND_H_

#include <absl/status/status.h>

#include <ostream>

#include "tools/heap_request.h"

namespace tools {

// Does what was asked for; or tells what was wrong, in one line.
absl::Status heap_command(std::ostream& out, const HeapRequest& request);

}  // namespace tools

#endif  // SYMRACE_TOOLS_HEAP_COMMAND_H_
