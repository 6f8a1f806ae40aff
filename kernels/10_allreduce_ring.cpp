// Step 10: an all-reduce around a ring, in place. In each of 2 (N-1) rounds a rank takes one block
// of N from its left neighbour: first it adds its own part, then it copies what is done.
#include <cstdint>

#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

// Cell [round, left] of the signal says that the left neighbour's block of that round is ready.
template <class T>
void allreduce_ring(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                    pld::DistributedTensor<std::int32_t> signal, pld::ReduceOp op) {
  const auto ctx = pld::get_comm_ctx(data);
  const std::int32_t my_rank = pld::rank(ctx);
  const std::int32_t nranks = pld::nranks(ctx);
  const std::int32_t left = (my_rank + nranks - 1) % nranks;
  const std::int32_t right = (my_rank + 1) % nranks;

  data = copy_by_tiles(x, data);

  for (std::int32_t round = 0; round < 2 * (nranks - 1); ++round) {
    pld::system::notify(signal, right, {round, my_rank}, 1, pld::NotifyOp::AtomicAdd);
    pld::system::wait(signal, {round, left}, 1, pld::WaitCmp::Ge);

    const bool reduces = round < nranks - 1;
    const std::int32_t block = reduces ? my_rank - 1 - round : my_rank - (round - (nranks - 1));
    const auto [begin, end] = block_columns(ring(block, 0, nranks), x.cols(), nranks);
    by_tiles<T>(begin, end, [&](std::int64_t col, std::int64_t cols) {
      auto part = pld::tile::remote_load(data, left, {0, col}, {1, cols});
      if (reduces) part = combine(op, part, pl::load(data, {0, col}, {1, cols}));
      data = pl::store(part, {0, col}, data);
    });
  }

  y = copy_by_tiles(data, y);
}

template <class T>
class AllreduceRing final : public RowProgram<T> {
 public:
  explicit AllreduceRing(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments), op_(reduce_op(arguments)) {
    this->expect(all_reduced(op_, this->input(), true));
  }

 private:
  void host(pld::Host& host) override {
    const pl::Shape row{1, this->size()};
    const pl::Shape cells{std::max<std::int64_t>(2 * (this->ranks() - 1), 1), this->ranks()};
    const auto data_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto data = host.window<T>(data_buffer, row);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), allreduce_ring<T>, this->x(r), this->y(r), data, signal, op_);
    }
  }

  pld::ReduceOp op_;
};

}  // namespace

const symrace::ProgramInfo kAllreduceRing = {
    .name = "10_allreduce_ring",
    .summary = "all-reduce by hand: blocks go around a ring",
    .flags = {op_flag()},
    .make = make_program<AllreduceRing>,
};

}  // namespace kernels
