// AclFabric: one rank of a run on a2a3 cards.
//
// A move is queued on the rank's stream, which runs in program order: a notify comes behind all
// that its rank moved before, and what the rank reads of its own slice has its earlier writes. A
// move whose result the rank uses (load, remote_load, get, wait, test) has ended when it returns;
// the others may land later. A wait reads its cell by the rank's own stream, so that a rank that
// waits has nothing on its way, which makes a deadlock certain when all ranks wait.
#ifndef SYMRACE_CORE_ACL_FABRIC_H_
#define SYMRACE_CORE_ACL_FABRIC_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/acl_device.h"
#include "core/acl_heap.h"
#include "core/polled_waits.h"
#include "core/rank_fabric.h"

namespace symrace {

// A call of the runtime that fails throws KernelError, as misuse does. All on the rank's thread.
class AclFabric final : public RankFabric {
 public:
  AclFabric(std::int32_t rank, std::int32_t device, AclRuntime& acl, AclHeap& heap,
            PolledWaits& waits)
      : RankFabric(rank, waits), device_(acl, device), heap_(heap), waits_(waits) {}

  AclDevice& device() { return device_; }

  void end() override;

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
  // Device memory: for the runtime only.
  std::byte* address(std::int32_t rank, std::uint64_t offset) const {
    return heap_.address(rank, offset);
  }
  void begin_op(const Site& site) {
    site_ = &site;
    check(site);
  }
  void require(const absl::Status& status) {
    if (!status.ok()) [[unlikely]]
      fail(status);
  }
  [[noreturn]] void fail(const absl::Status& status);

  // From bytes of the host, which may change at once.
  void write(std::int32_t target, const WindowRegion& to, const std::byte* from,
             std::int64_t from_stride, pld::AtomicType atomic);
  void add(std::byte* to, const std::byte* from, std::size_t bytes, pl::DType dtype);
  // From a slice to another.
  void move(std::int32_t target, const WindowRegion& to, std::int32_t source,
            const WindowRegion& from, pld::AtomicType atomic);
  // To bytes of the host, which are there on return.
  void read(std::int32_t source, const WindowRegion& from, std::byte* to, std::int64_t to_stride);
  std::int32_t read_cell(const Cell& cell);
  void wait_longer(const DirectWait& wait);

  AclDevice device_;
  AclHeap& heap_;
  PolledWaits& waits_;
  const Site* site_ = nullptr;   // of the op that runs
  std::int32_t cell_value_ = 0;  // where read_cell() has its cell copied to
};

}  // namespace symrace

#endif  // SYMRACE_CORE_ACL_FABRIC_H_
