#include "emu/op_recorder.h"

#include "emu/pieces.h"

namespace emu {

using symrace::RankContext;

void OpRecorder::begin(std::int32_t ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  ranks_.resize(count);  // allocates once
  for (RankOps& rank : ranks_) {
    rank.ops.clear();
    rank.chunk_bytes.clear();
    rank.finished = false;
  }
  events_.clear();
  pieces_.assign(pieces_.empty() ? 0 : count, {});
  progress_.assign(count, {});
}

RankOps& OpRecorder::add(RankContext& rank, const TimedOp& op) {
  RankOps& ops = ranks_[static_cast<std::size_t>(rank.rank)];
  if (rank.private_moves != 0) {
    TimedOp moves;
    moves.moves = rank.private_moves;
    moves.bytes = rank.private_bytes;
    ops.ops.push_back(moves);
    rank.private_moves = rank.private_bytes = 0;
  }
  // A loop of polls is one op.
  const bool polls_again = op.kind == TimedOp::Kind::kPoll && !ops.ops.empty() &&
                           ops.ops.back().kind == TimedOp::Kind::kPoll;
  if (!polls_again) ops.ops.push_back(op);
  return ops;
}

void OpRecorder::read(RankContext& rank, std::int32_t target, const symrace::WindowRegion& from) {
  TimedOp op;
  op.kind = TimedOp::Kind::kRead;
  op.target = target;
  op.bytes = static_cast<std::uint64_t>(from.extent.bytes());
  op.own_begin = from.offset;
  op.own_end = target == rank.rank ? from.end() : from.offset;
  add(rank, op);
}

void OpRecorder::write(RankContext& rank, std::int32_t target, const symrace::WindowRegion& to,
                       ReleaseClass release_class) {
  TimedOp op;
  op.kind = TimedOp::Kind::kWrite;
  op.release_class = release_class;
  op.target = target;
  op.bytes = static_cast<std::uint64_t>(to.extent.bytes());
  op.own_begin = to.offset;
  op.own_end = target == rank.rank ? to.end() : to.offset;
  add(rank, op);
}

RankOps& OpRecorder::add_transfer(RankContext& rank, TimedOp op, const symrace::LocalRegion& local,
                                  const symrace::Chunking& chunking, std::int64_t element_bytes) {
  RankOps& ops = ranks_[static_cast<std::size_t>(rank.rank)];
  op.pipeline = chunking.pipeline;
  op.bytes = static_cast<std::uint64_t>(local.extent().bytes());
  if (local.window != nullptr) {
    op.own_begin = local.window->offset;
    op.own_end = local.window->end();
  }
  op.first_chunk = static_cast<std::uint32_t>(ops.chunk_bytes.size());
  for_each_chunk(local.extent(), chunking, element_bytes, [&](const Cut& chunk) {
    ops.chunk_bytes.push_back(static_cast<std::uint64_t>(chunk.rows * chunk.row_bytes));
  });
  op.chunks = static_cast<std::uint32_t>(ops.chunk_bytes.size()) - op.first_chunk;
  return add(rank, op);
}

void OpRecorder::put(RankContext& rank, std::int32_t peer, const symrace::LocalRegion& from,
                     const symrace::Chunking& chunking, std::int64_t element_bytes) {
  TimedOp op;
  op.kind = TimedOp::Kind::kPut;
  op.target = peer;
  add_transfer(rank, op, from, chunking, element_bytes);
}

void OpRecorder::get(RankContext& rank, const symrace::LocalRegion& to, std::int32_t peer,
                     const symrace::Chunking& chunking, std::int64_t element_bytes) {
  TimedOp op;
  op.kind = TimedOp::Kind::kGet;
  op.target = peer;
  add_transfer(rank, op, to, chunking, element_bytes);
}

void OpRecorder::notify(RankContext& rank, std::int32_t peer, const symrace::Cell& cell,
                        std::int32_t value, pld::NotifyOp notify_op) {
  TimedOp op;
  op.kind = TimedOp::Kind::kNotify;
  op.notify_op = notify_op;
  op.target = peer;
  op.value = value;
  op.own_begin = cell.offset;
  add(rank, op);
}

void OpRecorder::look(RankContext& rank, const symrace::Cell& cell, std::int32_t expected,
                      pld::WaitCmp cmp, std::int32_t seen) {
  TimedOp op;
  op.kind = pld::compare(cmp, seen, expected) ? TimedOp::Kind::kWait : TimedOp::Kind::kPoll;
  op.cmp = cmp;
  op.target = rank.rank;
  op.value = expected;
  op.seen = seen;
  op.own_begin = cell.offset;
  add(rank, op);
}

void OpRecorder::fence(RankContext& rank) {
  TimedOp op;
  op.kind = TimedOp::Kind::kFence;
  add(rank, op);
}

void OpRecorder::add_to_own_cell(RankContext& rank, const symrace::Cell& cell, std::int32_t delta) {
  TimedOp op;
  op.kind = TimedOp::Kind::kAddToOwnCell;
  op.target = rank.rank;
  op.value = delta;
  op.own_begin = cell.offset;
  add(rank, op);
}

void OpRecorder::finish(RankContext& rank) {
  // Private moves behind the last op.
  TimedOp op;
  op.kind = TimedOp::Kind::kPoll;
  add(rank, op).finished = true;
}

void OpRecorder::logged(const Event& event) {
  const auto rank = static_cast<std::size_t>(event.rank);
  if (pieces_.empty()) pieces_.resize(ranks_.size());
  if (event.kind == Event::Kind::kLand || event.kind == Event::Kind::kTake) {
    events_.push_back(pieces_[rank][event.piece - 1]);
    events_.back().in_flight = true;
    return;
  }
  EventOp of;
  of.rank = event.rank;
  const RankOps& ops = ranks_[rank];
  if (event.kind != Event::Kind::kFinish && !ops.ops.empty()) {
    of.op = static_cast<std::uint32_t>(ops.ops.size() - 1);
    const TimedOp& op = ops.ops[of.op];
    const auto bytes = static_cast<std::uint64_t>(event.rows * event.row_bytes);
    if (op.chunks > 1 && bytes < op.bytes) {
      // Pieces and chunks come in one order, and no piece is of two chunks.
      Progress& progress = progress_[rank];
      if (progress.op != of.op) progress = {of.op, 0, 0};
      of.chunk = progress.chunk;
      progress.bytes += bytes;
      if (progress.bytes == ops.chunks_of(op)[progress.chunk]) progress = {of.op, of.chunk + 1, 0};
    }
  }
  events_.push_back(of);
  if (event.kind == Event::Kind::kIssue) pieces_[rank].push_back(of);
}

}  // namespace emu
