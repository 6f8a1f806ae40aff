// Random programs on one to three ranks: any op of the kernel language, with shapes, offsets, peers
// and chunks of any size, products beyond 64 bits among them, under any model. A run ends in one of
// its outcomes, the same one however often; what is asked for and cannot be is one line that names
// a place.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/function_program.h"
#include "core/pl.h"
#include "core/pld.h"
#include "emu/explore.h"
#include "emu/replay.h"
#include "emu/strategies.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"

namespace {

using Data = pld::DistributedTensor<float>;
using Cells = pld::DistributedTensor<std::int32_t>;
using Private = pl::Out<pl::Tensor<float>>;
using Tile = pl::Tile<float>;

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kCols = 8;
constexpr int kMostOps = 24;  // a rank

struct Op {
  int what = 0;
  std::int64_t n[8] = {};
  bool flag[4] = {};
  std::int32_t value = 0;

  pl::Offsets at() const { return {n[1], n[2]}; }
  pl::Shape shape() const { return {n[3], n[4]}; }
  pl::Offsets other() const { return {n[5], n[6]}; }
  pl::Shape other_shape() const { return {n[5], n[6]}; }
  pld::AtomicType atomic() const { return flag[2] ? pld::AtomicType::Add : pld::AtomicType::None_; }
  pld::WaitCmp cmp() const {
    return static_cast<pld::WaitCmp>(static_cast<std::uint64_t>(n[5]) % 6);
  }
  pld::ReduceOp reduction() const {
    return static_cast<pld::ReduceOp>((flag[0] ? 1 : 0) + (flag[1] ? 2 : 0));
  }
  pld::TransferOptions transfer() const {
    pld::TransferOptions options;
    if (flag[0]) {
      options.dst_offsets = at();
      options.src_offsets = other();
      if (n[7] >= 0) options.shape = shape();
    }
    if (flag[1]) {
      options.chunk_rows = n[7];
      options.chunk_cols = value;
      options.pipeline = flag[3];
    }
    return options;
  }
};

Op make_op(fuzz::Input& in) {
  Op op;
  op.what = in.below(41);
  const std::uint64_t flags = in.bits(1);
  for (int i = 0; i < 4; ++i) op.flag[i] = (flags >> i & 1) != 0;
  op.value = (flags >> 4 & 1) != 0 ? static_cast<std::int32_t>(in.wild_number())
                                   : static_cast<std::int32_t>(flags >> 5);
  for (std::int64_t& n : op.n) n = in.wild_number();
  return op;
}

// What a rank has, and what its ops leave behind.
struct Rank {
  Data a, b;
  Cells cells, sent, received;
  Private memory;
  Tile tile;  // of the latest op that made one; empty at first
};

void move(const Op& op, Rank& my) {
  const std::int64_t peer = op.n[0];
  switch (op.what) {
    case 0:
      my.tile = pl::load(my.a, op.at(), op.shape());
      break;
    case 1:
      my.tile = pl::load(my.memory, op.at(), op.shape());
      break;
    case 2:
      pl::store(my.tile, op.at(), my.b, op.atomic());
      break;
    case 3:
      pl::store(my.tile, op.at(), my.memory, op.atomic());
      break;
    case 4:
      my.tile = pld::tile::remote_load(my.a, peer, op.at(), op.shape());
      break;
    case 5:
      pld::tile::remote_store(my.tile, my.a, peer, op.at(), op.atomic());
      break;
    case 6:
      pld::tensor::put(my.a, peer, my.b, op.atomic(), op.transfer());
      break;
    case 7:
      pld::tensor::put(my.b, peer, my.memory, op.atomic(), op.transfer());
      break;
    case 8:
      pld::tensor::put(my.a, peer, my.a, op.atomic(), op.transfer());
      break;
    case 9:
      pld::tensor::get(my.b, peer, my.a, op.transfer());
      break;
    case 10:
      pld::tensor::get(my.memory, peer, my.b, op.transfer());
      break;
    case 11:
      pl::write(my.a, op.at(), pl::read(my.a, op.other()));
      break;
    case 12:
      pl::write(my.memory, op.at(), pl::read(my.memory, op.other()));
      break;
    case 13:
      pl::write(op.flag[0] ? my.sent : my.cells, op.at(), pl::read(my.cells, op.other()));
      break;
    case 14:
      pl::store(pld::tensor::remote_load(my.a, peer, op.at(), op.shape()), op.other(), my.b);
      break;
    default:
      pld::tensor::remote_store(pl::slice(my.memory, op.at(), op.shape()), my.a, peer, op.other(),
                                op.atomic());
      break;
  }
}

void signal(const Op& op, Rank& my) {
  switch (op.what) {
    case 16:
      pld::system::notify(my.cells, op.n[0], op.at(), op.value, pld::NotifyOp::AtomicAdd);
      break;
    case 17:
      pld::system::notify(my.cells, op.n[0], op.at(), op.value, pld::NotifyOp::Set);
      break;
    case 18:
      pld::system::wait(my.cells, op.at(), op.value, op.cmp());
      break;
    case 19:
      pld::system::test(my.cells, op.at(), op.value, op.cmp());
      break;
    default:
      pld::system::fence();
      break;
  }
}

void collective(const Op& op, Rank& my) {
  const Cells& signal = op.flag[3] ? pl::slice(my.cells, op.at(), op.shape()) : my.cells;
  switch (op.what) {
    case 21:
      pld::tensor::barrier(signal);
      break;
    case 22:
      pld::tensor::allreduce(my.a, signal, op.reduction(),
                             static_cast<pld::AllreduceMode>(op.flag[2] ? 2 : op.n[0] & 1));
      break;
    case 23:
      pld::tensor::broadcast(my.b, signal, op.n[0]);
      break;
    case 24:
      pld::tensor::allgather(pl::slice(my.a, op.at(), op.shape()), my.b, signal);
      break;
    case 25:
      pld::tensor::reduce_scatter(my.b, signal, op.reduction());
      break;
    case 26:
      pld::tensor::all_to_all(my.a, my.b, signal);
      break;
    default:
      pld::tensor::all_to_all_v(my.a, my.b, signal, my.sent, my.received);
      break;
  }
}

void compute(const Op& op, Rank& my) {
  switch (op.what) {
    case 28:
      my.tile = pl::full<float>(op.shape(), op.value);
      break;
    case 29:
      my.tile = pl::add(my.tile, pl::full<float>(op.shape(), 2));
      break;
    case 30:
      my.tile = pl::slice(my.tile, op.at(), op.shape());
      break;
    case 31:
      my.tile = pl::cast<float>(pl::mul(pl::cast<std::int32_t>(my.tile), op.value));
      break;
    case 32:
      my.tile = pl::cast<float>(pl::cast<pl::fp16>(pl::cast<std::int8_t>(my.tile)));
      break;
    case 33:
      my.a = pl::slice(my.a, op.at(), op.shape());
      break;
    case 34:
      my.b = pl::slice(my.b, op.at(), op.shape());
      break;
    case 35:
      my.memory = Private(pl::slice(my.memory, op.at(), op.shape()));
      break;
    case 36: {
      const pl::Scalar<std::int32_t> value = op.value;
      const pl::Scalar<std::int32_t> by = static_cast<std::int32_t>(op.n[0]);
      my.tile = pl::full<float>({(value / by) % (by + value), value * by - by}, value);
      break;
    }
    case 37:
      pl::at(pl::Level::CORE_GROUP, [&] {
        pl::store(pl::max(pl::add(my.memory, my.memory), op.value), op.at(), my.memory);
      });
      break;
    case 38:
      my.tile = Tile();
      break;
    case 39:
      my.b = Data();
      break;
    default:
      std::swap(my.a, my.b);
      break;
  }
}

void run_op(const Op& op, Rank& my) {
  if (op.what < 16) return move(op, my);
  if (op.what < 21) return signal(op, my);
  if (op.what < 28) return collective(op, my);
  compute(op, my);
}

class RandomProgram {
 public:
  explicit RandomProgram(fuzz::Input& in) : ranks_(1 + in.below(3)) {
    const int wild = in.below(16);
    if (wild == 0) first_ = view_ = {in.wild_number(), in.wild_number()};
    if (wild == 1) view_ = {in.wild_number(), in.wild_number()};
    if (wild == 2) device_ = in.wild_number();
    // A window that one machine has room for, and another has not, is no input.
    constexpr auto kSmall = 4096;
    constexpr auto kHuge = std::int64_t{1} << 50;
    std::int64_t bytes = 0;
    if (!__builtin_mul_overflow(first_.first, first_.second, &bytes) && bytes > kSmall &&
        bytes < kHuge) {
      first_ = view_ = {kRows, kCols};
    }
    ops_.resize(static_cast<std::size_t>(ranks_));
    for (auto& of_rank : ops_) {
      const int count = in.below(kMostOps + 1);
      for (int i = 0; i < count && !in.is_empty(); ++i) of_rank.push_back(make_op(in));
    }
    memory_.resize(ops_.size());
  }

