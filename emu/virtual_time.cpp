#include "emu/virtual_time.h"

#include <algorithm>
#include <functional>

namespace emu {

const std::vector<Picoseconds>& VirtualTime::play(const std::vector<RankOps>& ranks,
                                                  const Model& model, std::vector<OpTimes>* times) {
  ranks_ = &ranks;
  model_ = model;
  times_ = times;
  clocks_.resize(ranks.size());
  for (Clock& clock : clocks_) {
    std::vector<OwnWrite> kept = std::move(clock.own_writes);
    kept.clear();
    clock = {};
    clock.own_writes = std::move(kept);
  }
  signals_.clear();
  looking_.clear();
  cells_.clear();
  sent_ = 0;
  if (times != nullptr) {
    times->assign(ranks.size(), {});
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      (*times)[rank].ops.resize(ranks[rank].ops.size());
      (*times)[rank].flight.resize(ranks[rank].ops.size());
      (*times)[rank].chunks.resize(ranks[rank].chunk_bytes.size());
    }
  }

  // Only looks at cells depend on the other ranks: they are taken in the order of time, among the
  // arrivals of signals. A rank's later signals arrive no earlier than it looks.
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) play_until_look(rank);
  for (;;) {
    if (!signals_.empty() &&
        (looking_.empty() || signals_.front().arrival <= looking_.front().first)) {
      deliver_next();
    } else if (!looking_.empty()) {
      const std::size_t rank = looking_.front().second;
      std::pop_heap(looking_.begin(), looking_.end(), std::greater<>());
      looking_.pop_back();
      play_look(rank);
    } else if (!give_way()) {
      break;
    }
  }

  ends_.clear();
  for (const Clock& clock : clocks_) {
    ends_.push_back(std::max(clock.now, *std::ranges::max_element(clock.arrived)));
  }
  return ends_;
}

const std::vector<Picoseconds>& VirtualTime::play(const OpRecorder& recorder, const Model& model,
                                                  EventTimes& times) {
  std::vector<OpTimes> by_op;
  play(recorder.ranks(), model, &by_op);
  times = {};
  times.events.reserve(recorder.events().size());
  for (const OpRecorder::EventOp& event : recorder.events()) {
    const auto rank = static_cast<std::size_t>(event.rank);
    if (event.op == OpRecorder::kWhole) {
      times.events.push_back({ends_[rank], ends_[rank]});
      continue;
    }
    const TimedOp& op = recorder.ranks()[rank].ops[event.op];
    const OpTimes& of_rank = by_op[rank];
    // A deferred read lands in the time that it takes as any other.
    const bool is_read = op.kind == TimedOp::Kind::kRead || op.kind == TimedOp::Kind::kGet;
    TimeSpan time = event.in_flight && !is_read ? of_rank.flight[event.op] : of_rank.ops[event.op];
    if (event.chunk != OpRecorder::kWhole && (event.in_flight || is_read)) {
      const TimeSpan* chunk = &of_rank.chunks[op.first_chunk + event.chunk];
      time = *chunk;
      // What a rank does itself does not overlap, also where a pipeline does.
      if (is_read && event.chunk > 0) time.begin = std::max(time.begin, (chunk - 1)->end);
    }
    times.events.push_back(time);
  }
  for (std::size_t rank = 0; rank < by_op.size(); ++rank) {
    const std::vector<TimedOp>& ops = recorder.ranks()[rank].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].kind != TimedOp::Kind::kPrivate) continue;
      times.private_moves.push_back(
          {static_cast<std::int32_t>(rank), ops[i].moves, ops[i].bytes, by_op[rank].ops[i]});
    }
  }
  return ends_;
}

void VirtualTime::play_until_look(std::size_t rank) {
  Clock& clock = clocks_[rank];
  const std::vector<TimedOp>& ops = (*ranks_)[rank].ops;
  for (; clock.next < ops.size(); ++clock.next) {
    const TimedOp& op = ops[clock.next];
    if (op.kind == TimedOp::Kind::kWait || op.kind == TimedOp::Kind::kAddToOwnCell) {
      looking_.emplace_back(clock.now, rank);
      std::push_heap(looking_.begin(), looking_.end(), std::greater<>());
      return;
    }
    const Picoseconds begin = clock.now;
    play_op(rank, op);
    if (times_ != nullptr) (*times_)[rank].ops[clock.next] = {begin, clock.now};
  }
}

