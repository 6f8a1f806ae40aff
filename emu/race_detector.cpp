#include "emu/race_detector.h"

#include <algorithm>
#include <tuple>

namespace emu {
namespace {

// Of an interval, beyond which what a later access covers is forgotten.
constexpr std::size_t kMostEntries = 16;

// Whether whatever conflicts with an access of kind `old` conflicts with one of kind `now` too.
bool covers(const AccessSite& now, const AccessSite& old) {
  if (now.kind == AccessKind::kWrite) return true;
  if (now.kind != old.kind) return false;
  return now.kind != AccessKind::kAdd || now.dtype == old.dtype;
}

bool is_same_access(const ShadowEntry& a, const ShadowEntry& b) {
  return a.instant == b.instant && a.site == b.site && a.number == b.number;
}

bool comes_first(const Instant& a, const Instant& b) {
  return std::tie(a.rank, a.component, a.time) < std::tie(b.rank, b.component, b.time);
}

}  // namespace

void RaceDetector::begin(std::int32_t ranks, const Model& model, std::uint64_t bytes) {
  model_ = model;
  constexpr std::uint8_t kWrites =
      Model::bit(ReleaseClass::kLocalStore) | Model::bit(ReleaseClass::kRemoteStore) |
      Model::bit(ReleaseClass::kPut) | Model::bit(ReleaseClass::kPutTail) |
      Model::bit(ReleaseClass::kSignal);
  // That a piece follows another is news where that one was not released anyway, or reads.
  wants_follows_ = (model.releases & kWrites) != kWrites || model.reads_are_deferred ||
                   model.put_reads_source_late;
  clocks_.begin(ranks);
  shadow_.begin(ranks, bytes);
  ranks_.resize(static_cast<std::size_t>(ranks));
  for (Rank& rank : ranks_) {
    rank.clock.begin(ranks, clocks_.blocks());
    rank.snapshot = ClockTable::kNone;
    rank.sent = true;  // times begin at 1
    rank.issued = {};
    rank.carried.clear();
    rank.private_reads.clear();
    rank.own_writes.clear();
    rank.landed.clear();
    rank.reads.clear();
    rank.held.clear();
    rank.held_front = 0;
  }
  for (std::size_t i = 0; i < carried_.size(); ++i) carried_[i].clear();
  sites_.begin();
  steps_ = 0;
  races_.clear();
}

std::uint32_t RaceDetector::snapshot_of(Rank& rank) {
  if (rank.snapshot == ClockTable::kNone) {
    rank.snapshot = clocks_.snapshot(rank.clock);
    rank.sent = true;
  }
  clocks_.hold(rank.snapshot);
  return rank.snapshot;
}

void RaceDetector::access(const Access& access, std::uint32_t slot) {
  if (access.region.extent.empty()) return;
  ShadowEntry entry{.instant = {},
                    .site = sites_.number_of(access),
                    .number = 0,
                    .event = access.event,
                    .value = access.value,
                    .offset_low = static_cast<std::uint32_t>(access.region.offset)};
  Known known;
  if (access.lands()) {
    entry.instant = flights_[slot].instant;
    entry.number = access.piece;
    known = {clocks_.view(flights_[slot].snapshot), carried_of(slot)};
  } else {
    Rank& rank = rank_of(access.rank);
    if (rank.sent) changes(rank, access.rank);
    entry.instant = {access.rank, Component::kProgram,
                     rank.clock.time(access.rank, Component::kProgram)};
    entry.number = ++steps_;
    known = {rank.clock.view(), {}};
  }
  reported_.clear();
  shadow_.for_each(access.target, access.region,
                   [&](ShadowState& state) { visit(state, access, entry, known); });
}

bool RaceDetector::Known::covers(const Instant& instant) const {
  if (clock.covers(instant)) return true;
  return !carried.empty() && std::find(carried.begin(), carried.end(), instant) != carried.end();
}

void RaceDetector::visit(ShadowState& state, const Access& access, const ShadowEntry& now,
                         const Known& known) {
  ShadowEntry* const entries = state.entries.data();
  const std::uint32_t count = state.entries.size();
  const AccessSite& site = sites_[now.site];
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ShadowEntry& entry = entries[i];
    const AccessSite& earlier = sites_[entry.site];
    bool before = known.covers(entry.instant);
    if (!before && entry.instant.rank == access.rank &&
        ordered_by_rank(expanded(entry, access.target), access)) {
      // What comes after a landing comes after the rank's earlier landing on its bytes, but need
      // not come after a step that only saw its own write.
      before = entry.instant.component != Component::kProgram && access.lands();
    } else if (!before && conflict(earlier.kind, earlier.dtype, access.kind, access.region.dtype)) {
      report(entry, access);
    }
    // Whatever races with it from now on races with this one too. Where that is another line, both
    // are worth a report, while they are few.
    if (before && covers(site, earlier) &&
        (count > kMostEntries || entry.site == now.site ||
         same_line(earlier.where, access.where))) {
      continue;
    }
    if (kept != i) entries[kept] = entry;
    ++kept;
  }
  state.entries.truncate(kept);
  state.entries.push_back(now);
}

