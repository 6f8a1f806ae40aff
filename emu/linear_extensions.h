// How many schedules one execution stands for: the linear extensions of its happens-before.
#ifndef SYMRACE_EMU_LINEAR_EXTENSIONS_H_
#define SYMRACE_EMU_LINEAR_EXTENSIONS_H_

#include <absl/numeric/int128.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emu {

// A count that may be too large to know; then `known` is false and `count` a lower bound.
struct ScheduleCount {
  absl::uint128 count = 0;
  bool known = true;
  ScheduleCount& operator+=(const ScheduleCount& other);
  // "17160", "more than 3.1e12".
  std::string text() const;
};

// `before[i]`: bit j set when event j comes before event i. Gives up (count 1, not known) above 64
// events, or when more than `most_states` sets of events that can be a schedule's beginning exist.
ScheduleCount linear_extensions(const std::vector<std::uint64_t>& before,
                                std::size_t most_states = 20000);

}  // namespace emu

#endif  // SYMRACE_EMU_LINEAR_EXTENSIONS_H_
