// One stream: a worker thread that runs its operations in order, each after a delay of up to 50 us
// that depends on the seed, the stream and the operation's number only.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_STREAM_H_
#define SYMRACE_TESTS_ACL_DOUBLE_STREAM_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/acl_double/device_memory.h"

namespace acl_double {

class Stream {
 public:
  // `number` is among the device's streams, in order of creation.
  Stream(std::int32_t device, std::uint64_t number, std::uint64_t seed, bool held);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { close(); }

  std::int32_t device() const { return device_; }
  std::uint64_t number() const { return number_; }

  void enqueue(std::function<void()> run, std::vector<std::shared_ptr<Backing>> uses);
  // Waits for all that was enqueued before the call.
  void synchronize();
  // Whether an operation was enqueued that no synchronize() has waited for, run or not.
  bool unsynchronized() const;
  // The same, for operations that use this memory.
  bool uses(const Backing* backing) const;
  // While held, it runs only for one who waits.
  void hold(bool held);
  // Runs what is left and ends the worker. A closed stream takes no operations.
  void close();
  bool closed() const { return !worker_.joinable(); }

 private:
  struct Use {
    std::uint64_t operation;
    std::shared_ptr<Backing> backing;
  };

  void work();
  void delay(std::uint64_t operation) const;

  const std::int32_t device_;
  const std::uint64_t number_;
  const std::uint64_t seed_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable finished_;
  std::deque<std::function<void()>> queue_;
  std::vector<Use> uses_;           // of operations after synchronized_
  std::uint64_t enqueued_ = 0;      // counts of operations
  std::uint64_t done_ = 0;          // done_ <= enqueued_
  std::uint64_t synchronized_ = 0;  // synchronized_ <= done_
  int waiters_ = 0;
  bool held_;
  bool closing_ = false;
  std::thread worker_;
};

}  // namespace acl_double

#endif  // SYMRACE_TESTS_ACL_DOUBLE_STREAM_H_
