// RankMutex: a mutex among the ranks of a run, be they threads or processes.
#ifndef SYMRACE_CORE_RANK_MUTEX_H_
#define SYMRACE_CORE_RANK_MUTEX_H_

#include <pthread.h>

#include <chrono>

#include "core/ranks_as.h"

namespace symrace {

// Lockable as std::mutex is. Among processes it lies in memory that they share, and one that dies
// with it gives it up: what it guards may then be half changed.
class RankMutex {
 public:
  explicit RankMutex(RanksAs ranks_as);
  RankMutex(const RankMutex&) = delete;
  RankMutex& operator=(const RankMutex&) = delete;
  ~RankMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() { taken(pthread_mutex_lock(&mutex_)); }
  // Whether it was had in that time; a process that is stopped may keep it.
  bool try_lock_for(std::chrono::milliseconds time);
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  // Of what a lock returned: whether the mutex is had.
  bool taken(int result);

  pthread_mutex_t mutex_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RANK_MUTEX_H_
