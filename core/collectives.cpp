#include "core/collectives.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/checks.h"
#include "core/credit_barrier.h"

namespace pld {
namespace detail {
namespace {

using symrace::OpKind;
using symrace::Site;
using symrace::TileRef;
using symrace::WindowRegion;

// Of one on-core tile. Two are on core at a time: what is reduced and what comes in, or the chunk
// that comes and the one that goes.
constexpr std::int64_t kTileBytes = 64 * 1024;
static_assert(2 * kTileBytes <= symrace::kOnCoreBytes);

struct Rectangle {
  std::int64_t row, col, rows, cols;
};

// One rank's part of one call.
class Call {
 public:
  Call(OpKind op, std::source_location where)
      : site_{op, where}, context_(symrace::current_rank(site_)) {}

  const Site& site() const { return site_; }
  std::int64_t me() const { return context_.rank; }
  std::int64_t ranks() const { return context_.world_size; }
  symrace::Fabric& fabric() const { return *context_.fabric; }

  std::int64_t modulo(std::int64_t rank) const { return (rank % ranks() + ranks()) % ranks(); }
  // Block `b` of `count` elements.
  std::int64_t block_begin(std::int64_t b, std::int64_t count) const { return b * count / ranks(); }

  void check_distinct(
      std::initializer_list<std::pair<const char*, const symrace::Window*>> operands) const {
    for (auto a = operands.begin(); a != operands.end(); ++a) {
      for (auto b = a + 1; b != operands.end(); ++b) {
        if (a->second != b->second) continue;
        fail(absl::StrCat("operands ", a->first, " and ", b->first, " are both window '",
                          a->second->name, "'; expected windows of their own: allocate another"));
      }
    }
  }
  void check_rows(const char* name, const Operand& operand, std::int64_t rows) const {
    if (operand.rows == rows) return;
    fail(absl::StrCat(name, " window '", operand.region.window->name, "' of shape [", operand.rows,
                      ", ", operand.cols, "]; expected ", rows, " rows, for ", ranks(), " ranks"));
  }
  // Rows of a block of `data`, which has one for each rank.
  std::int64_t block_rows(const Operand& data) const {
    if (data.rows % ranks() != 0) {
      fail(absl::StrCat("data window '", data.region.window->name, "' of shape [", data.rows, ", ",
                        data.cols, "]; expected as many rows for each of ", ranks(), " ranks"));
    }
    return data.rows / ranks();
  }
  void check_cols(const Operand& a, const Operand& b) const {
    if (a.cols == b.cols) return;
    fail(absl::StrCat("windows '", a.region.window->name, "' and '", b.region.window->name,
                      "' have ", a.cols, " and ", b.cols, " columns; expected as many"));
  }
  std::int32_t check_peer(std::int64_t peer) const {
    return symrace::checks::peer(site_, peer, context_.world_size);
  }
  [[noreturn]] void fail(const std::string& message) const {
    symrace::checks::fail(site_, message);
  }

  // The part of `from` of `rank`, on core.
  TileRef pull(std::int64_t rank, const WindowRegion& from) const {
    TileRef tile = context_.tiles->allocate(static_cast<std::size_t>(from.extent.bytes()));
    if (rank == me()) {
      fabric().load(from, *tile, site_);
    } else {
      fabric().remote_load(static_cast<std::int32_t>(rank), from, tile, site_);
      if (tile->state != symrace::TileBlock::State::kReady) fabric().use(*tile, site_);
    }
    return tile;
  }
  void store(const TileRef& tile, std::int64_t rank, const WindowRegion& to) const {
    if (rank == me()) {
      fabric().store(tile, to, AtomicType::None_, site_);
    } else {
      fabric().remote_store(tile, static_cast<std::int32_t>(rank), to, AtomicType::None_, site_);
    }
  }
  // The reduction of `region` over all ranks, in rank order.
  TileRef fold(ReduceOp op, const WindowRegion& region) const {
    TileRef sum = pull(0, region);
    for (std::int64_t rank = 1; rank < ranks(); ++rank) {
      const TileRef operand = pull(rank, region);
      symrace::reduce(op, region.dtype, sum->bytes(), operand->bytes(), region.extent.bytes());
    }
    return sum;
  }
  void put(std::int64_t rank, const WindowRegion& to, const WindowRegion& from) const {
    symrace::LocalRegion local;
    local.window = &from;
    fabric().put(static_cast<std::int32_t>(rank), to, local, AtomicType::None_, chunking(to),
                 site_);
  }
  void get(const WindowRegion& to, std::int64_t rank, const WindowRegion& from) const {
    symrace::LocalRegion local;
    local.window = &to;
    fabric().get(local, static_cast<std::int32_t>(rank), from, chunking(to), site_);
  }