void VirtualTime::play_op(std::size_t rank, const TimedOp& op) {
  Clock& clock = clocks_[rank];
  const StagedPath& staged = costs_.staged;
  const bool is_remote = op.target != static_cast<std::int32_t>(rank);
  const Picoseconds move = is_remote ? staged.remote(op.bytes) : staged.local(op.bytes);
  switch (op.kind) {
    case TimedOp::Kind::kPrivate:
      clock.now += op.moves * staged.start + stream_time(op.bytes, staged.local_per_kib);
      break;
    case TimedOp::Kind::kRead:
      clock.now = own_ready(clock, op) + move;
      break;
    case TimedOp::Kind::kWrite: {
      clock.stores_until = std::max(clock.now, clock.stores_until) + move;
      Picoseconds& arrived = clock.arrived[static_cast<std::size_t>(op.release_class)];
      arrived = std::max(arrived, clock.stores_until);
      if (!is_remote) clock.own_writes.push_back({op.own_begin, op.own_end, clock.stores_until});
      if (times_ != nullptr) {
        (*times_)[rank].flight[clock.next] = {clock.now, clock.stores_until};
      }
      clock.now += costs_.issue;
      break;
    }
    case TimedOp::Kind::kPut:
    case TimedOp::Kind::kGet:
      play_transfer(rank, op);
      break;
    case TimedOp::Kind::kNotify:
      play_notify(clock, op);
      if (times_ != nullptr) {
        (*times_)[rank].flight[clock.next] = {
            clock.now, clock.arrived[static_cast<std::size_t>(ReleaseClass::kSignal)]};
      }
      clock.now += costs_.issue;
      break;
    case TimedOp::Kind::kFence:
      clock.now = std::max(clock.now, *std::ranges::max_element(clock.arrived));
      break;
    case TimedOp::Kind::kPoll:
    case TimedOp::Kind::kWait:
    case TimedOp::Kind::kAddToOwnCell:
      break;
  }
}

// A chunk of a get is a remote load and a local store, of a put a local load and a remote store.
// Its staging tile is free again when it has been stored; with a pipeline there are two.
void VirtualTime::play_transfer(std::size_t rank, const TimedOp& op) {
  Clock& clock = clocks_[rank];
  const bool is_put = op.kind == TimedOp::Kind::kPut;
  const bool is_remote = op.target != static_cast<std::int32_t>(rank);
  const StagedPath& staged = costs_.staged;
  const Picoseconds issued = clock.now;
  const auto chunks = (*ranks_)[rank].chunks_of(op);
  Picoseconds loads_until = own_ready(clock, op);
  Picoseconds tile_free[2] = {0, 0};
  Picoseconds landed = loads_until;
  std::uint64_t bytes = 0;
  const bool by_engine = costs_.path == CostModel::Path::kAsync;
  const Picoseconds engine_start = std::max(loads_until, clock.engine_until) + costs_.async.start;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    Picoseconds begin = issued;
    if (by_engine) {
      // No staging, and so no chunks to it: one transfer, whose parts arrive one after the other.
      if (i > 0) begin = landed;
      bytes += chunks[i];
      landed = engine_start + stream_time(bytes, costs_.async.per_kib);
    } else {
      const Picoseconds local = staged.local(chunks[i]);
      const Picoseconds far = is_remote ? staged.remote(chunks[i]) : local;
      Picoseconds& free = tile_free[op.pipeline ? i % 2 : 0];
      begin = std::max(loads_until, free);
      loads_until = begin + (is_put ? local : far);
      landed = std::max(loads_until, clock.stores_until) + (is_put ? far : local);
      clock.stores_until = free = landed;
    }
    if (is_put) {
      const bool is_tail = chunks.size() > 1 && i + 1 == chunks.size();
      Picoseconds& arrived = clock.arrived[static_cast<std::size_t>(is_tail ? ReleaseClass::kPutTail
                                                                            : ReleaseClass::kPut)];
      arrived = std::max(arrived, landed);
    }
    if (times_ != nullptr) (*times_)[rank].chunks[op.first_chunk + i] = {begin, landed};
  }
  if (by_engine) clock.engine_until = landed;
  if (!is_put) {
    clock.now = landed;
  } else if (by_engine) {
    clock.now += costs_.issue;
  } else {
    clock.now = loads_until;
  }
  if (times_ != nullptr && is_put) (*times_)[rank].flight[clock.next] = {issued, landed};
}

