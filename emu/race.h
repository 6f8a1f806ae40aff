// A data race: two accesses to the same bytes that conflict and that nothing orders.
#ifndef SYMRACE_EMU_RACE_H_
#define SYMRACE_EMU_RACE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "emu/access.h"

namespace emu {

enum class RaceKind : std::uint8_t {
  kReadWrite,
  kWriteWrite,
  kAtomicPlain,        // an atomic add beside a plain read or write
  kAtomicMix,          // atomics of different dtype or op
  kSetAdd,             // Set beside AtomicAdd on one signal cell
  kCellAccess,         // data moved to or from a signal cell that is signalled or waited on
  kSourceOverwritten,  // the source of a put that is still to be read
  kSharedOperands,     // source and destination of one exchange lie in one window
};

// "read/write", "write/write", ...: what `--json` and the report call it.
std::string_view race_name(RaceKind kind);

RaceKind race_kind(const Access& a, const Access& b);

// What would order the two, if anything would.
enum class MissingOrder : std::uint8_t {
  kSignal,        // nothing: no signal from the one reaches the other
  kWriteRelease,  // the notify behind the write, which the model does not let release it
  kReadRelease,   // the same of a deferred read
};

// One pair of source lines. `first` took effect before `second` in the schedule that showed it.
struct Race {
  RaceKind kind = RaceKind::kReadWrite;
  Access first;
  Access second;
  MissingOrder missing = MissingOrder::kSignal;  // known of a recorded run
  std::uint64_t count = 1;  // pairs of accesses at these lines; summed over schedules
};

bool same_line(const std::source_location& a, const std::source_location& b);
// Whether both are of the same kind, ops and lines, in either order.
bool same_lines(const Race& a, const Race& b);

// Adds up the counts of races at the same lines; keeps the order in which lines were found.
void merge(std::vector<Race>& into, const Race& race);
void merge(std::vector<Race>& into, const std::vector<Race>& from);

}  // namespace emu

#endif  // SYMRACE_EMU_RACE_H_
