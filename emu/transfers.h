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
#include <memory>
#include <vector>

#include "core/region.h"
#include "emu/chunked_pool.h"
#include "emu/enabled_set.h"
#include "emu/held_signals.h"
#include "emu/model.h"
#include "emu/piece.h"
#include "emu/write_index.h"

namespace emu {

class Transfers {
 public:
  explicit Transfers(EnabledSet& enabled) : enabled_(enabled) {}

  void begin(std::int32_t ranks, const Model& model);
  // Whether signals that wait for earlier ones may be kept in short until it is their turn: whoever
  // follows pieces by their slot must be told when they get one.
  void hold_signals(bool may) { holds_ = may && model_.releases_class(ReleaseClass::kSignal); }

  // Begins an op of `rank`: pieces of one op never overlap, so that only earlier ops' are compared.
  void begin_op(std::int32_t rank) { first_of_op_ = rank_of(rank).issued + 1; }
  // A piece of that op to fill in; hand it to issue() before anything else is asked of this object.
  Piece& prepare();
  // Numbers the prepared piece, orders it after its predecessors, and enables it when it has none.
  // Returns its slot, or kNone when it is held. Calls `follows(slot of an earlier piece, its own
  // slot)` for each earlier piece of the rank that it must not overtake since they touch the same
  // bytes, and before that `unheld(slot)` for each held signal that becomes a piece.
  template <class Follows, class Unheld>
  std::uint32_t issue(Follows&& follows, Unheld&& unheld) {
    const Piece& piece = pool_[prepared_];
    RankTransfers& transfers = rank_of(piece.rank);
    const bool is_signal = piece.effect == Piece::Effect::kSignal;
    if (!is_signal) unhold_all(transfers, piece.rank, unheld);
    order_prepared(follows);
    if (is_signal && holds_ && piece.blockers == 0 && transfers.releasable_head != Piece::kNone) {
      hold();
      return Piece::kNone;
    }
    unhold_all(transfers, piece.rank, unheld);
    return enqueue();
  }

  // Whether `later` must not land before `earlier` of the same rank has: they touch the same bytes.
  static bool must_follow(const Piece& earlier, const Piece& later);

  Piece& piece(std::uint32_t slot) { return pool_[slot]; }
  // Removes a piece that has taken effect, and enables what waited for it. The reference from
  // piece() stays valid until the next prepare(). Returns the slot of the held signal that has
  // become a piece, or kNone.
  std::uint32_t retire(std::uint32_t slot);

  std::uint32_t in_flight(std::int32_t rank) const { return rank_of(rank).in_flight; }
  // Whether the rank has in-flight writes to its own slice (local stores, deferred gets).
  bool has_own_writes(std::int32_t rank) const { return rank_of(rank).own_writes != 0; }

  // Visits the rank's pieces in flight, oldest first; not held signals.
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
    std::uint32_t own_gets = 0;  // of those
    std::uint32_t signals = 0;   // of those in flight
    // Notifies that wait for their release, in issue order; [gate_front, size) are still held.
    std::vector<std::uint32_t> gated;
    std::size_t gate_front = 0;
    HeldSignals held;  // later than all pieces; their number is in `in_flight` and `signals`
    std::uint32_t lined_up = 0;  // in flight and not held
    // Of those lined up, once they are too many to look at each. Null: it was never needed.
    std::unique_ptr<WriteIndex> index;
    bool is_indexed = false;
  };
  struct Edge {
    std::uint32_t to;
    std::uint32_t next;
  };

  // False when no write of the rank to own `region` is in flight.
  bool may_await(std::int32_t rank, const symrace::WindowRegion& region) const;
  const RankTransfers& rank_of(std::int32_t rank) const {
    return ranks_[static_cast<std::size_t>(rank)];
  }
  RankTransfers& rank_of(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  template <class Unheld>
  void unhold_all(RankTransfers& transfers, std::int32_t rank, Unheld&& unheld) {
    while (!transfers.held.empty()) unheld(unhold(transfers, rank));
  }
  template <class Follows>
  void order_prepared(Follows&& follows) {
    Piece& piece = pool_[prepared_];
    const RankTransfers& transfers = rank_of(piece.rank);
    // Signals that release earlier signals are in one line anyway: only data can overlap them.
    const bool skip_signals =
        piece.effect == Piece::Effect::kSignal && model_.releases_class(ReleaseClass::kSignal);
    if (transfers.in_flight == (skip_signals ? transfers.signals : 0)) return;
    if (transfers.is_indexed && !may_follow(*transfers.index, piece)) return;
    for (std::uint32_t at = transfers.head; at != Piece::kNone; at = pool_[at].next) {
      Piece& earlier = pool_[at];
      if (earlier.number >= first_of_op_) break;
      if (skip_signals && earlier.effect == Piece::Effect::kSignal) continue;
      if (!must_follow(earlier, piece)) continue;
      follows(at, prepared_);
      order_after(earlier, prepared_, piece);
    }
  }
  std::uint32_t new_slot() {
    if (free_.empty()) grow();
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    Piece& piece = pool_[slot];
    piece.atomic = pld::AtomicType::None_;
    piece.value = 0;
    piece.reads_own_slice = false;
    piece.own_window = nullptr;
    piece.blockers = 0;
    piece.first_edge = Piece::kNone;
    piece.next = Piece::kNone;
    piece.next_releasable = Piece::kNone;
    return slot;
  }
  void grow();
  std::uint32_t enqueue();
  // Puts a numbered piece in its rank's line, and enables it when nothing is before it.
  void line_up(std::uint32_t slot, RankTransfers& transfers);
  void hold();
  std::uint32_t unhold(RankTransfers& transfers, std::int32_t rank);
  // Whether there may be an indexed piece that `later` must follow.
  static bool may_follow(const WriteIndex& index, const Piece& later);
  template <class Visit>
  static void for_each_write(const Piece& piece, Visit&& visit) {
    if (piece.writes_target()) visit(piece.target, piece.region);
    if (piece.writes_own()) visit(piece.rank, piece.own());
  }
  void order_after(Piece& earlier, std::uint32_t later_slot, Piece& later);
  void unblock(std::uint32_t slot);
  void open_gates(RankTransfers& transfers);

  EnabledSet& enabled_;
  Model model_;
  bool holds_ = false;
  ChunkedPool<Piece> pool_;
  SignalChunks signal_chunks_;
  std::vector<std::uint32_t> free_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> free_edges_;
  std::vector<RankTransfers> ranks_;
  std::uint32_t prepared_ = Piece::kNone;
  std::uint32_t first_of_op_ = 1;
};

}  // namespace emu

#endif  // SYMRACE_EMU_TRANSFERS_H_