 private:
  // Pipelined, where a region needs more than one staging tile.
  static symrace::Chunking chunking(const WindowRegion& region) {
    if (region.extent.bytes() <= kTileBytes) return {};
    const std::int64_t element_bytes = pl::dtype_bytes(region.dtype);
    const std::int64_t row_bytes = std::min(region.extent.row_bytes, kTileBytes);
    return {kTileBytes / row_bytes, row_bytes / element_bytes, true};
  }

  Site site_;
  symrace::RankContext& context_;
};

WindowRegion part_of(const Operand& whole, const Rectangle& part) {
  const std::int64_t element_bytes = pl::dtype_bytes(whole.region.dtype);
  WindowRegion region = whole.region;
  region.offset +=
      static_cast<std::uint64_t>(part.row * region.extent.stride + part.col * element_bytes);
  region.extent.rows = part.rows;
  region.extent.row_bytes = part.cols * element_bytes;
  return region;
}

// Calls `visit` with regions that together are elements [begin, end) of `whole`, row-major, each of
// `most_bytes` at most.
template <class Visit>
void for_each_part(const Operand& whole, std::int64_t begin, std::int64_t end,
                   std::int64_t most_bytes, Visit&& visit) {
  const std::int64_t cols = whole.cols;
  const std::int64_t most = most_bytes / pl::dtype_bytes(whole.region.dtype);
  while (begin < end) {
    Rectangle part{begin / cols, begin % cols, 1, 0};
    if (part.col == 0 && end - begin >= cols && cols <= most) {
      part.rows = std::min((end - begin) / cols, most / cols);
      part.cols = cols;
    } else {
      part.cols = std::min({cols - part.col, end - begin, most});
    }
    visit(part_of(whole, part));
    begin += part.rows * part.cols;
  }
}

constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;

std::int64_t size_of(const Operand& operand) { return operand.rows * operand.cols; }

Rectangle block(std::int64_t b, std::int64_t rows, const Operand& operand) {
  return {b * rows, 0, rows, operand.cols};
}

void allreduce_mesh(const Call& call, const Operand& data, const Signal& signal, ReduceOp op) {
  CreditBarrier barrier(signal, call.site());
  barrier.fence_and_wait();
  for_each_part(data, 0, size_of(data), kTileBytes, [&](const WindowRegion& part) {
    const TileRef sum = call.fold(op, part);
    // Else a fast rank overwrites what a slow one still reads.
    barrier.arrive_and_wait();
    call.store(sum, call.me(), part);
  });
  barrier.finish();
}

// Block r is read and written by rank r alone, in every slice: no barrier between.
void allreduce_two_phase(const Call& call, const Operand& data, const Signal& signal, ReduceOp op) {
  CreditBarrier barrier(signal, call.site());
  barrier.fence_and_wait();
  for_each_part(data, call.block_begin(call.me(), size_of(data)),
                call.block_begin(call.me() + 1, size_of(data)), kTileBytes,
                [&](const WindowRegion& part) {
                  const TileRef sum = call.fold(op, part);
                  for (std::int64_t step = 0; step < call.ranks(); ++step) {
                    call.store(sum, call.modulo(call.me() + step), part);
                  }
                });
  barrier.fence_and_wait();
  barrier.finish();
}

// The signals of a ring: cell [round, left] says that the left neighbour's block of that round is
// ready; cell [0, me], which no left neighbour uses, that the right one has taken the last.
class RingSignals {
 public:
  RingSignals(const Call& call, const Signal& signal)
      : call_(call),
        signal_(signal),
        left_(call.modulo(call.me() - 1)),
        right_(call.modulo(call.me() + 1)) {
    check_signal(signal, 2 * (call.ranks() - 1), call.ranks(), call.site());
  }

