// Reduces a failing schedule to fewest late deliveries, then fewest switches between ranks, that
// still give the same finding.
//
// Delta debugging over the late deliveries: Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input" (2002). Departure: a candidate is a wish; a decision that is not enabled
// waits until it is, so that every candidate is a schedule.
#ifndef SYMRACE_EMU_SHRINK_H_
#define SYMRACE_EMU_SHRINK_H_

#include <cstdint>

#include "emu/explore.h"

namespace emu {

// A delivery is late when a rank has taken a step since the piece was issued; a switch is a step of
// another rank than the step before it.
struct ScheduleSize {
  std::uint64_t late = 0;
  std::uint64_t switches = 0;
  friend auto operator<=>(const ScheduleSize&, const ScheduleSize&) = default;
};

struct Shrunk {
  RecordedRun run;
  ScheduleSize before;
  ScheduleSize after;
  std::uint64_t attempts = 0;  // schedules that were tried
};

// `run` failed (an output that differs, a race, a deadlock). Tries at most `most_attempts`
// schedules, fewer when they are long; the result is a function of the run alone.
Shrunk shrink(Explorer& explorer, const RecordedRun& run, std::uint64_t most_attempts = 1000);

}  // namespace emu

#endif  // SYMRACE_EMU_SHRINK_H_
