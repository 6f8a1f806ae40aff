#include "tests/emu/collective_case.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/rng.h"

namespace emu::testing {
namespace {

using Signal = pld::DistributedTensor<std::int32_t>;

template <class T>
using Rows = std::vector<std::vector<T>>;  // a rank each

// Small values of either sign, no zero: sums and products tell who took part.
template <class T>
std::vector<T> random_values(std::int64_t count, std::uint64_t seed) {
  symrace::SplitMix64 generator(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = generator.next();
    const float magnitude = 0.25F + static_cast<float>(bits % 997) / 256.0F;
    const float value = (bits >> 32) % 2 == 0 ? magnitude : -magnitude;
    if constexpr (pl::IntegerElement<T>) {
      values.push_back(static_cast<T>(value * 16));
    } else {
      values.push_back(static_cast<T>(value));
    }
  }
  return values;
}

// By the language's own rules, apart from core/arithmetic.h.
template <class T>
T apply(pld::ReduceOp op, T a, T b) {
  if constexpr (pl::IntegerElement<T>) {
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    switch (op) {
      case pld::ReduceOp::Sum:
        return static_cast<T>(x + y);
      case pld::ReduceOp::Prod:
        return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
      case pld::ReduceOp::Max:
        return std::max(a, b);
      case pld::ReduceOp::Min:
        return std::min(a, b);
    }
    return a;
  } else {
    const auto x = static_cast<float>(a), y = static_cast<float>(b);
    switch (op) {
      case pld::ReduceOp::Sum:
        return static_cast<T>(x + y);
      case pld::ReduceOp::Prod:
        return static_cast<T>(x * y);
      case pld::ReduceOp::Max:
        return static_cast<T>(std::max(x, y));
      case pld::ReduceOp::Min:
        return static_cast<T>(std::min(x, y));
    }
    return a;
  }
}

template <class T>
T fold(pld::ReduceOp op, const Rows<T>& inputs, std::int64_t first, std::int64_t index) {
  const auto n = static_cast<std::int64_t>(inputs.size());
  const auto at = static_cast<std::size_t>(index);
  T value = inputs[static_cast<std::size_t>(first)][at];
  for (std::int64_t k = 1; k < n; ++k) {
    value = apply(op, value, inputs[static_cast<std::size_t>((first + k) % n)][at]);
  }
  return value;
}

std::int32_t count_of(std::int64_t source, std::int64_t destination, std::int64_t most,
                      std::size_t call) {
  // One more than fits, at times: it is clamped.
  return static_cast<std::int32_t>((source + 2 * destination + static_cast<std::int64_t>(call)) %
                                   (most + 2));
}

template <class T>
class CollectiveProgram final : public symrace::Program {
 public:
  explicit CollectiveProgram(const CollectiveCase& arguments)
      : a_(arguments), n_(arguments.ranks), block_(arguments.rows * arguments.cols) {
    for (std::size_t call = 0; call < a_.calls.size(); ++call) {
      inputs_.push_back(make_inputs(call));
      expected_.push_back(make_expected(call));
    }
  }

  void orchestrate(pld::Host& host) override {
    seen_.assign(a_.calls.size(), Rows<T>(static_cast<std::size_t>(n_)));
    cells_.assign(static_cast<std::size_t>(n_), {});
    const std::int64_t cols = a_.cols + a_.spare_cols;
    const pl::Shape whole{n_ * a_.rows, std::max<std::int64_t>(cols, 1)};
    const pl::Shape counts{n_, 1};
    const pl::Shape cells{std::max<std::int64_t>(2 * (n_ - 1), 1), n_};
    const auto dtype = pl::dtype_of<T>();
    const auto data = host.window<T>(host.alloc_window_buffer(whole, dtype, "data"), whole);
    const auto stage = host.window<T>(host.alloc_window_buffer(whole, dtype, "stage"), whole);
    const auto column = [&](pl::Shape shape, const char* name) {
      return host.window<std::int32_t>(host.alloc_window_buffer(shape, pl::DType::INT32, name),
                                       shape);
    };
    const Signal signal = column(cells, "signal");
    const Signal send = column(counts, "send_counts");
    const Signal recv = column(counts, "recv_counts");
    for (std::int32_t r = 0; r < n_; ++r) {
      host.dispatch(
          pld::device(r),
          [this](pld::DistributedTensor<T> d, pld::DistributedTensor<T> st, Signal s, Signal to,
                 Signal from) { a_.around([&] { kernel(d, st, s, to, from); }); },
          data, stage, signal, send, recv);
    }
  }

