// Step 14: every rank brings a row for each rank, and gets the reduction of those for it, by hand
// or by the built-in.
#include "kernels/barrier_by_hand.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

// Row k of x is for rank k.
template <class T>
void reduce_scatter_by_hand(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y,
                            pld::DistributedTensor<T> data,
                            pld::DistributedTensor<std::int32_t> signal, pld::ReduceOp op) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  copy_rows_by_tiles(x, data);

  barrier_by_hand(signal, 0);

  by_tiles<T>(0, x.cols(), [&](std::int64_t col, std::int64_t cols) {
    auto acc = pld::tile::remote_load(data, 0, {my_rank, col}, {1, cols});
    for (std::int32_t peer = 1; peer < nranks; ++peer) {
      acc = combine(op, acc, pld::tile::remote_load(data, peer, {my_rank, col}, {1, cols}));
    }
    y = pl::store(acc, {0, col}, y);
  });
}

template <class T>
void reduce_scatter_builtin(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y,
                            pld::DistributedTensor<T> data,
                            pld::DistributedTensor<std::int32_t> signal, pld::ReduceOp op) {
  const auto my_rank = pld::rank(pld::get_comm_ctx(data));
  copy_rows_by_tiles(x, data);
  data = pld::tensor::reduce_scatter(data, signal, op);
  y = copy_by_tiles(data.view(my_rank, 0, 1, x.cols()), y);
}

template <class T>
class ReduceScatter final : public RowProgram<T> {
 public:
  explicit ReduceScatter(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments, arguments.size, arguments.ranks * arguments.size),
        is_builtin_(arguments.choice("mode") == "builtin"),
        op_(reduce_op(arguments)) {
    Matrix<T> golden(this->ranks(), this->size());
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      for (std::int64_t i = 0; i < this->size(); ++i) {
        golden.row(r)[i] = fold(op_, this->input(), 0, r * this->size() + i);
      }
    }
    this->expect(std::move(golden));
  }

 private:
  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const pl::Shape rows{n, this->size()};
    const pl::Shape cells = is_builtin_ ? pl::Shape{n, 1} : pl::Shape{1, n};
    const auto data_buffer = host.alloc_window_buffer(rows, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto data = host.window<T>(data_buffer, rows);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    const auto kernel = is_builtin_ ? reduce_scatter_builtin<T> : reduce_scatter_by_hand<T>;
    for (std::int64_t r = 0; r < n; ++r) {
      host.dispatch(pld::device(r), kernel, this->x(r, n), this->y(r), data, signal, op_);
    }
  }

  bool is_builtin_;
  pld::ReduceOp op_;
};

}  // namespace

const symrace::ProgramInfo kReduceScatter = {
    .name = "14_reduce_scatter",
    .summary = "each rank gets the reduction of the rows that all brought for it",
    .flags = {builtin_flag("hand: notify, wait, remote_load; builtin: pld::tensor::reduce_scatter"),
              op_flag()},
    .make = make_program<ReduceScatter>,
    .sizes_a_row = [](const symrace::Arguments& a) -> std::int64_t {
      return std::int64_t{a.ranks};
    },
};

}  // namespace kernels
