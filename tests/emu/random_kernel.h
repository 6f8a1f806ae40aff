// Random small kernels for property tests: a few ops a rank on few bytes, each at a source line of
// its own, so that an event of the log, or an end of a race, tells which op it came from.
#ifndef SYMRACE_TESTS_EMU_RANDOM_KERNEL_H_
#define SYMRACE_TESTS_EMU_RANDOM_KERNEL_H_

#include <array>
#include <string>
#include <vector>

#include "core/rng.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {

enum class Do {
  kLoad,
  kStore,
  kRemoteLoad,
  kRemoteStore,
  kRemoteAdd,
  kPut,
  kPutAdd,
  kGet,
  kNotifyAdd,
  kNotifySet,
  kWait,
  kReadCell,
  kWriteCell,
  kFence,
  kUse,  // of the rank's latest remote_load
};
inline constexpr int kDoCount = 15;

// One op: [col, col + cols) of row 0 of the data window is what it moves to or from; the other end
// of a put or get is row 1 of the rank's own slice, from `other` on. Signals use cell `cell`.
struct RandomOp {
  Do what = Do::kLoad;
  std::int32_t peer = 0;
  std::int64_t col = 0, cols = 1, other = 0, cell = 0;
  std::int32_t value = 1;
  bool chunked = false;
};

inline constexpr std::int32_t kMostOps = 16;  // a rank
// A source line an op, rank by rank.
extern const std::source_location kPlaces[3 * kMostOps];

// The op of a rank that stands at `where`, as rank * kMostOps + index.
inline std::int32_t op_at(const std::source_location& where) {
  return static_cast<std::int32_t>(where.line() - kPlaces[0].line());
}

struct RandomKernel {
  std::int32_t ranks = 2;
  std::array<std::vector<RandomOp>, 3> ops;

  const RandomOp& op(std::int32_t id) const {
    return ops[static_cast<std::size_t>(id / kMostOps)][static_cast<std::size_t>(id % kMostOps)];
  }
  void run(Data data, Data signal) const;
  std::string text() const;
};

inline RandomKernel random_kernel(std::uint64_t seed, std::uint32_t most_ops = 4,
                                  std::uint32_t most_ranks = 3) {
  symrace::Xoshiro256 rng(seed);
  RandomKernel kernel;
  kernel.ranks = most_ranks > 2 && rng.below(4) == 0 ? 3 : 2;
  const std::uint32_t most = kernel.ranks == 3 ? std::min(most_ops, 3U) : most_ops;
  for (std::int32_t rank = 0; rank < kernel.ranks; ++rank) {
    const std::uint32_t count = 1 + rng.below(most);
    for (std::uint32_t i = 0; i < count; ++i) {
      RandomOp op;
      op.what = static_cast<Do>(rng.below(kDoCount));
      op.peer = static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(kernel.ranks)));
      op.col = rng.below(3);
      op.cols = 1 + rng.below(2);
      op.other = rng.below(2);
      op.cell = rng.below(4) == 0 ? 1 : 0;
      op.value = static_cast<std::int32_t>(1 + rng.below(2));
      op.chunked = op.cols == 2 && rng.below(2) == 0;
      kernel.ops[static_cast<std::size_t>(rank)].push_back(op);
    }
  }
  return kernel;
}

inline void RandomKernel::run(Data data, Data signal) const {
  const std::int32_t me = my_rank();
  const std::vector<RandomOp>& mine = ops[static_cast<std::size_t>(me)];
  pl::Tile<std::int32_t> latest;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const RandomOp& op = mine[i];
    const std::source_location& at = kPlaces[static_cast<std::size_t>(me * kMostOps) + i];
    const auto id = static_cast<std::int32_t>(100 * (me + 1)) + static_cast<std::int32_t>(i);
    pld::TransferOptions transfer = {.dst_offsets = pl::Offsets{0, op.col},
                                     .src_offsets = pl::Offsets{1, op.other},
                                     .shape = pl::Shape{1, op.cols},
                                     .chunk_rows = op.chunked ? 1 : 0,
                                     .chunk_cols = op.chunked ? 1 : 0};
    if (op.what == Do::kGet) std::swap(transfer.dst_offsets, transfer.src_offsets);
    switch (op.what) {
      case Do::kLoad:
        pl::load(data, {0, op.col}, {1, op.cols}, at);
        break;
      case Do::kStore:
        pl::store(tile_of(id, op.cols), {0, op.col}, data, pld::AtomicType::None_, at);
        break;
      case Do::kRemoteLoad:
        latest = pld::tile::remote_load(data, op.peer, {0, op.col}, {1, op.cols}, at);
        break;
      case Do::kRemoteStore:
        pld::tile::remote_store(tile_of(id, op.cols), data, op.peer, {0, op.col},
                                pld::AtomicType::None_, at);
        break;
      case Do::kRemoteAdd:
        pld::tile::remote_store(tile_of(id, op.cols), data, op.peer, {0, op.col},
                                pld::AtomicType::Add, at);
        break;
      case Do::kPut:
        pld::tensor::put(data, op.peer, data, pld::AtomicType::None_, transfer, at);
        break;
      case Do::kPutAdd:
        pld::tensor::put(data, op.peer, data, pld::AtomicType::Add, transfer, at);
        break;
      case Do::kGet:
        pld::tensor::get(data, op.peer, data, transfer, at);
        break;
      case Do::kNotifyAdd:
        pld::system::notify(signal, op.peer, {0, op.cell}, op.value, pld::NotifyOp::AtomicAdd, at);
        break;
      case Do::kNotifySet:
        pld::system::notify(signal, op.peer, {0, op.cell}, op.value, pld::NotifyOp::Set, at);
        break;
      case Do::kWait:
        pld::system::wait(signal, {0, op.cell}, op.value,
                          op.other == 0 ? pld::WaitCmp::Ge : pld::WaitCmp::Eq, at);
        break;
      case Do::kReadCell:
        pld::tile::remote_load(signal, op.peer, {0, op.cell}, {1, 1}, at);
        break;
      case Do::kWriteCell:
        pld::tile::remote_store(tile_of(id), signal, op.peer, {0, op.cell}, pld::AtomicType::None_,
                                at);
        break;
      case Do::kFence:
        pld::system::fence(at);
        break;
      case Do::kUse:
        if (latest.block()) latest.data({symrace::OpKind::kUse, at});
        break;
    }
  }
}

inline std::string RandomKernel::text() const {
  static constexpr const char* kNames[] = {
      "load", "store",     "remote_load", "remote_store", "add",
      "put",  "put_add",   "get",         "notify",       "notify_set",
      "wait", "read_cell", "write_cell",  "fence",        "use"};
  std::string text;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    text += "rank " + std::to_string(rank) + ":";
    for (const RandomOp& op : ops[static_cast<std::size_t>(rank)]) {
      text += " " + std::string(kNames[static_cast<int>(op.what)]) + "(peer " +
              std::to_string(op.peer) + " cols " + std::to_string(op.col) + "+" +
              std::to_string(op.cols) + " other " + std::to_string(op.other) + " cell " +
              std::to_string(op.cell) + " value " + std::to_string(op.value) +
              (op.chunked ? " chunked)" : ")");
    }
    text += "; ";
  }
  return text;
}

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_RANDOM_KERNEL_H_
