// What an engine tells of a run that ended with ranks unfinished: what each waits for, and which
// signals were sent.
#ifndef SYMRACE_CORE_STUCK_RANK_H_
#define SYMRACE_CORE_STUCK_RANK_H_

#include <cstdint>
#include <source_location>
#include <string>

#include "core/fabric.h"

namespace symrace {

// A rank that had not finished when a run ended stuck.
struct StuckRank {
  std::int32_t rank = 0;
  OpKind op = OpKind::kWait;
  std::source_location where;
  // Of a wait (or of the last failed test, at a bound):
  bool on_cell = false;
  std::string window;
  std::int64_t cell = 0;  // index of the INT32 cell in its window
  std::int32_t expected = 0;
  std::int32_t actual = 0;
  pld::WaitCmp cmp = pld::WaitCmp::Eq;
  bool count_lost = false;  // a Set landed on the cell, over a count that AtomicAdd had made
};

// A signal that a rank has sent, `count` times.
struct SentSignal {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::string window;
  std::int64_t cell = 0;
  std::source_location where;
  std::uint64_t count = 1;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_STUCK_RANK_H_