  bool matches() const override {
    const auto zero = [](const std::vector<std::int32_t>& cells) {
      return std::all_of(cells.begin(), cells.end(), [](std::int32_t c) { return c == 0; });
    };
    return seen_ == expected_ && std::all_of(cells_.begin(), cells_.end(), zero);
  }
  std::vector<symrace::Mismatch> mismatches() const override { return {}; }

 private:
  static std::int32_t me() { return symrace::current_rank({}).rank; }
  std::int64_t size_of_input(Collective collective) const {
    switch (collective) {
      case Collective::kReduceScatter:
      case Collective::kAllToAll:
      case Collective::kAllToAllV:
        return n_ * block_;
      default:
        return block_;
    }
  }
  Rows<T> make_inputs(std::size_t call) const {
    Rows<T> inputs;
    for (std::int32_t r = 0; r < n_; ++r) {
      inputs.push_back(
          random_values<T>(size_of_input(a_.calls[call]),
                           a_.data_seed * 1000003 + call * 1009 + static_cast<std::uint64_t>(r)));
    }
    return inputs;
  }

  // What the kernel shows of a call, a rank each.
  Rows<T> make_expected(std::size_t call) const {
    const Rows<T>& inputs = inputs_[call];
    Rows<T> expected(static_cast<std::size_t>(n_));
    for (std::int64_t r = 0; r < n_; ++r) {
      std::vector<T>& out = expected[static_cast<std::size_t>(r)];
      switch (a_.calls[call]) {
        case Collective::kBarrier:  // everyone pushed into everyone's slice
          for (const auto& input : inputs) out.insert(out.end(), input.begin(), input.end());
          break;
        case Collective::kMesh:
        case Collective::kTwoPhase:
          for (std::int64_t i = 0; i < block_; ++i) out.push_back(fold(a_.op, inputs, 0, i));
          break;
        case Collective::kRing:
          for (std::int64_t b = 0; b < n_; ++b) {
            for (std::int64_t i = b * block_ / n_; i < (b + 1) * block_ / n_; ++i) {
              out.push_back(fold(a_.op, inputs, b, i));
            }
          }
          break;
        case Collective::kBroadcast:
          out = inputs[static_cast<std::size_t>(a_.root)];
          break;
        case Collective::kAllgather:
          for (const auto& input : inputs) out.insert(out.end(), input.begin(), input.end());
          break;
        case Collective::kReduceScatter:
          for (std::int64_t i = r * block_; i < (r + 1) * block_; ++i) {
            out.push_back(fold(a_.op, inputs, 0, i));
          }
          break;
        case Collective::kAllToAll:
          for (const auto& input : inputs) {
            out.insert(out.end(), input.begin() + r * block_, input.begin() + (r + 1) * block_);
          }
          break;
        case Collective::kAllToAllV:
          for (std::int64_t src = 0; src < n_; ++src) {
            const auto& input = inputs[static_cast<std::size_t>(src)];
            const auto rows = std::min<std::int64_t>(count_of(src, r, a_.rows, call), a_.rows);
            out.insert(out.end(), input.begin() + r * block_,
                       input.begin() + r * block_ + rows * a_.cols);
          }
          break;
      }
    }
    return expected;
  }

  // Elements of own input, into the first rows of a window.
  void stage_in(const std::vector<T>& values, const pld::DistributedTensor<T>& to) const {
    if (a_.cols == 0) return;
    std::vector<T> copy = values;
    const auto rows = static_cast<std::int64_t>(values.size()) / a_.cols;
    const pl::Tensor<T> from(copy.data(), rows, a_.cols);
    for (std::int64_t row = 0; row < rows; ++row) {
      pl::store(pl::load(from, {row, 0}, {1, a_.cols}), {row, 0}, to);
    }
  }
  void show(const pld::DistributedTensor<T>& from, std::vector<T>& out) const {
    for (std::int64_t row = 0; row < from.rows() && from.cols() > 0; ++row) {
      const auto tile = pl::load(from, {row, 0}, {1, from.cols()});
      const T* values = tile.data({});
      out.insert(out.end(), values, values + tile.size());
    }
  }

