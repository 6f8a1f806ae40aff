// The strategies by name. Each is a file of its own.
#ifndef SYMRACE_EMU_STRATEGIES_H_
#define SYMRACE_EMU_STRATEGIES_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "emu/strategy.h"

namespace emu {

// "random", "round-robin". InvalidArgument lists the names.
absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name);
// In the order that help shows.
std::vector<std::string_view> strategy_names();

std::unique_ptr<Strategy> make_random_strategy();
std::unique_ptr<Strategy> make_round_robin_strategy();

}  // namespace emu

#endif  // SYMRACE_EMU_STRATEGIES_H_
