// In-flight transfers: every write (and, under `weak`, every read) that can be late is cut in
// pieces, and each piece lands by a transition of its own.
//
// Order among the pieces of one rank, the only order there is:
//   - same bytes: writes of one rank to the same bytes of one target land in issue order, and a
//   late
//     read of own slice comes after the rank's own earlier writes to it;
//   - release: a notify lands no earlier than what the model says it releases.
#ifndef SYMRACE_EMU_TRANSFERS_H_
#define SYMRACE_EMU_TRANSFERS_H_

#include <cstdint>
#include <source_location>
#include <vector>

#include "core/fabric.h"
#include "core/region.h"
#include "core/tile_pool.h"
#include "emu/chunked_pool.h"
#include "emu/enabled_set.h"
#include "emu/model.h"

namespace emu {

// Laid out so that a signal touches little more than the first two cache lines, and small: a
// barrier of a thousand ranks has a million in flight.
struct Piece {
  enum class Effect : std::uint8_t {
    kWrite,        // `memory` (or, when late, own()) → `region` of target
    kSignal,       // `value` → the cell at `region.offset` of target
    kReadTile,     // `region` of target → `memory`, in `tile`
    kReadWindow,   // `region` of target → own() of rank
    kReadPrivate,  // `region` of target → `memory`
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Effect effect = Effect::kWrite;
  ReleaseClass release_class = ReleaseClass::kLocalStore;
  symrace::OpKind op = symrace::OpKind::kStore;
  pld::AtomicType atomic = pld::AtomicType::None_;
  pld::NotifyOp notify_op = pld::NotifyOp::AtomicAdd;
  bool reads_own_slice = false;  // kWrite: the source is own(), read on landing
  bool releasable = false;       // kept by Transfers, as the next seven
  std::uint32_t number = 0;      // issue order within its rank, from 1
  std::uint32_t blockers = 0;
  std::uint32_t first_edge = kNone;
  std::uint32_t next = kNone, previous = kNone;                        // in flight of its rank
  std::uint32_t next_releasable = kNone, previous_releasable = kNone;  // those a notify waits for
  std::int32_t rank = 0;                                               // who issued it
  std::int32_t target = 0;
  std::int32_t value = 0;
  symrace::WindowRegion region;  // in target's slice
  std::source_location where;
  symrace::TileRef tile;                        // keeps `memory` alive
  const symrace::Window* own_window = nullptr;  // not null: own() is the other end, else `memory`
  union {
    std::byte* memory = nullptr;
    std::uint64_t own_offset;
  };
  std::int64_t memory_stride = 0;  // of either

  // The region in rank's own slice at the other end; it has the shape of `region`.
  symrace::WindowRegion own() const {
    return {own_window,
            own_offset,
            {region.extent.rows, region.extent.row_bytes, memory_stride},
            region.dtype};
  }
  void set_own(const symrace::WindowRegion& own) {
    own_window = own.window;
    own_offset = own.offset;
    memory_stride = own.extent.stride;
  }

  // Whether landing changes the target's slice, or own slice of the rank.
  bool writes_target() const { return effect == Effect::kWrite || effect == Effect::kSignal; }
  bool writes_own() const { return effect == Effect::kReadWindow; }
  // `op`, or what a collective did.
  symrace::OpKind primitive() const;
  bool is_set() const { return effect == Effect::kSignal && notify_op == pld::NotifyOp::Set; }
};

class Transfers {
 public:
  explicit Transfers(EnabledSet& enabled) : enabled_(enabled) {}

  void begin(std::int32_t ranks, const Model& model);

  // Begins an op of `rank`: pieces of one op never overlap, so that only earlier ops' are compared.
  void begin_op(std::int32_t rank) { first_of_op_ = rank_of(rank).issued + 1; }
  // A piece of that op to fill in; hand it to issue() before anything else is asked of this object.
  Piece& prepare();
  // Numbers the prepared piece, orders it after its predecessors, and enables it when it has none.
  // Returns its slot. Calls `follows(slot of an earlier piece, its own slot)` for each earlier
  // piece of the rank that it must not overtake since they touch the same bytes.
  template <class Follows>
  std::uint32_t issue(Follows&& follows) {
    order_prepared(follows);
    return enqueue();
  }