  std::int32_t ranks() const { return ranks_; }

  void orchestrate(pld::Host& host) {
    const auto a = host.alloc_window_buffer({first_.first, first_.second}, pl::DType::FP32, "a");
    const auto b = host.alloc_window_buffer({kRows, kCols}, pl::DType::FP32, "b");
    const auto cells = host.alloc_window_buffer({kRows, kCols}, pl::DType::INT32, "cells");
    const auto sent = host.alloc_window_buffer(std::int64_t{ranks_} * 4);
    const auto received = host.alloc_window_buffer(std::int64_t{ranks_} * 4);
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      memory_[index].assign(kRows * kCols, static_cast<float>(rank));
      const Rank my{host.window<float>(a, {view_.first, view_.second}),
                    host.window<float>(b, {kRows, kCols}),
                    host.window<std::int32_t>(cells, {kRows, kCols}),
                    host.window<std::int32_t>(sent, {ranks_, 1}),
                    host.window<std::int32_t>(received, {ranks_, 1}),
                    Private(memory_[index].data(), kRows, kCols),
                    {}};
      const std::int64_t device = rank == 0 ? device_ : rank;
      host.dispatch(
          pld::device(device),
          [&ops = ops_[index]](Rank mine) {
            for (const Op& op : ops) run_op(op, mine);
          },
          my);
    }
  }

