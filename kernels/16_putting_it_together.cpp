// Step 16: three collectives in one kernel, each on windows of its own: a weight is broadcast, the
// inputs are all-reduced, and then gathered and scaled by the weight.
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

// Row 0 of y is the sum of all inputs; row 1 + k is rank k's input times the weight.
template <class T>
void compose(pl::Tensor<T> x, pl::Tensor<T> w, pl::Out<pl::Tensor<T>> y,
             pld::DistributedTensor<T> weight, pld::DistributedTensor<T> sum,
             pld::DistributedTensor<T> stage, pld::DistributedTensor<T> gathered,
             pld::DistributedTensor<std::int32_t> signal) {
  const auto ctx = pld::get_comm_ctx(weight);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  if (my_rank == 0) weight = copy_by_tiles(w, weight);
  weight = pld::tensor::broadcast(weight, signal, 0);

  sum = copy_by_tiles(x, sum);
  sum = pld::tensor::allreduce(sum, signal, pld::ReduceOp::Sum);
  copy_by_tiles(sum, y.view(0, 0, 1, x.cols()));

  stage = copy_by_tiles(x, stage);
  gathered = pld::tensor::allgather(stage, gathered, signal);
  for (std::int32_t k = 0; k < nranks; ++k) {
    by_tiles<T>(0, x.cols(), [&](std::int64_t col, std::int64_t cols) {
      const auto row = pl::load(gathered, {k, col}, {1, cols});
      y = pl::store(pl::mul(row, pl::load(weight, {0, col}, {1, cols})), {1 + k, col}, y);
    });
  }
}

template <class T>
class PuttingItTogether final : public RowProgram<T> {
 public:
  explicit PuttingItTogether(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments, (arguments.ranks + 1) * arguments.size),
        weight_(random_matrix<T>(1, arguments.size, arguments.data_seed, 1)) {
    const Matrix<T> sums = all_reduced(pld::ReduceOp::Sum, this->input());
    Matrix<T> golden(1, (this->ranks() + 1) * this->size());
    T* out = std::copy_n(sums.row(0), this->size(), golden.row(0));
    for (std::int64_t k = 0; k < this->ranks(); ++k) {
      for (std::int64_t i = 0; i < this->size(); ++i) {
        *out++ = pl::arithmetic::mul(this->input().row(k)[i], weight_.row(0)[i]);
      }
    }
    this->expect(std::move(golden));
  }

 private:
  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const pl::Shape row{1, this->size()};
    const pl::Shape rows{n, this->size()};
    const pl::Shape cells{n, 1};
    const auto dtype = pl::dtype_of<T>();
    const auto weight = host.window<T>(host.alloc_window_buffer(row, dtype, "weight"), row);
    const auto sum = host.window<T>(host.alloc_window_buffer(row, dtype, "sum"), row);
    const auto stage = host.window<T>(host.alloc_window_buffer(row, dtype, "stage"), row);
    const auto gathered = host.window<T>(host.alloc_window_buffer(rows, dtype, "gathered"), rows);
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    const pl::Tensor<T> w(weight_.row(0), 1, this->size());
    for (std::int64_t r = 0; r < n; ++r) {
      host.dispatch(pld::device(r), compose<T>, this->x(r), w, this->y(r, n + 1), weight, sum,
                    stage, gathered, signal);
    }
  }

  Matrix<T> weight_;
};

}  // namespace

const symrace::ProgramInfo kPuttingItTogether = {
    .name = "16_putting_it_together",
    .summary = "broadcast, all-reduce and all-gather in one kernel, on one signal window",
    .make = make_program<PuttingItTogether>,
    .sizes_a_row = [](const symrace::Arguments& a) -> std::int64_t {
      return std::int64_t{a.ranks} + 1;
    },
};

}  // namespace kernels
