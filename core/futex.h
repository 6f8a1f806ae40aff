// Sleep on a word of memory that processes share: std::atomic's own wait() is for one process.
#ifndef SYMRACE_CORE_FUTEX_H_
#define SYMRACE_CORE_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace symrace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

// Returns when woken, when the word is not `expected`, or for no reason.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}

// Wakes one sleeper, if there is one.
inline void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace symrace

#endif  // SYMRACE_CORE_FUTEX_H_
