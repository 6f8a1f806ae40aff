// Step 01: every rank says which it is, and how many there are.
#include "kernels/programs.h"
#include "kernels/row_program.h"

namespace kernels {
namespace {

template <class T>
void hello_rank(pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  // Scalars are INT32; they are cast only to become data.
  pl::write(y, {0, 0}, pl::cast<T>(my_rank));
  pl::write(y, {0, 1}, pl::cast<T>(nranks));
}

template <class T>
class HelloRank final : public RowProgram<T> {
 public:
  explicit HelloRank(const symrace::Arguments& arguments) : RowProgram<T>(arguments, 2) {
    Matrix<T> golden(this->ranks(), 2);
    for (std::int32_t r = 0; r < arguments.ranks; ++r) {
      golden.row(r)[0] = pl::arithmetic::cast<T>(r);
      golden.row(r)[1] = pl::arithmetic::cast<T>(arguments.ranks);
    }
    this->expect(std::move(golden));
  }

 private:
  // The rank and the world size belong to a window's communication domain, hence a window.
  void host(pld::Host& host) override {
    const auto data_buffer = host.alloc_window_buffer({1, 1}, pl::dtype_of<T>(), "data");
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), hello_rank<T>, this->y(r), host.window<T>(data_buffer, {1, 1}));
    }
  }
};

}  // namespace

const symrace::ProgramInfo kHelloRank = {
    .name = "01_hello_rank",
    .summary = "each rank writes its rank and the world size",
    .make = make_program<HelloRank>,
};

}  // namespace kernels
