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

// `before[i]`: bit j set when event j comes before event i. Takes what it costs, one for each set
// of events that a schedule can begin with, from `budget`; gives up (count 1, not known) when that
// is used up, and above 64 events.
ScheduleCount linear_extensions(const std::vector<std::uint64_t>& before, std::size_t& budget);

}  // namespace emu

#endif  // SYMRACE_EMU_LINEAR_EXTENSIONS_H_
