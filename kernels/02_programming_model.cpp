// Step 02: the three levels. The host dispatches a function to every rank, which hands its work to
// the rank's cores, where alone there are tiles and arithmetic: y = 2x.
#include "kernels/programs.h"
#include "kernels/row_program.h"

namespace kernels {
namespace {

// In-core level.
template <class T>
pl::Out<pl::Tensor<T>> double_in_core(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
  const auto tile = pl::load(x, {0, 0}, {1, x.cols()});
  const auto doubled = pl::mul(tile, 2);
  return pl::store(doubled, {0, 0}, y);
}

// Per-rank level.
template <class T>
void double_on_rank(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
  pl::at(pl::Level::CORE_GROUP, [&] { y = double_in_core(x, y); });
}

template <class T>
class ProgrammingModel final : public RowProgram<T> {
 public:
  explicit ProgrammingModel(const symrace::Arguments& arguments) : RowProgram<T>(arguments) {
    this->expect_ring_shift(0, 2);
  }

 private:
  // Host level.
  void host(pld::Host& host) override {
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), double_on_rank<T>, this->x(r), this->y(r));
    }
  }
};

}  // namespace

const symrace::ProgramInfo kProgrammingModel = {
    .name = "02_programming_model",
    .summary = "host, per-rank and in-core levels: y = 2x",
    .make = make_program<ProgrammingModel>,
};

}  // namespace kernels