Access RaceDetector::expanded(const ShadowEntry& entry, std::int32_t target) const {
  const AccessSite& site = sites_[entry.site];
  Access access;
  access.kind = site.kind;
  access.op = site.op;
  access.rank = entry.instant.rank;
  access.target = target;
  access.piece = entry.instant.component == Component::kProgram ? 0 : entry.number;
  access.region = {site.window, std::uint64_t{site.offset_high} << 32 | entry.offset_low,
                   site.extent, site.dtype};
  access.where = site.where;
  access.in_own_view = site.in_own_view;
  access.reads_source_late = site.reads_source_late;
  access.event = entry.event;
  access.value = entry.value;
  access.cmp = site.cmp;
  return access;
}

void RaceDetector::report(const ShadowEntry& first, const Access& second) {
  const auto is_first = [&](const ShadowEntry& entry) { return is_same_access(entry, first); };
  if (std::any_of(reported_.begin(), reported_.end(), is_first)) return;
  reported_.push_back(first);
  const Access earlier = expanded(first, second.target);
  merge(races_, Race{.kind = race_kind(earlier, second), .first = earlier, .second = second});
}

void RaceDetector::waited(std::int32_t rank, std::uint64_t cell) {
  CellClock& seen = shadow_.cell(rank, cell).cell;
  if (seen.snapshot == ClockTable::kNone) return;
  Rank& self = rank_of(rank);
  changes(self, rank);
  join(self.clock, seen);
  // Only its owner ever asks for a cell's clock, and knows what it tells from now on.
  clocks_.drop(seen.snapshot);
  seen = {};
}

void RaceDetector::join(RankClock& clock, const CellClock& cell) const {
  const ClockView sent = clocks_.view(cell.snapshot);
  // One look at the sender's own time tells whether all that it knew is known.
  const bool is_known = cell.rank >= 0 && clock.time(cell.rank, Component::kProgram) >=
                                              sent.time(cell.rank, Component::kProgram);
  if (!is_known) clock.join(sent);
  if (cell.rank < 0) return;
  clock.raise(cell.rank, Component::kReleased, cell.released);
  if (cell.unreleased_signal != 0) {
    clock.add({cell.rank, Component::kUnreleased, cell.unreleased_signal});
  }
}

void RaceDetector::fenced(std::int32_t rank) {
  Rank& self = rank_of(rank);
  changes(self, rank);
  for (const Component c : {Component::kReleased, Component::kUnreleased, Component::kReads}) {
    self.clock.raise(rank, c, self.issued[static_cast<std::size_t>(c)]);
  }
  self.clock.tidy();
  self.carried.clear();
  self.private_reads.clear();
  self.own_writes.clear();
  self.landed.clear();
}

void RaceDetector::learn(Rank& self, const Instant& instant, const std::vector<Instant>& carried) {
  changes(self, instant.rank);
  self.clock.add(instant);
  for (const Instant& before : carried) self.clock.add(before);
}

void RaceDetector::used(std::int32_t rank, std::uint32_t piece) {
  Rank& self = rank_of(rank);
  const auto read = std::lower_bound(
      self.reads.begin(), self.reads.end(), piece,
      [](const DeferredRead& deferred, std::uint32_t number) { return deferred.piece < number; });
  learn(self, read->instant, read->carried);
}

void RaceDetector::used_private_memory(std::int32_t rank) {
  Rank& self = rank_of(rank);
  for (const DeferredRead& read : self.private_reads) learn(self, read.instant, read.carried);
  self.private_reads.clear();
}

void RaceDetector::own_writes_landed(std::int32_t rank, const symrace::WindowRegion& region) {
  Rank& self = rank_of(rank);
  std::erase_if(self.own_writes, [&](const OwnWrite& write) {
    if (!symrace::overlaps(write.region, region)) return false;
    learn(self, write.instant, write.carried);
    return true;
  });
}

void RaceDetector::follows(std::uint32_t earlier, std::uint32_t later) {
  follow(flights_[earlier].instant, carried_of(earlier), later);
}

void RaceDetector::follow(const Instant& instant, const std::vector<Instant>& before,
                          std::uint32_t later) {
  carried_.grow_to(later + 1U);
  // In order, and each once: those of two earlier pieces are mostly the same.
  std::vector<Instant>& carried = carried_[later];
  const auto add = [&](std::span<const Instant> more) {
    const auto known = static_cast<std::ptrdiff_t>(carried.size());
    carried.insert(carried.end(), more.begin(), more.end());
    if (known == 0 || more.empty()) return;
    std::inplace_merge(carried.begin(), carried.begin() + known, carried.end(), comes_first);
    carried.erase(std::unique(carried.begin(), carried.end()), carried.end());
  };
  add(before);
  add({&instant, 1});
}

