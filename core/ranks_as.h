// What the ranks of a really parallel run are.
#ifndef SYMRACE_CORE_RANKS_AS_H_
#define SYMRACE_CORE_RANKS_AS_H_

#include <cstdint>

namespace symrace {

enum class RanksAs : std::uint8_t {
  kThreads,    // of one process
  kProcesses,  // forked, one a rank: each can die alone
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RANKS_AS_H_
