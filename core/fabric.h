// Fabric: what an RMA primitive asks of whichever engine runs it. One fabric serves one rank.
//
// Ordering guarantees are the engine's (docs/memory-model.md); this interface only names the moves.
// Arguments are already checked: peers and regions are in range, dtypes and shapes match.
#ifndef SYMRACE_CORE_FABRIC_H_
#define SYMRACE_CORE_FABRIC_H_

#include <cstdint>
#include <source_location>
#include <string_view>

#include "core/region.h"
#include "core/tile_pool.h"

namespace pld {

enum class AtomicType : std::uint8_t { None_, Add };
enum class NotifyOp : std::uint8_t { AtomicAdd, Set };
enum class WaitCmp : std::uint8_t { Eq, Ne, Ge, Gt, Le, Lt };

constexpr bool compare(WaitCmp cmp, std::int32_t actual, std::int32_t expected) {
  switch (cmp) {
    case WaitCmp::Eq:
      return actual == expected;
    case WaitCmp::Ne:
      return actual != expected;
    case WaitCmp::Ge:
      return actual >= expected;
    case WaitCmp::Gt:
      return actual > expected;
    case WaitCmp::Le:
      return actual <= expected;
    case WaitCmp::Lt:
      return actual < expected;
  }
  return false;
}

}  // namespace pld

namespace symrace {

// The values are part of the trace hash: append, never renumber.
enum class OpKind : std::uint8_t {
  kLoad,
  kStore,
  kRead,
  kWrite,
  kRemoteLoad,
  kRemoteStore,
  kPut,
  kGet,
  kNotify,
  kWait,
  kTest,
  kFence,
  kBarrier,
  kUse,
  kAllreduce,
  kBroadcast,
  kAllgather,
  kReduceScatter,
  kAllToAll,
  kAllToAllV,
};
std::string_view op_name(OpKind op);
// Made of other ops, by the library.
constexpr bool is_collective(OpKind op) {
  return op == OpKind::kBarrier || (op >= OpKind::kAllreduce && op <= OpKind::kAllToAllV);
}

// Where the user's program asked for it.
struct Site {
  OpKind op = OpKind::kLoad;
  std::source_location where;
};

// A signal cell: INT32, 4-byte aligned, at `offset` in the slice of the rank that the op names.
struct Cell {
  const Window* window = nullptr;
  std::uint64_t offset = 0;
};

// The other end of a put or get: own slice, or private memory.
struct LocalRegion {
  const WindowRegion* window = nullptr;  // null: `memory` is meant
  PrivateRegion memory;
  TileRef keep_alive;  // of `memory`, where a tensor-level value owns it
  const Extent& extent() const { return window != nullptr ? window->extent : memory.extent; }
};

// Chunk sizes in elements; 0 means unchunked in that direction.
struct Chunking {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool pipeline = false;
  bool chunked() const { return rows != 0 || cols != 0; }
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  // Own slice → tile, packed.
  virtual void load(const WindowRegion& from, TileBlock& to, const Site& site) = 0;
  // Packed tile bytes → own slice.
  virtual void store(const TileRef& from, const WindowRegion& to, pld::AtomicType atomic,
                     const Site& site) = 0;
  virtual void remote_load(std::int32_t peer, const WindowRegion& from, const TileRef& to,
                           const Site& site) = 0;
  virtual void remote_store(const TileRef& from, std::int32_t peer, const WindowRegion& to,
                            pld::AtomicType atomic, const Site& site) = 0;
  virtual void put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
                   pld::AtomicType atomic, const Chunking& chunking, const Site& site) = 0;
  virtual void get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                   const Chunking& chunking, const Site& site) = 0;

  virtual void notify(std::int32_t peer, const Cell& cell, std::int32_t value, pld::NotifyOp op,
                      const Site& site) = 0;
  // Returns when own cell compares true.
  virtual void wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                    const Site& site) = 0;
  virtual bool test(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                    const Site& site) = 0;
  // Returns when all transfers of this rank have landed at their targets.
  virtual void fence(const Site& site) = 0;
  // Atomically adds `delta` to own cell, at once. For self-clearing signals.
  virtual void add_to_own_cell(const Cell& cell, std::int32_t delta, const Site& site) = 0;

  // Returns when a deferred remote_load into `tile` has arrived. Called on first use only.
  virtual void use(TileBlock& tile, const Site& site) = 0;
  // Returns when every deferred get into private memory has arrived (RankContext::deferred_gets).
  virtual void use_private_memory(const Site& site) = 0;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_FABRIC_H_