void VirtualTime::play_notify(Clock& clock, const TimedOp& op) {
  const Picoseconds arrival = release_of(clock) + costs_.signal_latency;
  Picoseconds& arrived = clock.arrived[static_cast<std::size_t>(ReleaseClass::kSignal)];
  arrived = std::max(arrived, arrival);
  signals_.push_back({arrival, sent_++, op.target, op.own_begin, op.value, op.notify_op});
  std::push_heap(signals_.begin(), signals_.end(),
                 [&](const Signal& a, const Signal& b) { return is_later(a, b); });
}

Picoseconds VirtualTime::release_of(const Clock& clock) const {
  Picoseconds released = clock.now;
  for (std::size_t i = 0; i < kClasses; ++i) {
    const auto release_class = static_cast<ReleaseClass>(i);
    // An earlier signal is on its way for as long as this one will be.
    if (release_class == ReleaseClass::kSignal || !model_.releases_class(release_class)) continue;
    released = std::max(released, clock.arrived[i]);
  }
  return released;
}

Picoseconds VirtualTime::own_ready(Clock& clock, const TimedOp& op) {
  std::erase_if(clock.own_writes, [&](const OwnWrite& w) { return w.arrival <= clock.now; });
  Picoseconds ready = clock.now;
  for (const OwnWrite& write : clock.own_writes) {
    if (write.begin < op.own_end && op.own_begin < write.end)
      ready = std::max(ready, write.arrival);
  }
  return ready;
}

void VirtualTime::play_look(std::size_t rank) {
  Clock& clock = clocks_[rank];
  const TimedOp& op = next_op(rank);
  Cell& own = cell(static_cast<std::int32_t>(rank), op.own_begin);
  if (op.kind == TimedOp::Kind::kAddToOwnCell) {
    own.value = static_cast<std::int32_t>(static_cast<std::uint32_t>(own.value) +
                                          static_cast<std::uint32_t>(op.value));
    if (times_ != nullptr) {
      (*times_)[rank].ops[clock.next] = {clock.now, clock.now + costs_.issue};
    }
    clock.now += costs_.issue;
    ++clock.next;
    play_until_look(rank);
    return;
  }
  if (times_ != nullptr) (*times_)[rank].ops[clock.next] = {clock.now, clock.now};
  clock.waits = true;
  if (is_true(op, own)) pass(rank);
}

void VirtualTime::pass(std::size_t rank) {
  Clock& clock = clocks_[rank];
  clock.waits = false;
  if (times_ != nullptr) (*times_)[rank].ops[clock.next].end = clock.now;
  ++clock.next;
  play_until_look(rank);
}

void VirtualTime::deliver_next() {
  const auto later = [&](const Signal& a, const Signal& b) { return is_later(a, b); };
  const Signal signal = signals_.front();
  std::pop_heap(signals_.begin(), signals_.end(), later);
  signals_.pop_back();
  Cell& at = cell(signal.target, signal.cell);
  at.value = signal.op == pld::NotifyOp::Set
                 ? signal.value
                 : static_cast<std::int32_t>(static_cast<std::uint32_t>(at.value) +
                                             static_cast<std::uint32_t>(signal.value));
  at.last_arrival = signal.arrival;
  const auto target = static_cast<std::size_t>(signal.target);
  Clock& clock = clocks_[target];
  if (!clock.waits || next_op(target).own_begin != signal.cell || !is_true(next_op(target), at)) {
    return;
  }
  clock.now = std::max(clock.now, signal.arrival);
  pass(target);
}

// The schedule had signals that this play has not, or had them in another order: a cell that was
// written as data, or an Eq that virtual time has passed by.
bool VirtualTime::give_way() {
  std::size_t behind = clocks_.size();
  for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
    if (!clocks_[rank].waits) continue;
    if (behind == clocks_.size() || clocks_[rank].now < clocks_[behind].now) behind = rank;
  }
  if (behind == clocks_.size()) return false;
  Clock& clock = clocks_[behind];
  const TimedOp& op = next_op(behind);
  Cell& own = cell(static_cast<std::int32_t>(behind), op.own_begin);
  own.value = op.seen;
  clock.now = std::max(clock.now, own.last_arrival);
  pass(behind);
  return true;
}

}  // namespace emu
