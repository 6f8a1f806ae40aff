// Step 13: every rank's row reaches every rank, by hand or by the built-in.
#include "kernels/barrier_by_hand.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

// Row k of y is rank k's row.
template <class T>
void allgather_by_hand(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> stage,
                       pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  stage = copy_by_tiles(x, stage);
  for (std::int32_t peer = 0; peer < nranks; ++peer) {
    push_row(stage, 0, data, peer, my_rank);
  }

  barrier_by_hand(signal, 0);

  copy_rows_by_tiles(data, y);
}

template <class T>
void allgather_builtin(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> stage,
                       pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal) {
  stage = copy_by_tiles(x, stage);
  data = pld::tensor::allgather(stage, data, signal);
  copy_rows_by_tiles(data, y);
}

template <class T>
class Allgather final : public RowProgram<T> {
 public:
  explicit Allgather(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments, arguments.ranks * arguments.size),
        is_builtin_(arguments.choice("mode") == "builtin") {
    Matrix<T> golden(1, this->ranks() * this->size());
    golden.values = this->input().values;
    this->expect(std::move(golden));
  }

 private:
  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const pl::Shape row{1, this->size()};
    const pl::Shape rows{n, this->size()};
    const pl::Shape cells = is_builtin_ ? pl::Shape{n, 1} : pl::Shape{1, n};
    const auto stage_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "stage");
    const auto data_buffer = host.alloc_window_buffer(rows, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto stage = host.window<T>(stage_buffer, row);
    const auto data = host.window<T>(data_buffer, rows);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    const auto kernel = is_builtin_ ? allgather_builtin<T> : allgather_by_hand<T>;
    for (std::int64_t r = 0; r < n; ++r) {
      host.dispatch(pld::device(r), kernel, this->x(r), this->y(r, n), stage, data, signal);
    }
  }

  bool is_builtin_;
};

}  // namespace

const symrace::ProgramInfo kAllgather = {
    .name = "13_allgather",
    .summary = "every rank's row reaches every rank",
    .flags = {builtin_flag("hand: put, notify, wait; builtin: pld::tensor::allgather")},
    .make = make_program<Allgather>,
    .sizes_a_row = [](const symrace::Arguments& a) -> std::int64_t {
      return std::int64_t{a.ranks};
    },
};

}  // namespace kernels
