// The strategies by name.
#ifndef SYMRACE_EMU_STRATEGIES_H_
#define SYMRACE_EMU_STRATEGIES_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>

#include "emu/strategy.h"

namespace emu {

// "random", "round-robin". InvalidArgument lists the names.
absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name);

}  // namespace emu

#endif  // SYMRACE_EMU_STRATEGIES_H_
