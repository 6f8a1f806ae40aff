// Step 04: a barrier by hand from notify and wait, and the built-in one that replaces it.
#include "kernels/programs.h"
#include "kernels/ring_shift.h"
#include "kernels/row_program.h"

namespace kernels {
namespace {

// Row `me` of every peer's signal says that rank `me` is here.
template <class T>
void wait_for_all(pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<std::int32_t> signal) {
  const auto ctx = pld::get_comm_ctx(signal);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  for (std::int32_t peer = 0; peer < nranks; ++peer) {
    if (peer == my_rank) continue;
    pld::system::notify(signal, peer, {my_rank, 0}, 1, pld::NotifyOp::AtomicAdd);
  }
  for (std::int32_t src = 0; src < nranks; ++src) {
    if (src == my_rank) continue;
    pld::system::wait(signal, {src, 0}, 1, pld::WaitCmp::Ge);
  }

  const auto arrived = pl::load(signal, {0, 0}, {nranks, 1});
  y = pl::store(pl::cast<T>(arrived), {0, 0}, y);
}

template <class T>
class Barrier final : public RowProgram<T> {
 public:
  explicit Barrier(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments,
                      arguments.is_set("use-builtin") ? arguments.size : arguments.ranks),
        use_builtin_(arguments.is_set("use-builtin")) {
    if (use_builtin_) {
      this->expect_ring_shift(+1);
    } else {
      this->expect(one_but_in_own_row());
    }
  }

 private:
  Matrix<T> one_but_in_own_row() const {
    Matrix<T> golden(this->ranks(), this->ranks());
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      std::fill(golden.row(r), golden.row(r) + this->ranks(), static_cast<T>(1));
      golden.row(r)[r] = T{};
    }
    return golden;
  }

  void host(pld::Host& host) override {
    const pl::Shape row_a_rank{this->ranks(), 1};
    const auto signal_buffer = host.alloc_window_buffer(row_a_rank, pl::DType::INT32, "signal");
    const auto signal = host.window<std::int32_t>(signal_buffer, row_a_rank);
    if (!use_builtin_) {
      for (std::int64_t r = 0; r < this->ranks(); ++r) {
        host.dispatch(pld::device(r), wait_for_all<T>, this->y(r, this->ranks()), signal);
      }
      return;
    }
    const auto data_buffer = host.alloc_window_buffer({1, this->size()}, pl::dtype_of<T>(), "data");
    const auto data = host.window<T>(data_buffer, {1, this->size()});
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), shift_by_load<T>, this->x(r), this->y(r), data, signal);
    }
  }

  bool use_builtin_;
};

}  // namespace

const symrace::ProgramInfo kBarrier = {
    .name = "04_barrier",
    .summary = "a barrier by hand from notify and wait, or the built-in one",
    .flags = {{.name = "use-builtin",
               .kind = symrace::Flag::Kind::kSwitch,
               .default_value = "",
               .help = "pld::tensor::barrier, then y[r] = x[(r+1) % N]; without it y is 1 but in "
                       "the own row"}},
    .make = make_program<Barrier>,
};

}  // namespace kernels
