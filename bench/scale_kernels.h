// Kernels whose cost is in their ranks: a ring all-reduce that reads from its left neighbour, a
// mesh barrier by hand, and rounds of a token between two cells; each with one flaw that can be
// asked for.
#ifndef SYMRACE_BENCH_SCALE_KERNELS_H_
#define SYMRACE_BENCH_SCALE_KERNELS_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/function_program.h"
#include "core/pl.h"
#include "core/pld.h"

namespace bench {

using Signal = pld::DistributedTensor<std::int32_t>;

// Where a kernel leaves something out: one rank, in one round. None by default.
struct Flaw {
  std::int32_t rank = -1;
  std::int32_t round = 0;
  bool is_at(std::int64_t r, std::int64_t k) const { return r == rank && k == round; }
};

// Every rank notifies every other and waits for all of them: ranks * (ranks - 1) notifies. The flaw
// leaves out the notify of a rank to its right neighbour.
inline symrace::FunctionProgram mesh_barrier(std::int32_t ranks, Flaw no_notify = {}) {
  const auto kernel = [no_notify](const Signal& signal) {
    const auto ctx = pld::get_comm_ctx(signal);
    const std::int32_t me = pld::rank(ctx).value();
    const std::int32_t n = pld::nranks(ctx).value();
    for (std::int32_t step = 1; step < n; ++step) {
      if (step == 1 && no_notify.is_at(me, 0)) continue;
      pld::system::notify(signal, (me + step) % n, {me, 0}, 1, pld::NotifyOp::AtomicAdd);
    }
    for (std::int32_t step = 1; step < n; ++step) {
      pld::system::wait(signal, {(me + step) % n, 0}, 1, pld::WaitCmp::Ge);
    }
  };
  return symrace::FunctionProgram([=](pld::Host& host) {
    const auto buffer = host.alloc_window_buffer({ranks, 1}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < ranks; ++r) {
      host.dispatch(pld::device(r), kernel, host.window<std::int32_t>(buffer, {ranks, 1}));
    }
  });
}

// Each rank stages its row and reads its right neighbour's behind a mesh barrier of its own, in
// which one wait (for the right neighbour) may be missing.
inline symrace::FunctionProgram mesh_shift(std::int32_t ranks, Flaw no_wait = {}) {
  const auto kernel = [no_wait](const pld::DistributedTensor<float>& data, const Signal& signal) {
    const auto ctx = pld::get_comm_ctx(signal);
    const std::int32_t me = pld::rank(ctx).value();
    const std::int32_t n = pld::nranks(ctx).value();
    pl::store(pl::full<float>({1, data.cols()}, me), {0, 0}, data);
    for (std::int32_t step = 1; step < n; ++step) {
      pld::system::notify(signal, (me + step) % n, {me, 0}, 1, pld::NotifyOp::AtomicAdd);
    }
    for (std::int32_t step = 1; step < n; ++step) {
      if (step == 1 && no_wait.is_at(me, 0)) continue;
      pld::system::wait(signal, {(me + step) % n, 0}, 1, pld::WaitCmp::Ge);
    }
    pld::tile::remote_load(data, (me + 1) % n, {0, 0}, {1, data.cols()});
  };
  return symrace::FunctionProgram([=](pld::Host& host) {
    const auto data = host.alloc_window_buffer({1, 16}, pl::DType::FP32, "data");
    const auto signal = host.alloc_window_buffer({ranks, 1}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < ranks; ++r) {
      host.dispatch(pld::device(r), kernel, host.window<float>(data, {1, 16}),
                    host.window<std::int32_t>(signal, {ranks, 1}));
    }
  });
}

// A token goes round the ring `rounds` times; each rank stages a value, and reads what its left
// neighbour has staged. What is known of the past grows with every round, what matters of it does
// not.
inline symrace::FunctionProgram token_ring(std::int32_t ranks, std::int32_t rounds) {
  const auto kernel = [rounds](const pld::DistributedTensor<float>& data, const Signal& signal) {
    const auto ctx = pld::get_comm_ctx(signal);
    const std::int32_t me = pld::rank(ctx).value();
    const std::int32_t n = pld::nranks(ctx).value();
    const std::int32_t left = (me + n - 1) % n;
    for (std::int32_t round = 1; round <= rounds; ++round) {
      if (me != 0 || round > 1) {
        pld::system::wait(signal, {0, 0}, me == 0 ? round - 1 : round, pld::WaitCmp::Ge);
        pld::tile::remote_load(data, left, {0, 0}, {1, data.cols()});
      }
      pl::store(pl::full<float>({1, data.cols()}, round), {0, 0}, data);
      pld::system::notify(signal, (me + 1) % n, {0, 0}, 1, pld::NotifyOp::AtomicAdd);
    }
    if (me == 0) pld::system::wait(signal, {0, 0}, rounds, pld::WaitCmp::Ge);
  };
  return symrace::FunctionProgram([=](pld::Host& host) {
    const auto data = host.alloc_window_buffer({1, 16}, pl::DType::FP32, "data");
    const auto signal = host.alloc_window_buffer({1, 1}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < ranks; ++r) {
      host.dispatch(pld::device(r), kernel, host.window<float>(data, {1, 16}),
                    host.window<std::int32_t>(signal, {1, 1}));
    }
  });
}

// The sum over all ranks, chunk by chunk: in round k of 2 * (ranks - 1) a rank waits for its left
// neighbour's notify of that round, adds the chunk that the neighbour has made (in the second half:
// copies it), fences, and notifies its right neighbour. Inputs are small whole numbers, so that the
// sum does not depend on its order; they are one vector, read from another place by each rank, and
// a kernel compares its own result, so that the windows are the only storage of `size` a rank.
// The flaw leaves out one wait.
class RingAllreduce final : public symrace::Program {
 public:
  RingAllreduce(std::int32_t ranks, std::int64_t size, Flaw no_wait = {})
      : ranks_(ranks), size_(size), no_wait_(no_wait) {
    inputs_.resize(static_cast<std::size_t>(size + ranks));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i] = static_cast<float>((i * 2654435761U >> 8) % 8);
    }
    float sum = 0;
    for (std::int64_t r = 0; r < ranks; ++r) sum += inputs_[static_cast<std::size_t>(r)];
    for (std::int64_t i = 0; i < size; ++i) {
      golden_.push_back(sum);
      sum += inputs_[static_cast<std::size_t>(i + ranks)] - inputs_[static_cast<std::size_t>(i)];
    }
  }

  void orchestrate(pld::Host& host) override {
    is_right_ = true;
    const pl::Shape cells{rounds(), ranks_};
    const auto data = host.alloc_window_buffer({1, size_}, pl::DType::FP32, "data");
    const auto signal = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < ranks_; ++r) {
      host.dispatch(
          pld::device(r),
          [](RingAllreduce* program, const pl::Tensor<float>& input,
             const pld::DistributedTensor<float>& window,
             const Signal& signals) { program->kernel(input, window, signals); },
          this, pl::Tensor<float>(inputs_.data() + r, 1, size_),
          host.window<float>(data, {1, size_}), host.window<std::int32_t>(signal, cells));
    }
  }
  bool matches() const override { return is_right_; }
  std::vector<symrace::Mismatch> mismatches() const override { return {}; }

  std::int32_t rounds() const { return 2 * (ranks_ - 1); }

 private:
  static constexpr std::int64_t kTile = 8 * 1024;  // elements of what is moved beside the rounds

  std::int64_t chunk_begin(std::int64_t chunk) const { return size_ * chunk / ranks_; }

  template <class Do>
  void for_each_tile(Do&& act) const {
    for (std::int64_t at = 0; at < size_; at += kTile) act(at, std::min(kTile, size_ - at));
  }

  void kernel(const pl::Tensor<float>& input, const pld::DistributedTensor<float>& data,
              const Signal& signal) {
    const auto ctx = pld::get_comm_ctx(data);
    const std::int32_t me = pld::rank(ctx).value();
    const std::int32_t left = (me + ranks_ - 1) % ranks_;
    const std::int32_t right = (me + 1) % ranks_;

    for_each_tile([&](std::int64_t at, std::int64_t count) {
      pl::store(pl::load(input, {0, at}, {1, count}), {0, at}, data);
      pld::system::fence();  // a tile in flight is memory too
    });
    pld::system::notify(signal, right, {0, me}, 1, pld::NotifyOp::AtomicAdd);
    for (std::int32_t round = 0; round < rounds(); ++round) {
      if (!no_wait_.is_at(me, round)) {
        pld::system::wait(signal, {round, left}, 1, pld::WaitCmp::Ge);
      }
      const bool adds = round < ranks_ - 1;
      const std::int32_t step = adds ? me - 1 - round : me - (round - (ranks_ - 1));
      const std::int64_t chunk = (step + ranks_) % ranks_;
      const std::int64_t begin = chunk_begin(chunk);
      const pl::Shape shape{1, chunk_begin(chunk + 1) - begin};
      auto part = pld::tile::remote_load(data, left, {0, begin}, shape);
      if (adds) part = pl::add(part, pl::load(data, {0, begin}, shape));
      pl::store(part, {0, begin}, data);
      pld::system::fence();
      if (round + 1 < rounds()) {
        pld::system::notify(signal, right, {round + 1, me}, 1, pld::NotifyOp::AtomicAdd);
      }
    }
    // The left neighbour may go on to reuse its slice when this rank has read it for the last time.
    pld::system::notify(signal, left, {0, me}, 1, pld::NotifyOp::AtomicAdd);
    pld::system::wait(signal, {0, right}, ranks_ == 2 ? 2 : 1, pld::WaitCmp::Ge);

    for_each_tile([&](std::int64_t at, std::int64_t count) {
      const pl::Tile<float> sum = pl::load(data, {0, at}, {1, count});
      is_right_ = is_right_ && std::memcmp(sum.data({}), golden_.data() + at,
                                           static_cast<std::size_t>(count) * sizeof(float)) == 0;
    });
  }

  std::int32_t ranks_;
  std::int64_t size_;
  Flaw no_wait_;
  std::vector<float> inputs_;
  std::vector<float> golden_;
  bool is_right_ = true;
};

}  // namespace bench

#endif  // SYMRACE_BENCH_SCALE_KERNELS_H_
