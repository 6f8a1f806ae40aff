#include "tests/acl_double/stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/rng.h"

namespace acl_double {

Stream::Stream(std::int32_t device, std::uint64_t number, std::uint64_t seed, bool held)
    : device_(device), number_(number), seed_(seed), held_(held), worker_([this] { work(); }) {}

void Stream::enqueue(std::function<void()> run, std::vector<std::shared_ptr<Backing>> uses) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(std::move(run));
  ++enqueued_;
  for (std::shared_ptr<Backing>& backing : uses) uses_.push_back({enqueued_, std::move(backing)});
  wake_.notify_one();
}

void Stream::synchronize() {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::uint64_t last = enqueued_;
  ++waiters_;
  wake_.notify_one();
  finished_.wait(lock, [&] { return done_ >= last; });
  --waiters_;
  synchronized_ = std::max(synchronized_, last);
  std::erase_if(uses_, [&](const Use& use) { return use.operation <= synchronized_; });
}

bool Stream::unsynchronized() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return synchronized_ < enqueued_;
}

bool Stream::uses(const Backing* backing) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(uses_.begin(), uses_.end(),
                     [&](const Use& use) { return use.backing.get() == backing; });
}

void Stream::hold(bool held) {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_ = held;
  wake_.notify_one();
}

void Stream::close() {
  if (closed()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    wake_.notify_one();
  }
  worker_.join();
  uses_.clear();
}

void Stream::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return closing_ || (!queue_.empty() && (waiters_ > 0 || !held_)); });
    if (queue_.empty()) return;
    std::function<void()> run = std::move(queue_.front());
    queue_.pop_front();
    const std::uint64_t operation = done_ + 1;
    lock.unlock();
    delay(operation);
    run();
    run = nullptr;
    lock.lock();
    done_ = operation;
    finished_.notify_all();
  }
}

void Stream::delay(std::uint64_t operation) const {
  constexpr std::uint64_t kLongest = 50;  // us
  const std::uint64_t stream =
      symrace::SplitMix64(static_cast<std::uint64_t>(device_) << 32 | number_).next();
  const std::uint64_t draw = symrace::SplitMix64(seed_ ^ stream ^ (operation << 1)).next();
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::microseconds(draw % (kLongest + 1));
  while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

}  // namespace acl_double
