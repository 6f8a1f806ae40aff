// Whether a program is a function of its arguments and the schedule: without that, no seed, token
// or verdict means anything. A kernel that looks at a clock, at addresses or at state that survives
// a schedule is not.
//
// Each schedule is run twice and must give one trace, as the "unseed" check of Zhou et al.,
// "FoundationDB: a distributed unbundled transactional key value store" (SIGMOD 2021). Departure:
// the whole event log is compared, so that the first event that differs can be named.
#ifndef SYMRACE_EMU_DETERMINISM_H_
#define SYMRACE_EMU_DETERMINISM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "emu/explore.h"

namespace emu {

struct Divergence {
  std::uint64_t seed = 0;
  std::string text;  // one line: which event differs, and how
};

struct DeterminismCheck {
  std::uint64_t schedules = 0;
  bool interrupted = false;
  std::optional<Divergence> divergence;  // of the lowest seed that has one; it ends the check
};

DeterminismCheck check_determinism(Explorer& explorer, Strategy& strategy, const Seeds& seeds);

}  // namespace emu

#endif  // SYMRACE_EMU_DETERMINISM_H_
