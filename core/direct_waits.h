// Who waits for which cell in a run whose ranks share this machine's memory: blocks and wakes them,
// and sees at once when nobody can go on. The ranks are threads or processes.
#ifndef SYMRACE_CORE_DIRECT_WAITS_H_
#define SYMRACE_CORE_DIRECT_WAITS_H_

#include <atomic>
#include <cstdint>

#include "core/asymmetric_fence.h"
#include "core/heap.h"
#include "core/run_watch.h"
#include "core/shared_array.h"

namespace symrace {

class DirectWaits final : public RunWatch {
 public:
  DirectWaits(SymmetricHeap& heap, RanksAs ranks_as);

  // Returns when the cell has compared true; throws when the run is over.
  void block(std::int32_t rank, const DirectWait& wait);
  // To be called when a signal has changed `cell` of `rank`. There is a fence before the look at
  // who waits, and the waiter has its pair between its announcement and its last look at the cell:
  // one of the two sees the other.
  void signalled(std::int32_t rank, const std::int32_t* cell) {
    if (is_asymmetric_) [[likely]] {
      light_fence();
    } else {
      full_fence();
    }
    if (seats_[static_cast<std::size_t>(rank)].waits_for.load(std::memory_order_acquire) == cell)
        [[unlikely]] {
      wake(rank, cell);
    }
  }
  // Of processes, for a rank whose end did not come from itself: left_in() is the wait in which it
  // slept, or `last`.
  void abandon(std::int32_t rank, const Site& last);
  std::int32_t cell(std::int32_t rank, const Cell& cell) const override;

 protected:
  void on_begin() override;
  void release_all() override;
  void forget(std::int32_t rank) override;
  void look_for_deadlock() override;

 private:
  // The first field is what notifiers look at: it changes only when the rank blocks.
  struct alignas(128) Seat {
    std::atomic<const std::int32_t*> waits_for{nullptr};
    std::atomic<std::uint32_t> woken{0};
    // Under mutex():
    bool is_blocked = false;
    DirectWait wait;
    bool is_asleep = false;  // the rank's own
  };

  std::int32_t* address(std::int32_t rank, const Cell& cell) const {
    return reinterpret_cast<std::int32_t*>(heap_.address(rank, cell.offset));
  }
  bool holds(std::int32_t rank, const DirectWait& wait) const;
  void wake(std::int32_t rank, const std::int32_t* cell);
  void sleep(Seat& seat);  // until `woken`
  void rouse(Seat& seat);
  void unblock(Seat& seat);  // under mutex()

  // On a line of their own, which nobody writes.
  alignas(128) SymmetricHeap& heap_;
  SharedArray<Seat> seats_;
  const bool is_asymmetric_;               // heavy and light fences do
  alignas(128) std::int32_t blocked_ = 0;  // under mutex()
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_WAITS_H_
