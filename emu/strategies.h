// The strategies by name. Each is a file of its own.
#ifndef SYMRACE_EMU_STRATEGIES_H_
#define SYMRACE_EMU_STRATEGIES_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "emu/strategy.h"

namespace emu {

// "random", "round-robin", "pct:D" with a depth D from 1 on, "uniform". InvalidArgument lists them.
absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name);
// In the order that help shows.
std::vector<std::string_view> strategy_names();

std::unique_ptr<Strategy> make_random_strategy();
std::unique_ptr<Strategy> make_round_robin_strategy();
std::unique_ptr<Strategy> make_uniform_strategy();
std::unique_ptr<Strategy> make_pct_strategy(std::uint32_t depth);

}  // namespace emu

#endif  // SYMRACE_EMU_STRATEGIES_H_
