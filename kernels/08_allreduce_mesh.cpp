// Step 08: an all-reduce by a mesh. Every rank stages its row, then reads everyone's.
#include "kernels/barrier_by_hand.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

template <class T>
void allreduce_mesh(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                    pld::DistributedTensor<std::int32_t> signal, pld::ReduceOp op) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto nranks = pld::nranks(ctx);

  data = copy_by_tiles(x, data);

  barrier_by_hand(signal, 0);

  // In rank order on every rank: a floating sum depends on it.
  by_tiles<T>(0, x.cols(), [&](std::int64_t col, std::int64_t cols) {
    auto acc = pld::tile::remote_load(data, 0, {0, col}, {1, cols});
    for (std::int32_t peer = 1; peer < nranks; ++peer) {
      acc = combine(op, acc, pld::tile::remote_load(data, peer, {0, col}, {1, cols}));
    }
    y = pl::store(acc, {0, col}, y);
  });
}

template <class T>
class AllreduceMesh final : public RowProgram<T> {
 public:
  explicit AllreduceMesh(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments), op_(reduce_op(arguments)) {
    this->expect(all_reduced(op_, this->input()));
  }

 private:
  void host(pld::Host& host) override {
    const pl::Shape row{1, this->size()};
    const pl::Shape cells{1, this->ranks()};
    const auto data_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto data = host.window<T>(data_buffer, row);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), allreduce_mesh<T>, this->x(r), this->y(r), data, signal, op_);
    }
  }

  pld::ReduceOp op_;
};

}  // namespace

const symrace::ProgramInfo kAllreduceMesh = {
    .name = "08_allreduce_mesh",
    .summary = "all-reduce by hand: everyone reads everyone",
    .flags = {op_flag()},
    .make = make_program<AllreduceMesh>,
};

}  // namespace kernels
