// pypto 2156 and 2279: collectives that signalled with Set 1, waited for >= 1, and left the cell at
// 1. The first call was right; the second on the same signal waited for nothing, and mixed old and
// new rows. pypto 2279 is the same in collectives that the host drives, where a simulator with
// sequentially consistent memory had nothing to show.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Element at which part `part` of a row begins, of `parts`.
std::int64_t begin_of(std::int32_t part, std::int32_t parts, std::int64_t cols) {
  return cols * part / parts;
}

void barrier_by_set(const pld::DistributedTensor<std::int32_t>& signal, std::int64_t col) {
  const auto [my_rank, nranks] = ranks_of(signal);
  for (std::int32_t peer = 0; peer < nranks; ++peer) {
    if (peer == my_rank) continue;
    pld::system::notify(signal, peer, {my_rank, col}, 1, pld::NotifyOp::Set);
  }
  for (std::int32_t src = 0; src < nranks; ++src) {
    if (src == my_rank) continue;
    pld::system::wait(signal, {src, col}, 1, pld::WaitCmp::Ge);
  }
}

// Two all-gathers: part k of y is part k of rank k's row. Row k of x is call k + 1's data.
template <class T, bool Fixed>
void gather_twice(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                  pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto barrier = [&signal](std::int64_t col) {
    if constexpr (Fixed) {
      signal = pld::tensor::barrier(signal);
    } else {
      barrier_by_set(signal, col);
    }
  };

  for (std::int32_t call = 0; call < 2; ++call) {
    data = pl::store(pl::load(x, {call, 0}, {1, x.cols()}), {0, 0}, data);
    barrier(0);
    for (std::int32_t src = 0; src < nranks; ++src) {
      const auto begin = begin_of(src, nranks.value(), x.cols());
      const auto end = begin_of(src + 1, nranks.value(), x.cols());
      const auto part = pld::tile::remote_load(data, src, {0, begin}, {1, end - begin});
      y = pl::store(part, {0, begin}, y);
    }
    // Keeps the next call's staging away from a peer that still reads this one's.
    barrier(1);
  }
}

// Two broadcasts, each driven by rank 0 in the host's stead: it puts its row on every device, is
// told that it has come, and reads a part back from each. Row k of x is call k + 1's data.
template <class T, bool Fixed>
void broadcast_twice(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                     pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  y = pl::store(pl::load(x, {1, 0}, {1, x.cols()}), {0, 0}, y);  // what rank 0 is to read back

  for (std::int32_t call = 0; call < 2; ++call) {
    if (my_rank == 0) {
      const auto row = pl::slice(x, {call, 0}, {1, x.cols()});
      for (std::int32_t peer = 1; peer < nranks; ++peer) {
        pld::tensor::put(data, peer, row, pld::AtomicType::None_);
      }
    }
    if constexpr (Fixed) {
      signal = pld::tensor::barrier(signal);
    } else if (my_rank == 0) {
      for (std::int32_t peer = 1; peer < nranks; ++peer) {
        pld::system::notify(signal, peer, {0, 0}, 1, pld::NotifyOp::Set);
      }
      for (std::int32_t peer = 1; peer < nranks; ++peer) {
        pld::system::wait(signal, {peer, 0}, 1, pld::WaitCmp::Ge);
      }
    } else {
      pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Ge);
      pld::system::notify(signal, 0, {my_rank, 0}, 1, pld::NotifyOp::Set);
    }
    if (my_rank == 0) {
      for (std::int32_t peer = 1; peer < nranks; ++peer) {
        const auto begin = begin_of(peer - 1, nranks.value() - 1, x.cols());
        const auto end = begin_of(peer, nranks.value() - 1, x.cols());
        const auto part = pld::tile::remote_load(data, peer, {0, begin}, {1, end - begin});
        y = pl::store(part, {0, begin}, y);
      }
    }
  }
}

template <class T>
class LeftoverSignal final : public BugProgram<T> {
 public:
  explicit LeftoverSignal(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, 0, gather_twice<T, false>, gather_twice<T, true>) {
    this->add_rounds();
    this->expect(a_part_of_each());
  }

 private:
  Matrix<T> a_part_of_each() const {
    Matrix<T> golden(this->ranks(), this->size());
    const auto parts = static_cast<std::int32_t>(this->ranks());
    for (std::int32_t k = 0; k < parts; ++k) {
      const std::int64_t begin = begin_of(k, parts, this->size());
      const std::int64_t end = begin_of(k + 1, parts, this->size());
      for (std::int32_t r = 0; r < parts; ++r) {
        std::copy(this->input().row(k) + begin, this->input().row(k) + end, golden.row(r) + begin);
      }
    }
    return golden;
  }
};

template <class T>
class LeftoverSignalHost final : public BugProgram<T> {
 public:
  explicit LeftoverSignalHost(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, 0, broadcast_twice<T, false>, broadcast_twice<T, true>) {
    this->add_rounds();
  }
};

// Not late only: the second call may load before its peer has staged again.
const symrace::BugInfo kLeftoverSignalBug = {
    .document = "hw",
    .symptom = "the second call on one signal passes at once: old and new rows mixed",
    .order_dependent = true,
    .needs_late_delivery = false,
    .ranks = 2,
    .reference = "pypto 2156"};
// Late only: rank 0 alone writes and reads, and at once means in order.
const symrace::BugInfo kHostBug = {
    .document = "hw",
    .symptom = "the second host collective on one signal passes at once: old and new rows mixed",
    .order_dependent = true,
    .needs_late_delivery = true,
    .ranks = 3,
    .reference = "pypto 2279"};

}  // namespace

const symrace::ProgramInfo kBugLeftoverSignal = bug_program<LeftoverSignal>(
    "bug_hw_leftover_signal", "two all-gathers on one signal: Set 1, wait >= 1, never cleared",
    kLeftoverSignalBug);
const symrace::ProgramInfo kBugLeftoverSignalHost = bug_program<LeftoverSignalHost>(
    "bug_hw_leftover_signal_host", "two broadcasts driven by rank 0, on such a signal", kHostBug);

}  // namespace kernels
