// Step 11: what steps 08 to 10 do by hand is one call. The input changes from call to call, and the
// windows stay.
#include <cstdint>

#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

// Row k of x is call k's input; row k of y its result.
template <class T>
void allreduce_calls(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                     pld::DistributedTensor<std::int32_t> signal, pld::ReduceOp op,
                     pld::AllreduceMode mode) {
  for (std::int64_t call = 0; call < x.rows(); ++call) {
    data = copy_by_tiles(x.view(call, 0, 1, x.cols()), data);
    data = pld::tensor::allreduce(data, signal, op, mode);
    copy_by_tiles(data, y.view(call, 0, 1, x.cols()));
  }
}

template <class T>
class AllreduceReveal final : public RowProgram<T> {
 public:
  explicit AllreduceReveal(const symrace::Arguments& arguments)
      : AllreduceReveal(arguments, arguments.size * arguments.integer("calls")) {}

 private:
  AllreduceReveal(const symrace::Arguments& arguments, std::int64_t cols)
      : RowProgram<T>(arguments, cols, cols),
        op_(reduce_op(arguments)),
        calls_(arguments.integer("calls")) {
    const std::string_view mode = arguments.choice("mode");
    if (mode == "two_phase") mode_ = pld::AllreduceMode::TwoPhase;
    if (mode == "ring") mode_ = pld::AllreduceMode::Ring;
    Matrix<T> golden(1, cols);
    for (std::int64_t call = 0; call < calls_; ++call) {
      Matrix<T> input(this->ranks(), this->size());
      for (std::int64_t r = 0; r < this->ranks(); ++r) {
        std::copy_n(this->input().row(r) + call * this->size(), this->size(), input.row(r));
      }
      const Matrix<T> result = all_reduced(op_, input, mode_ == pld::AllreduceMode::Ring);
      std::copy_n(result.row(0), this->size(), golden.row(0) + call * this->size());
    }
    this->expect(std::move(golden));
  }

  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const pl::Shape row{1, this->size()};
    const pl::Shape cells = mode_ == pld::AllreduceMode::Ring
                                ? pl::Shape{std::max<std::int64_t>(2 * (n - 1), 1), n}
                                : pl::Shape{n, 1};
    const auto data_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto data = host.window<T>(data_buffer, row);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    for (std::int64_t r = 0; r < n; ++r) {
      host.dispatch(pld::device(r), allreduce_calls<T>, this->x(r, calls_), this->y(r, calls_),
                    data, signal, op_, mode_);
    }
  }

  pld::ReduceOp op_;
  std::int64_t calls_;
  pld::AllreduceMode mode_ = pld::AllreduceMode::Mesh;
};

}  // namespace

const symrace::ProgramInfo kAllreduceReveal = {
    .name = "11_allreduce_reveal",
    .summary = "all-reduce by the built-in, call after call on the same windows",
    .flags = {{.name = "mode",
               .default_value = "mesh",
               .choices = {"mesh", "two_phase", "ring"},
               .help = "the algorithm: of step 08, 09 or 10"},
              op_flag(),
              {.name = "calls",
               .kind = symrace::Flag::Kind::kInteger,
               .default_value = "2",
               .smallest = 1,
               .help = "calls, each with an input of its own"}},
    .make = make_program<AllreduceReveal>,
    .sizes_a_row = [](const symrace::Arguments& a) -> std::int64_t { return a.integer("calls"); },
};

}  // namespace kernels