  // Whether `later` must not land before `earlier` of the same rank has: they touch the same bytes.
  static bool must_follow(const Piece& earlier, const Piece& later);

  Piece& piece(std::uint32_t slot) { return pool_[slot]; }
  // Removes a piece that has taken effect, and enables what waited for it. The reference from
  // piece() stays valid until the next prepare().
  void retire(std::uint32_t slot);

  std::uint32_t in_flight(std::int32_t rank) const { return rank_of(rank).in_flight; }
  // Whether the rank has in-flight writes to its own slice (local stores, deferred gets).
  bool has_own_writes(std::int32_t rank) const { return rank_of(rank).own_writes != 0; }

  // Visits the rank's pieces in flight, oldest first.
  template <class Visit>
  void for_each(std::int32_t rank, Visit&& visit) const {
    for (std::uint32_t slot = rank_of(rank).head; slot != Piece::kNone; slot = pool_[slot].next) {
      visit(pool_[slot]);
    }
  }

  // True when a deferred get of `rank` into own `region` is in flight: a read must wait for it.
  bool awaits_get(std::int32_t rank, const symrace::WindowRegion& region) const;
  // True when any write of `rank` to own `region` is in flight.
  bool awaits_own_write(std::int32_t rank, const symrace::WindowRegion& region) const;

 private:
  struct RankTransfers {
    std::uint32_t head = Piece::kNone, tail = Piece::kNone;
    std::uint32_t releasable_head = Piece::kNone, releasable_tail = Piece::kNone;
    std::uint32_t issued = 0;
    std::uint32_t in_flight = 0;
    std::uint32_t own_writes = 0;
    std::uint32_t signals = 0;  // of those in flight
    // Notifies that wait for their release, in issue order; [gate_front, size) are still held.
    std::vector<std::uint32_t> gated;
    std::size_t gate_front = 0;
  };
  struct Edge {
    std::uint32_t to;
    std::uint32_t next;
  };

  const RankTransfers& rank_of(std::int32_t rank) const {
    return ranks_[static_cast<std::size_t>(rank)];
  }
  template <class Follows>
  void order_prepared(Follows&& follows) {
    Piece& piece = pool_[prepared_];
    const RankTransfers& transfers = rank_of(piece.rank);
    // Signals that release earlier signals are in one line anyway: only data can overlap them.
    const bool skip_signals =
        piece.effect == Piece::Effect::kSignal && model_.releases_class(ReleaseClass::kSignal);
    if (transfers.in_flight == (skip_signals ? transfers.signals : 0)) return;
    for (std::uint32_t at = transfers.head; at != Piece::kNone; at = pool_[at].next) {
      Piece& earlier = pool_[at];
      if (earlier.number >= first_of_op_) break;
      if (skip_signals && earlier.effect == Piece::Effect::kSignal) continue;
      if (!must_follow(earlier, piece)) continue;
      follows(at, prepared_);
      order_after(earlier, prepared_, piece);
    }
  }
  std::uint32_t enqueue();
  void order_after(Piece& earlier, std::uint32_t later_slot, Piece& later);
  void unblock(std::uint32_t slot);
  void open_gates(RankTransfers& transfers);

  EnabledSet& enabled_;
  Model model_;
  ChunkedPool<Piece> pool_;
  std::vector<std::uint32_t> free_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> free_edges_;
  std::vector<RankTransfers> ranks_;
  std::uint32_t prepared_ = Piece::kNone;
  std::uint32_t first_of_op_ = 1;
};

}  // namespace emu

#endif  // SYMRACE_EMU_TRANSFERS_H_