  void kernel(const pld::DistributedTensor<T>& data_window,
              const pld::DistributedTensor<T>& stage_window, const Signal& signal,
              const Signal& send, const Signal& recv) {
    const std::int32_t r = me();
    const auto view = [&](const pld::DistributedTensor<T>& window, std::int64_t rows) {
      return window.view(0, 0, rows, a_.cols);
    };
    const auto data = view(data_window, a_.rows);
    const auto stage = view(stage_window, a_.rows);
    const auto all_data = view(data_window, n_ * a_.rows);
    const auto all_stage = view(stage_window, n_ * a_.rows);
    for (std::size_t call = 0; call < a_.calls.size(); ++call) {
      const std::vector<T>& input = inputs_[call][static_cast<std::size_t>(r)];
      std::vector<T>& out = seen_[call][static_cast<std::size_t>(r)];
      switch (a_.calls[call]) {
        case Collective::kBarrier:
          if (call > 0) pld::tensor::barrier(signal);  // the neighbour has read the last result
          for (std::int32_t peer = 0; peer < n_; ++peer) push(input, all_data, peer);
          pld::tensor::barrier(signal);
          show(all_data, out);
          break;
        case Collective::kMesh:
        case Collective::kTwoPhase:
        case Collective::kRing:
          stage_in(input, data);
          pld::tensor::allreduce(data, signal, a_.op, mode_of(a_.calls[call]));
          show(data, out);
          break;
        case Collective::kBroadcast:
          if (r == a_.root) stage_in(input, data);
          pld::tensor::broadcast(data, signal, a_.root);
          show(data, out);
          break;
        case Collective::kAllgather:
          stage_in(input, stage);
          if (call == 0) scribble(all_data);
          pld::tensor::allgather(stage, all_data, signal);
          show(all_data, out);
          break;
        case Collective::kReduceScatter:
          stage_in(input, all_data);
          pld::tensor::reduce_scatter(all_data, signal, a_.op);
          show(all_data.view(r * a_.rows, 0, a_.rows, a_.cols), out);
          break;
        case Collective::kAllToAll:
          stage_in(input, all_stage);
          if (call == 0) scribble(all_data);
          pld::tensor::all_to_all(all_stage, all_data, signal);
          show(all_data, out);
          break;
        case Collective::kAllToAllV:
          stage_in(input, all_stage);
          if (call == 0) scribble(all_data);
          for (std::int32_t peer = 0; peer < n_; ++peer) {
            pl::write(send, {peer, 0}, count_of(r, peer, a_.rows, call));
          }
          pld::tensor::all_to_all_v(all_stage, all_data, signal, send, recv);
          for (std::int32_t src = 0; src < n_; ++src) {
            const std::int32_t rows = pl::read(recv, {src, 0});
            show(all_data.view(src * a_.rows, 0, rows, a_.cols), out);
          }
          break;
      }
    }
    // Cells are a rank's own, but for what peers that are behind may still send: nothing.
    pld::tensor::barrier(signal);
    const auto cells = pl::load(signal, {0, 0}, {signal.rows(), signal.cols()});
    cells_[static_cast<std::size_t>(r)].assign(cells.data({}), cells.data({}) + cells.size());
  }

  static pld::AllreduceMode mode_of(Collective collective) {
    if (collective == Collective::kTwoPhase) return pld::AllreduceMode::TwoPhase;
    return collective == Collective::kRing ? pld::AllreduceMode::Ring : pld::AllreduceMode::Mesh;
  }
  void push(const std::vector<T>& values, const pld::DistributedTensor<T>& to,
            std::int32_t peer) const {
    std::vector<T> copy = values;
    const pl::Tensor<T> from(copy.data(), a_.rows, a_.cols);
    if (a_.cols == 0) return;
    pld::tile::remote_store(pl::load(from, {0, 0}, {a_.rows, a_.cols}), to, peer,
                            {me() * a_.rows, 0});
  }
  // Writes to the right neighbour's slice, where a third rank's block is to come: the collective
  // must order itself after that.
  void scribble(const pld::DistributedTensor<T>& all_data) const {
    if (a_.cols == 0 || n_ == 1) return;
    const std::int32_t right = (me() + 1) % a_.ranks;
    pld::tile::remote_store(pl::full<T>({1, a_.cols}, 99), all_data, right,
                            {(right + 1) % a_.ranks * a_.rows, 0});
  }

  CollectiveCase a_;
  std::int64_t n_;
  std::int64_t block_;
  std::vector<Rows<T>> inputs_;    // a call each
  std::vector<Rows<T>> expected_;  // a call each
  std::vector<Rows<T>> seen_;
  std::vector<std::vector<std::int32_t>> cells_;
};

}  // namespace

std::string name_of(Collective collective) {
  static constexpr const char* kNames[] = {"barrier",        "mesh",       "two_phase",
                                           "ring",           "broadcast",  "allgather",
                                           "reduce_scatter", "all_to_all", "all_to_all_v"};
  return kNames[static_cast<std::size_t>(collective)];
}

std::unique_ptr<symrace::Program> make_collective_program(const CollectiveCase& arguments) {
  return pl::visit_dtype(arguments.dtype, [&]<class T>(std::type_identity<T>) {
    return std::unique_ptr<symrace::Program>(new CollectiveProgram<T>(arguments));
  });
}

}  // namespace emu::testing
