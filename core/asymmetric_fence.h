// A full fence between two threads of a process of which one passes often and the other seldom: the
// frequent one pays almost nothing, the rare one a system call (membarrier(2), private expedited).
//
// A store and a later load of the one, with light_fence() between them, and a store and a later
// load of the other, with heavy_fence() between them: one of the two loads sees the other's store.
// Two light fences promise nothing. Without kHasHeavyFence, and between two processes, only a full
// fence on either side does that.
#ifndef SYMRACE_CORE_ASYMMETRIC_FENCE_H_
#define SYMRACE_CORE_ASYMMETRIC_FENCE_H_

#include <atomic>

namespace symrace {

// Of this thread, for all: a sequentially consistent fence.
inline void full_fence() {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"  // it need not know fences: cells order what it looks at
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

// Whether this process is registered with membarrier. Known before main() begins.
extern const bool kHasHeavyFence;

// The compiler only.
inline void light_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

void heavy_fence();

}  // namespace symrace

#endif  // SYMRACE_CORE_ASYMMETRIC_FENCE_H_
