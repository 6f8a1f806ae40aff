// WatchedFabric: leaves in shared memory which op its rank began last, so that another process can
// tell once the rank's own has died. Another fabric does the op.
#ifndef SYMRACE_CORE_WATCHED_FABRIC_H_
#define SYMRACE_CORE_WATCHED_FABRIC_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/fabric.h"

namespace symrace {

// Written by one process, read by another when that one is gone, at whichever instruction.
class LastOp {
 public:
  void clear() { count_.store(0, std::memory_order_relaxed); }
  void set(const Site& site) {
    const std::uint64_t count = count_.load(std::memory_order_relaxed) + 1;
    sites_[count % 2] = site;
    count_.store(count, std::memory_order_release);
  }
  std::optional<Site> get() const {
    const std::uint64_t count = count_.load(std::memory_order_acquire);
    return count == 0 ? std::nullopt : std::optional(sites_[count % 2]);
  }

 private:
  std::atomic<std::uint64_t> count_{0};
  Site sites_[2];  // by turns, so that one is whole
};

class WatchedFabric final : public Fabric {
 public:
  WatchedFabric(Fabric& fabric, LastOp& last_op) : fabric_(fabric), last_op_(last_op) {}

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
  void use(TileBlock& tile, const Site& site) override;
  void use_private_memory(const Site& site) override;

 private:
  Fabric& fabric_;
  LastOp& last_op_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_WATCHED_FABRIC_H_