  std::int64_t left() const { return left_; }
  void ready(std::int64_t round) { notify(right_, cell(round, call_.me())); }
  void wait_for_left(std::int64_t round) { wait(cell(round, left_)); }
  void taken() { notify(left_, cell(0, left_)); }
  void wait_for_right() { wait(cell(0, call_.me())); }

 private:
  symrace::Cell cell(std::int64_t row, std::int64_t col) const {
    return {signal_.window(), signal_.region(row, col, 1, 1).offset};
  }
  // What this rank has moved comes first.
  void notify(std::int64_t rank, const symrace::Cell& cell) {
    call_.fabric().fence(call_.site());
    call_.fabric().notify(static_cast<std::int32_t>(rank), cell, 1, NotifyOp::AtomicAdd,
                          call_.site());
  }
  void wait(const symrace::Cell& cell) {
    call_.fabric().wait(cell, 1, WaitCmp::Ge, call_.site());
    call_.fabric().add_to_own_cell(cell, -1, call_.site());
  }

  const Call& call_;
  const Signal& signal_;
  std::int64_t left_;
  std::int64_t right_;
};

void allreduce_ring(const Call& call, const Operand& data, const Signal& signal, ReduceOp op) {
  RingSignals signals(call, signal);
  if (call.ranks() == 1) return;
  const std::int64_t half = call.ranks() - 1;
  const auto for_block = [&](std::int64_t b, std::int64_t most_bytes, auto&& visit) {
    const std::int64_t wrapped = call.modulo(b);
    for_each_part(data, call.block_begin(wrapped, size_of(data)),
                  call.block_begin(wrapped + 1, size_of(data)), most_bytes, visit);
  };

  signals.ready(0);
  for (std::int64_t round = 0; round < 2 * half; ++round) {
    signals.wait_for_left(round);
    if (round < half) {  // reduce-scatter: the left neighbour's sum, plus this rank's own
      for_block(call.me() - 1 - round, kTileBytes, [&](const WindowRegion& part) {
        const TileRef sum = call.pull(signals.left(), part);
        const TileRef own = call.pull(call.me(), part);
        symrace::reduce(op, part.dtype, sum->bytes(), own->bytes(), part.extent.bytes());
        call.store(sum, call.me(), part);
      });
    } else {  // all-gather
      for_block(call.me() - (round - half), kUnlimited,
                [&](const WindowRegion& part) { call.get(part, signals.left(), part); });
    }
    if (round + 1 < 2 * half) signals.ready(round + 1);
  }
  // No rank's slice is read any more when it leaves.
  signals.taken();
  signals.wait_for_right();
}

// Every rank pushes to every rank, itself included, between two barriers.
template <class Push>
void exchange(const Call& call, const Signal& signal, Push&& push) {
  CreditBarrier barrier(signal, call.site());
  barrier.fence_and_wait();
  for (std::int64_t step = 0; step < call.ranks(); ++step) push(call.modulo(call.me() + step));
  barrier.fence_and_wait();
  barrier.finish();
}

}  // namespace

void allreduce(const Operand& data, const Signal& signal, ReduceOp op, AllreduceMode mode,
               std::source_location where) {
  const Call call(OpKind::kAllreduce, where);
  call.check_distinct({{"data", data.region.window}, {"signal", signal.window()}});
  switch (mode) {
    case AllreduceMode::Mesh:
      return allreduce_mesh(call, data, signal, op);
    case AllreduceMode::TwoPhase:
      return allreduce_two_phase(call, data, signal, op);
    case AllreduceMode::Ring:
      return allreduce_ring(call, data, signal, op);
  }
}

void broadcast(const Operand& data, const Signal& signal, std::int64_t root,
               std::source_location where) {
  const Call call(OpKind::kBroadcast, where);
  call.check_distinct({{"data", data.region.window}, {"signal", signal.window()}});
  const std::int32_t from = call.check_peer(root);
  CreditBarrier barrier(signal, call.site());
  barrier.fence_and_wait();
  if (call.me() != from) call.get(data.region, from, data.region);
  barrier.fence_and_wait();  // the root may write again
  barrier.finish();
}

void allgather(const Operand& stage, const Operand& data, const Signal& signal,
               std::source_location where) {
  const Call call(OpKind::kAllgather, where);
  call.check_distinct(
      {{"stage", stage.region.window}, {"data", data.region.window}, {"signal", signal.window()}});
  call.check_cols(stage, data);
  call.check_rows("data", data, call.ranks() * stage.rows);
  exchange(call, signal, [&](std::int64_t peer) {
    call.put(peer, part_of(data, block(call.me(), stage.rows, data)), stage.region);
  });
}

void reduce_scatter(const Operand& data, const Signal& signal, ReduceOp op,
                    std::source_location where) {
  const Call call(OpKind::kReduceScatter, where);
  call.check_distinct({{"data", data.region.window}, {"signal", signal.window()}});
  const std::int64_t block_size = call.block_rows(data) * data.cols;
  CreditBarrier barrier(signal, call.site());
  barrier.fence_and_wait();
  // Block `me` is this rank's alone in every slice, so that it may be written at once.
  for_each_part(
      data, call.me() * block_size, (call.me() + 1) * block_size, kTileBytes,
      [&](const WindowRegion& part) { call.store(call.fold(op, part), call.me(), part); });
  barrier.arrive_and_wait();  // peers have read the other blocks
  barrier.finish();
}

void all_to_all(const Operand& stage, const Operand& data, const Signal& signal,
                std::source_location where) {
  const Call call(OpKind::kAllToAll, where);
  call.check_distinct(
      {{"stage", stage.region.window}, {"data", data.region.window}, {"signal", signal.window()}});
  call.check_cols(stage, data);
  const std::int64_t rows = call.block_rows(data);
  call.check_rows("stage", stage, data.rows);
  exchange(call, signal, [&](std::int64_t peer) {
    call.put(peer, part_of(data, block(call.me(), rows, data)),
             part_of(stage, block(peer, rows, stage)));
  });
}

void all_to_all_v(const Operand& input, const Operand& target, const Signal& signal,
                  const Operand& send_counts, const Signal& recv_counts,
                  std::source_location where) {
  const Call call(OpKind::kAllToAllV, where);
  call.check_distinct({{"input", input.region.window},
                       {"target", target.region.window},
                       {"signal", signal.window()},
                       {"send_counts", send_counts.region.window},
                       {"recv_counts", recv_counts.window()}});
  call.check_cols(input, target);
  const std::int64_t most = call.block_rows(target);
  call.check_rows("input", input, target.rows);
  call.check_rows("send_counts", send_counts, call.ranks());
  call.check_rows("recv_counts", Operand(recv_counts), call.ranks());
  const TileRef counts = call.pull(call.me(), part_of(send_counts, {0, 0, call.ranks(), 1}));
  const auto count_for = [&](std::int64_t peer) {
    std::int32_t count = 0;
    std::memcpy(&count, counts->bytes() + peer * 4, sizeof(count));
    if (count < 0) {
      call.fail(absl::StrCat("send_counts[", peer, "] = ", count, "; expected 0 or more rows"));
    }
    return std::min<std::int64_t>(count, most);
  };
  for (std::int64_t peer = 0; peer < call.ranks(); ++peer) count_for(peer);

  exchange(call, signal, [&](std::int64_t peer) {
    const std::int64_t rows = count_for(peer);
    call.put(peer, part_of(target, {call.me() * most, 0, rows, target.cols}),
             part_of(input, {peer * most, 0, rows, input.cols}));
    call.fabric().notify(static_cast<std::int32_t>(peer),
                         {recv_counts.window(), recv_counts.region(call.me(), 0, 1, 1).offset},
                         static_cast<std::int32_t>(rows), NotifyOp::Set, call.site());
  });
}

}  // namespace detail

namespace tensor {

DistributedTensor<std::int32_t> barrier(const DistributedTensor<std::int32_t>& signal,
                                        Location where) {
  detail::CreditBarrier credits(signal, {symrace::OpKind::kBarrier, where});
  credits.fence_and_wait();
  credits.finish();
  return signal;
}

}  // namespace tensor
}  // namespace pld