void RaceDetector::issued(const Piece& piece, std::uint32_t slot) {
  flights_.grow_to(slot + 1U);
  if (wants_follows_) {
    for (const Landed& landed : rank_of(piece.rank).landed) {
      if (Transfers::must_follow(landed.piece, piece)) follow(landed.instant, landed.carried, slot);
    }
  }
  const std::vector<Instant>& before = carried_of(slot);
  Flight& flight = flights_[slot];
  Rank& rank = rank_of(piece.rank);
  const Component component = model_.releases_class(piece.release_class)   ? Component::kReleased
                              : piece.release_class == ReleaseClass::kRead ? Component::kReads
                                                                           : Component::kUnreleased;
  flight.snapshot = snapshot_of(rank);
  flight.released = rank.issued[static_cast<std::size_t>(Component::kReleased)];
  std::uint32_t& count = rank.issued[static_cast<std::size_t>(component)];
  flight.instant = {piece.rank, component, ++count};
  if (!before.empty() &&
      (component == Component::kReleased || piece.effect == Piece::Effect::kSignal)) {
    rank.carried.insert(rank.carried.end(), before.begin(), before.end());
  }
  flight.carried_count = static_cast<std::uint32_t>(rank.carried.size());
  if (piece.release_class == ReleaseClass::kRead) {
    rank.reads.push_back({piece.number, flight.instant, before});
  }
}

void RaceDetector::held(std::int32_t rank) {
  Rank& self = rank_of(rank);
  const std::uint32_t time = ++self.issued[static_cast<std::size_t>(Component::kReleased)];
  const std::uint32_t snapshot = snapshot_of(self);
  if (self.held_front < self.held.size()) {
    Held& last = self.held.back();
    if (last.snapshot == snapshot && last.first_time + last.count == time) {
      ++last.count;
      return;
    }
  }
  self.held.push_back({snapshot, time, 1});
}

void RaceDetector::unheld(std::int32_t rank, std::uint32_t slot) {
  Rank& self = rank_of(rank);
  Held& next = self.held[self.held_front];
  flights_.grow_to(slot + 1U);
  flights_[slot] = {.instant = {rank, Component::kReleased, next.first_time},
                    .snapshot = next.snapshot,
                    .released = next.first_time - 1,
                    .carried_count = 0};
  ++next.first_time;
  if (--next.count != 0 || ++self.held_front != self.held.size()) return;
  self.held.clear();
  self.held_front = 0;
}

void RaceDetector::landed(const Piece& piece, std::uint32_t slot) {
  Flight& flight = flights_[slot];
  const std::vector<Instant>& before = carried_of(slot);
  Rank& rank = rank_of(piece.rank);
  switch (piece.effect) {
    case Piece::Effect::kSignal: {
      const std::span<const Instant> carried(
          rank.carried.data(), std::min<std::size_t>(flight.carried_count, rank.carried.size()));
      const bool released = flight.instant.component == Component::kReleased;
      signal(shadow_.cell(piece.target, piece.region.offset),
             {flight.snapshot, piece.rank, released ? flight.instant.time : flight.released,
              released ? 0 : flight.instant.time},
             carried, piece.notify_op);
      break;
    }
    case Piece::Effect::kReadPrivate:
      rank.private_reads.push_back({piece.number, flight.instant, before});
      break;
    case Piece::Effect::kReadWindow:
      rank.own_writes.push_back({piece.own(), flight.instant, before});
      break;
    case Piece::Effect::kWrite:
      if (piece.target == piece.rank && flight.instant.component == Component::kUnreleased) {
        rank.own_writes.push_back({piece.region, flight.instant, before});
      }
      break;
    case Piece::Effect::kReadTile:
      break;
  }
  if (wants_follows_) {
    rank.landed.push_back({piece, flight.instant, before});
    rank.landed.back().piece.tile.reset();
  }
  clocks_.drop(flight.snapshot);
  flight.snapshot = ClockTable::kNone;
  if (slot < carried_.size()) carried_[slot].clear();
}

void RaceDetector::signalled(std::int32_t rank, std::int32_t target, std::uint64_t cell,
                             pld::NotifyOp op) {
  const std::uint32_t snapshot = snapshot_of(rank_of(rank));
  signal(shadow_.cell(target, cell), {snapshot, rank, 0, 0}, {}, op);
  clocks_.drop(snapshot);
}

void RaceDetector::signal(ShadowState& state, const CellClock& sent,
                          std::span<const Instant> carried, pld::NotifyOp op) {
  CellClock& cell = state.cell;
  // Signals of one rank to one cell land in order, and each knows what the one before it knew.
  const bool replaces =
      op == pld::NotifyOp::Set || cell.snapshot == ClockTable::kNone || cell.rank == sent.rank;
  if (replaces && carried.empty()) {
    clocks_.hold(sent.snapshot);
    clocks_.drop(cell.snapshot);
    cell = sent;
    return;
  }
  scratch_.begin(static_cast<std::int32_t>(ranks_.size()), clocks_.blocks());
  join(scratch_, sent);
  for (const Instant& instant : carried) scratch_.add(instant);
  if (op == pld::NotifyOp::AtomicAdd && cell.snapshot != ClockTable::kNone) join(scratch_, cell);
  clocks_.drop(cell.snapshot);
  cell = {clocks_.snapshot(scratch_), -1, 0, 0};
}

}  // namespace emu
