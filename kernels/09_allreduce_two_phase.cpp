// Step 09: an all-reduce in two phases. Rank r reduces block r of every slice (reduce-scatter),
// then everyone reads every block from its owner (all-gather).
#include "kernels/barrier_by_hand.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

// Row 0 of the signal is the barrier before the first phase, row 1 the one before the second.
template <class T>
void allreduce_two_phase(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                         pld::DistributedTensor<T> result,
                         pld::DistributedTensor<std::int32_t> signal, pld::ReduceOp op) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  data = copy_by_tiles(x, data);

  barrier_by_hand(signal, 0);

  const auto [begin, end] = block_columns(my_rank, x.cols(), nranks);
  by_tiles<T>(begin, end, [&](std::int64_t col, std::int64_t cols) {
    auto acc = pld::tile::remote_load(data, 0, {0, col}, {1, cols});
    for (std::int32_t peer = 1; peer < nranks; ++peer) {
      acc = combine(op, acc, pld::tile::remote_load(data, peer, {0, col}, {1, cols}));
    }
    result = pl::store(acc, {0, col}, result);
  });

  barrier_by_hand(signal, 1);

  for (std::int32_t owner = 0; owner < nranks; ++owner) {
    const auto [first, last] = block_columns(owner, x.cols(), nranks);
    by_tiles<T>(first, last, [&](std::int64_t col, std::int64_t cols) {
      y = pl::store(pld::tile::remote_load(result, owner, {0, col}, {1, cols}), {0, col}, y);
    });
  }
}

template <class T>
class AllreduceTwoPhase final : public RowProgram<T> {
 public:
  explicit AllreduceTwoPhase(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments), op_(reduce_op(arguments)) {
    this->expect(all_reduced(op_, this->input()));
  }

 private:
  void host(pld::Host& host) override {
    const pl::Shape row{1, this->size()};
    const pl::Shape cells{2, this->ranks()};
    const auto data_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "data");
    const auto result_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "result");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto data = host.window<T>(data_buffer, row);
    const auto result = host.window<T>(result_buffer, row);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), allreduce_two_phase<T>, this->x(r), this->y(r), data, result,
                    signal, op_);
    }
  }

  pld::ReduceOp op_;
};

}  // namespace

const symrace::ProgramInfo kAllreduceTwoPhase = {
    .name = "09_allreduce_two_phase",
    .summary = "all-reduce by hand: reduce-scatter, then all-gather",
    .flags = {op_flag()},
    .make = make_program<AllreduceTwoPhase>,
};

}  // namespace kernels
