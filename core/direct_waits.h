// Who waits for which cell in a run whose ranks share this machine's memory: blocks and wakes them,
// and sees at once when nobody can go on.
#ifndef SYMRACE_CORE_DIRECT_WAITS_H_
#define SYMRACE_CORE_DIRECT_WAITS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/heap.h"
#include "core/run_watch.h"

namespace symrace {

class DirectWaits final : public RunWatch {
 public:
  explicit DirectWaits(SymmetricHeap& heap);

  // Returns when the cell has compared true; throws when the run is over.
  void block(std::int32_t rank, const DirectWait& wait);
  // To be called when a signal has changed `cell` of `rank`, with a light_fence() since. The waiter
  // has a heavy one between its announcement and its last look at the cell: one of the two sees the
  // other.
  void signalled(std::int32_t rank, const std::int32_t* cell) {
    if (seats_[static_cast<std::size_t>(rank)].waits_for.load(std::memory_order_acquire) == cell)
        [[unlikely]] {
      wake(rank, cell);
    }
  }
  std::int32_t cell(std::int32_t rank, const Cell& cell) const override;

 protected:
  void on_begin() override { blocked_ = 0; }
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
  };

  std::int32_t* address(std::int32_t rank, const Cell& cell) const {
    return reinterpret_cast<std::int32_t*>(heap_.address(rank, cell.offset));
  }
  bool holds(std::int32_t rank, const DirectWait& wait) const;
  void wake(std::int32_t rank, const std::int32_t* cell);
  void unblock(Seat& seat);  // under mutex()

  // On a line of their own, which nobody writes.
  alignas(128) SymmetricHeap& heap_;
  std::vector<Seat> seats_;
  alignas(128) std::int32_t blocked_ = 0;  // under mutex()
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_WAITS_H_