 private:
  std::int32_t ranks_;
  std::pair<std::int64_t, std::int64_t> first_{kRows, kCols};  // rows and cols of window a
  std::pair<std::int64_t, std::int64_t> view_ = first_;        // and of its tensor
  std::int64_t device_ = 0;                                    // that rank 0 is dispatched to
  std::vector<std::vector<Op>> ops_;
  std::vector<std::vector<float>> memory_;
};

emu::Options make_options(fuzz::Input& in) {
  const emu::Model models[] = {emu::Model::sc(), emu::Model::documented(), emu::Model::a2a3(),
                               emu::Model::weak()};
  emu::Options options;
  options.model = in.pick(models);
  const int burst = in.below(64);
  options.burst_bytes = burst < 48 ? 0 : burst - 47;
  if (in.flag()) options.costs = emu::CostModel::a2a3();
  options.max_steps = 500;
  return options;
}

bool is_same(const emu::RunResult& a, const emu::RunResult& b) {
  return a.outcome == b.outcome && a.error == b.error && a.decisions == b.decisions &&
         a.races.size() == b.races.size() && a.stuck.size() == b.stuck.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input in(data, size);
  const emu::Options options = make_options(in);
  const std::uint64_t seed = in.bits(1);
  const auto strategy = seed % 8 == 0 ? emu::make_pct_strategy(3) : emu::make_random_strategy();
  RandomProgram random(in);
  symrace::FunctionProgram program([&](pld::Host& host) { random.orchestrate(host); });
  const auto explorer = emu::Explorer::create(program, random.ranks(), options);
  fuzz::expect(explorer.ok(), "an explorer", std::string(explorer.status().message()));

  const emu::RunResult result = (*explorer)->run(*strategy, seed);
  switch (result.outcome) {
    case emu::Outcome::kOk:
    case emu::Outcome::kDeadlock:
    case emu::Outcome::kStepBound:
      fuzz::expect(result.error.empty(), "no error", result.error);
      break;
    case emu::Outcome::kError:
      fuzz::expect_one_line(result.error);
      fuzz::expect(result.error.find(".cpp:") != std::string::npos ||
                       result.error.starts_with("host: ") || result.error.starts_with("rank "),
                   "an error that names a place", result.error);
      break;
    default:
      fuzz::expect(false, "an outcome that a run may have");
  }

  // And once more, in one of the ways that there are.
  if (seed % 4 == 0) {
    const emu::RunResult again = (*explorer)->run(*strategy, seed);
    fuzz::expect(is_same(result, again), "the same run again", again.error);
  } else if (seed % 4 == 1) {
    (*explorer)->exhaust({.max_executions = 4});
  } else {
    const emu::RecordedRun recorded = (*explorer)->record(*strategy, seed);
    fuzz::expect(is_same(result, recorded.result), "the same run again", recorded.result.error);
    const auto replay = emu::make_replay_strategy(recorded.decisions);
    fuzz::expect(
        seed % 4 == 2 || (*explorer)->record(*replay, seed).trace_hash == recorded.trace_hash,
        "the same trace when it is replayed");
  }
  return 0;
}
