#include "emu/transfers.h"

namespace emu {
namespace {

// From so many of a rank on, to look at each takes longer than to keep the index.
constexpr std::uint32_t kMostUnindexed = 64;

}  // namespace

bool Transfers::must_follow(const Piece& earlier, const Piece& later) {
  const auto writes = [&](std::int32_t target, const symrace::WindowRegion& region) {
    if (earlier.writes_target() && earlier.target == target &&
        symrace::overlaps(earlier.region, region)) {
      return true;
    }
    return earlier.writes_own() && earlier.rank == target &&
           symrace::overlaps(earlier.own(), region);
  };
  if (later.writes_target() && writes(later.target, later.region)) return true;
  if (later.writes_own() && writes(later.rank, later.own())) return true;
  if (later.reads_own_slice && writes(later.rank, later.own())) return true;
  const bool reads_target = !later.writes_target();
  return reads_target && later.target == later.rank && writes(later.rank, later.region);
}

bool Transfers::may_follow(const WriteIndex& index, const Piece& later) {
  if ((later.writes_target() || later.target == later.rank) &&
      index.may_overlap(later.target, later.region)) {
    return true;
  }
  return (later.writes_own() || later.reads_own_slice) &&
         index.may_overlap(later.rank, later.own());
}

void Transfers::begin(std::int32_t ranks, const Model& model) {
  model_ = model;
  holds_ = false;
  ranks_.resize(static_cast<std::size_t>(ranks));  // allocates once
  for (RankTransfers& transfers : ranks_) {
    for (std::uint32_t slot = transfers.head; slot != Piece::kNone;) {
      const std::uint32_t next = pool_[slot].next;
      pool_[slot].tile.reset();
      free_.push_back(slot);
      slot = next;
    }
    transfers.head = transfers.tail = Piece::kNone;
    transfers.releasable_head = transfers.releasable_tail = Piece::kNone;
    transfers.issued = transfers.in_flight = transfers.own_writes = transfers.own_gets =
        transfers.signals = 0;
    transfers.gated.clear();
    transfers.gate_front = 0;
    transfers.held.clear(signal_chunks_);
    transfers.lined_up = 0;
    if (transfers.is_indexed) transfers.index->clear();
    transfers.is_indexed = false;
  }
  edges_.clear();
  free_edges_.clear();
}

void Transfers::grow() {
  free_.push_back(static_cast<std::uint32_t>(pool_.size()));
  pool_.grow_to(pool_.size() + 1);
}

Piece& Transfers::prepare() {
  prepared_ = new_slot();
  return pool_[prepared_];
}

std::uint32_t Transfers::enqueue() {
  const std::uint32_t slot = prepared_;
  Piece& piece = pool_[slot];
  RankTransfers& transfers = rank_of(piece.rank);
  const bool is_signal = piece.effect == Piece::Effect::kSignal;
  piece.number = ++transfers.issued;
  ++transfers.in_flight;
  if (is_signal) ++transfers.signals;
  if (piece.writes_own() || (piece.writes_target() && piece.target == piece.rank && !is_signal)) {
    ++transfers.own_writes;
  }
  if (piece.writes_own()) ++transfers.own_gets;
  line_up(slot, transfers);
  return slot;
}

void Transfers::line_up(std::uint32_t slot, RankTransfers& transfers) {
  Piece& piece = pool_[slot];
  piece.previous = transfers.tail;
  (transfers.tail == Piece::kNone ? transfers.head : pool_[transfers.tail].next) = slot;
  transfers.tail = slot;
  const auto add = [&](std::int32_t target, const symrace::WindowRegion& region) {
    transfers.index->add(target, region);
  };
  if (++transfers.lined_up > kMostUnindexed && !transfers.is_indexed) {
    transfers.is_indexed = true;
    if (transfers.index == nullptr) transfers.index = std::make_unique<WriteIndex>();
    for_each(piece.rank, [&](const Piece& listed) { for_each_write(listed, add); });
  } else if (transfers.is_indexed) {
    for_each_write(piece, add);
  }

  if (piece.effect == Piece::Effect::kSignal && transfers.releasable_head != Piece::kNone) {
    ++piece.blockers;
    transfers.gated.push_back(slot);
  }
  piece.releasable = model_.releases_class(piece.release_class);
  if (piece.releasable) {
    piece.previous_releasable = transfers.releasable_tail;
    (transfers.releasable_tail == Piece::kNone ? transfers.releasable_head
                                               : pool_[transfers.releasable_tail].next_releasable) =
        slot;
    transfers.releasable_tail = slot;
  }
  if (piece.blockers == 0) enabled_.add_piece(piece.rank, piece.number, slot);
}

// Its slot is free again, and keeps what was prepared until the next is.
void Transfers::hold() {
  Piece& piece = pool_[prepared_];
  RankTransfers& transfers = rank_of(piece.rank);
  piece.number = ++transfers.issued;
  ++transfers.in_flight;
  ++transfers.signals;
  transfers.held.push(piece, signal_chunks_);
  free_.push_back(prepared_);
}

std::uint32_t Transfers::unhold(RankTransfers& transfers, std::int32_t rank) {
  const std::uint32_t slot = new_slot();
  pool_[slot].rank = rank;
  transfers.held.pop(pool_[slot], signal_chunks_);
  line_up(slot, transfers);
  return slot;
}

void Transfers::order_after(Piece& earlier, std::uint32_t later_slot, Piece& later) {
  std::uint32_t edge = 0;
  if (free_edges_.empty()) {
    edge = static_cast<std::uint32_t>(edges_.size());
    edges_.emplace_back();
  } else {
    edge = free_edges_.back();
    free_edges_.pop_back();
  }
  edges_[edge] = {later_slot, earlier.first_edge};
  earlier.first_edge = edge;
  ++later.blockers;
}

void Transfers::unblock(std::uint32_t slot) {
  Piece& piece = pool_[slot];
  if (--piece.blockers == 0) enabled_.add_piece(piece.rank, piece.number, slot);
}

void Transfers::open_gates(RankTransfers& transfers) {
  while (transfers.gate_front < transfers.gated.size()) {
    const std::uint32_t slot = transfers.gated[transfers.gate_front];
    const std::uint32_t oldest = transfers.releasable_head;
    if (oldest != Piece::kNone && pool_[oldest].number < pool_[slot].number) return;
    ++transfers.gate_front;
    unblock(slot);
  }
  transfers.gated.clear();
  transfers.gate_front = 0;
}

std::uint32_t Transfers::retire(std::uint32_t slot) {
  Piece& piece = pool_[slot];
  RankTransfers& transfers = ranks_[static_cast<std::size_t>(piece.rank)];
  enabled_.remove_piece(slot);
  if (piece.effect != Piece::Effect::kSignal) piece.tile.reset();

  (piece.previous == Piece::kNone ? transfers.head : pool_[piece.previous].next) = piece.next;
  (piece.next == Piece::kNone ? transfers.tail : pool_[piece.next].previous) = piece.previous;
  --transfers.in_flight;
  if (transfers.is_indexed) {
    for_each_write(piece, [&](std::int32_t target, const symrace::WindowRegion& region) {
      transfers.index->remove(target, region);
    });
  }
  if (--transfers.lined_up == 0) transfers.is_indexed = false;
  if (piece.effect == Piece::Effect::kSignal) --transfers.signals;
  if (piece.writes_own() || (piece.effect == Piece::Effect::kWrite && piece.target == piece.rank)) {
    --transfers.own_writes;
  }
  if (piece.writes_own()) --transfers.own_gets;

  for (std::uint32_t edge = piece.first_edge; edge != Piece::kNone;) {
    const Edge done = edges_[edge];
    unblock(done.to);
    free_edges_.push_back(edge);
    edge = done.next;
  }

  if (piece.releasable) {
    (piece.previous_releasable == Piece::kNone ? transfers.releasable_head
                                               : pool_[piece.previous_releasable].next_releasable) =
        piece.next_releasable;
    (piece.next_releasable == Piece::kNone ? transfers.releasable_tail
                                           : pool_[piece.next_releasable].previous_releasable) =
        piece.previous_releasable;
    if (piece.previous_releasable == Piece::kNone) open_gates(transfers);
  }
  const bool is_turn = !transfers.held.empty() && transfers.releasable_head == Piece::kNone;
  const std::uint32_t unheld = is_turn ? unhold(transfers, piece.rank) : Piece::kNone;
  free_.push_back(slot);
  return unheld;
}

bool Transfers::may_await(std::int32_t rank, const symrace::WindowRegion& region) const {
  const RankTransfers& transfers = rank_of(rank);
  return has_own_writes(rank) &&
         (!transfers.is_indexed || transfers.index->may_overlap(rank, region));
}

bool Transfers::awaits_get(std::int32_t rank, const symrace::WindowRegion& region) const {
  if (rank_of(rank).own_gets == 0 || !may_await(rank, region)) return false;
  bool found = false;
  for_each(rank, [&](const Piece& piece) {
    found = found || (piece.writes_own() && symrace::overlaps(piece.own(), region));
  });
  return found;
}

bool Transfers::awaits_own_write(std::int32_t rank, const symrace::WindowRegion& region) const {
  if (!may_await(rank, region)) return false;
  bool found = awaits_get(rank, region);
  for_each(rank, [&](const Piece& piece) {
    found = found || (piece.effect == Piece::Effect::kWrite && piece.target == rank &&
                      symrace::overlaps(piece.region, region));
  });
  return found;
}

}  // namespace emu
