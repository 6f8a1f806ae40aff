#include "core/rank_mutex.h"

#include <cerrno>
#include <ctime>

namespace symrace {

RankMutex::RankMutex(RanksAs ranks_as) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (ranks_as == RanksAs::kProcesses) {
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  }
  pthread_mutex_init(&mutex_, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

bool RankMutex::try_lock_for(std::chrono::milliseconds time) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  const std::int64_t nanoseconds = until.tv_nsec + time.count() % 1000 * 1'000'000;
  until.tv_sec += time.count() / 1000 + nanoseconds / 1'000'000'000;
  until.tv_nsec = nanoseconds % 1'000'000'000;
  return taken(pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &until));
}

bool RankMutex::taken(int result) {
  if (result == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  return result == 0 || result == EOWNERDEAD;
}

}  // namespace symrace
