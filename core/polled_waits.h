// Who waits for which cell in a run whose ranks can only poll their cells, since these are not in
// the host's memory: sees soon when nobody can go on.
#ifndef SYMRACE_CORE_POLLED_WAITS_H_
#define SYMRACE_CORE_POLLED_WAITS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/run_watch.h"

namespace symrace {

// A change is whatever may change a cell later on, or end that: a rank begins to wait, goes on, or
// finishes. When every unfinished rank waits, and each has looked in vain since the last change,
// nobody is left to change a cell.
class PolledWaits final : public RunWatch {
 public:
  explicit PolledWaits(std::int32_t ranks)
      : RunWatch(ranks, RanksAs::kThreads), seats_(static_cast<std::size_t>(ranks)) {}

  // The rank waits from here on: nothing that it has moved or signalled is on its way.
  void begin_wait(std::int32_t rank);
  void end_wait(std::int32_t rank);
  // The number of the last change, to be asked before a look.
  std::uint64_t change() const { return change_.load(std::memory_order_acquire); }
  // The rank has read its cell after change() was `since`, and it does not compare.
  void looked(std::int32_t rank, std::uint64_t since, std::int32_t actual);
  // A failed test has read that.
  void tested(std::int32_t rank, std::int32_t actual);

  std::int32_t cell(std::int32_t rank, const Cell&) const override {
    return seats_[static_cast<std::size_t>(rank)].actual;
  }

 protected:
  void on_begin() override;
  void forget(std::int32_t rank) override;
  void look_for_deadlock() override {}  // the waiting ranks' next looks do

 private:
  struct Seat {
    bool waits = false;
    std::uint64_t looked_since = 0;  // 0: not yet
    std::int32_t actual = 0;         // in the last look
  };

  Seat& seat(std::int32_t rank) { return seats_[static_cast<std::size_t>(rank)]; }

  // All under mutex(); change_ is read without it.
  std::vector<Seat> seats_;
  std::int32_t waiting_ = 0;
  std::atomic<std::uint64_t> change_{1};
};

}  // namespace symrace

#endif  // SYMRACE_CORE_POLLED_WAITS_H_
