// Step 03: a window. Every rank stores x into its own slice and loads it back.
#include "kernels/programs.h"
#include "kernels/row_program.h"

namespace kernels {
namespace {

template <class T>
void round_trip(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data) {
  const auto local = pl::load(x, {0, 0}, {1, x.cols()});
  data = pl::store(local, {0, 0}, data);

  // No barrier: a rank always sees its own stores.
  const auto back = pl::load(data, {0, 0}, {1, x.cols()});
  y = pl::store(back, {0, 0}, y);
}

template <class T>
class WindowBuffer final : public RowProgram<T> {
 public:
  explicit WindowBuffer(const symrace::Arguments& arguments) : RowProgram<T>(arguments) {
    this->expect_ring_shift(0);
  }

 private:
  void host(pld::Host& host) override {
    const auto data_buffer = host.alloc_window_buffer({1, this->size()}, pl::dtype_of<T>(), "data");
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      const auto data = host.window<T>(data_buffer, {1, this->size()});
      host.dispatch(pld::device(r), round_trip<T>, this->x(r), this->y(r), data);
    }
  }
};

}  // namespace

const symrace::ProgramInfo kWindowBuffer = {
    .name = "03_window_buffer",
    .summary = "stores x into its own slice of a window and loads it back",
    .make = make_program<WindowBuffer>,
};

}  // namespace kernels
