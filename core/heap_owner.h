// Which process owns a named heap, and whether it still lives.
#ifndef SYMRACE_CORE_HEAP_OWNER_H_
#define SYMRACE_CORE_HEAP_OWNER_H_

#include <cstdint>

namespace symrace {

// A process id alone may have gone to another process since.
struct HeapOwner {
  std::int64_t process = 0;
  std::uint64_t start = 0;  // in clock ticks since the machine's start; 0: not known
};

HeapOwner this_process();
// Whether that process is there and has not ended, as /proc tells.
bool is_alive(const HeapOwner& owner);

}  // namespace symrace

#endif  // SYMRACE_CORE_HEAP_OWNER_H_
