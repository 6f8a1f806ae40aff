// `a2a3sim devices`: the a2a3 cards of this machine, as the ACL runtime tells.
#ifndef SYMRACE_TOOLS_DEVICES_COMMAND_H_
#define SYMRACE_TOOLS_DEVICES_COMMAND_H_

#include <absl/status/statusor.h>

#include <string>

namespace tools {

// Fails where the runtime is missing, or a call of it fails.
absl::StatusOr<std::string> devices_text();

}  // namespace tools

#endif  // SYMRACE_TOOLS_DEVICES_COMMAND_H_
