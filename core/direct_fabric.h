// DirectFabric: one rank of a run whose ranks are really parallel, threads or processes.
//
// Moves are plain copies, done when the op returns. A notify is an acquire-release operation on its
// cell, and a wait or a test that holds acquires it: what a rank did before a notify is seen by the
// rank that has waited for it. Nothing else orders two ranks, so what races by the documents races
// here too, and ThreadSanitizer sees it.
#ifndef SYMRACE_CORE_DIRECT_FABRIC_H_
#define SYMRACE_CORE_DIRECT_FABRIC_H_

#include <cstddef>
#include <cstdint>

#include "core/direct_waits.h"
#include "core/fabric.h"
#include "core/heap.h"
#include "core/rank_fabric.h"

namespace symrace {

// On lines of memory of its own: a rank's neighbours write theirs all the time.
class alignas(128) DirectFabric final : public RankFabric {
 public:
  // `oversubscribed`: there are more ranks than cores, so that a rank that waits should make room.
  DirectFabric(std::int32_t rank, SymmetricHeap& heap, DirectWaits& waits, bool oversubscribed)
      : RankFabric(rank, waits), heap_(heap), waits_(waits), oversubscribed_(oversubscribed) {}

  void begin() override;

  void load(const WindowRegion& from, TileBlock& to, const Site& site) override;
  void store(const TileRef& from, const WindowRegion& to, pld::AtomicType atomic,
             const Site& site) override;
  void remote_load(std::int32_t peer, const WindowRegion& from, const TileRef& to,
                   const Site& site) override;
  void remote_store(const TileRef& from, std::int32_t peer, const WindowRegion& to,
                    pld::AtomicType atomic, const Site& site) override;
  void put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
           pld::AtomicType atomic, const Chunking& chunking, const Site& site) override;
  void get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
           const Chunking& chunking, const Site& site) override;
  void notify(std::int32_t peer, const Cell& cell, std::int32_t value, pld::NotifyOp op,
              const Site& site) override;
  void wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp, const Site& site) override;
  bool test(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp, const Site& site) override;
  void fence(const Site& site) override;
  void add_to_own_cell(const Cell& cell, std::int32_t delta, const Site& site) override;

 private:
  std::byte* address(std::int32_t rank, std::uint64_t offset) const {
    return heap_.address(rank, offset);
  }
  std::int32_t* cell_of(std::int32_t rank, const Cell& cell) const {
    return reinterpret_cast<std::int32_t*>(address(rank, cell.offset));
  }
  void write(std::int32_t target, const WindowRegion& to, const std::byte* from,
             std::int64_t from_stride, pld::AtomicType atomic);
  void wait_longer(const DirectWait& wait);

  SymmetricHeap& heap_;
  DirectWaits& waits_;
  bool oversubscribed_;
  std::uint32_t failed_tests_ = 0;  // in a row
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_FABRIC_H_
