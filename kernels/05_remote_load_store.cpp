// Step 05: a one-step ring shift, tile by tile. Load mode pulls the next rank's slice, store mode
// pushes into it, and push mode is the tensor-level form that sends a computed value.
#include "kernels/programs.h"
#include "kernels/ring_shift.h"
#include "kernels/row_program.h"

namespace kernels {
namespace {

template <class T>
void shift_by_store(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                    pld::DistributedTensor<std::int32_t> signal) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  const auto local = pl::load(x, {0, 0}, {1, x.cols()});
  const auto peer = (my_rank + 1) % nranks;
  pld::tile::remote_store(local, data, peer, {0, 0});

  signal = pld::tensor::barrier(signal);

  const auto back = pl::load(data, {0, 0}, {1, x.cols()});  // rank (r-1) just wrote our slice
  y = pl::store(back, {0, 0}, y);
}

// With `combine`, every rank first stages x in its own slice, and the push adds to it. The second
// signal row tells the sender that its peer has staged.
template <class T>
void push_scaled(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> win,
                 pld::DistributedTensor<std::int32_t> signal, bool combine) {
  const auto ctx = pld::get_comm_ctx(win);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);
  const auto next = (my_rank + 1) % nranks;

  if (combine) {
    const auto previous = (my_rank + nranks - 1) % nranks;
    win = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, win);
    pld::system::notify(signal, previous, {1, 0}, 1, pld::NotifyOp::AtomicAdd);
    pld::system::wait(signal, {1, 0}, 1, pld::WaitCmp::Ge);
  }
  pl::at(pl::Level::CORE_GROUP, [&] {
    const auto scaled = pl::mul(pl::slice(x, {0, 0}, {1, x.cols()}), 2.0);
    pld::tensor::remote_store(scaled, win, next, {0, 0},
                              combine ? pld::AtomicType::Add : pld::AtomicType::None_);
    pld::system::notify(signal, next, {0, 0}, 1, pld::NotifyOp::AtomicAdd);
  });
  pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Ge);

  const auto back = pl::load(win, {0, 0}, {1, x.cols()});
  y = pl::store(back, {0, 0}, y);
}

template <class T>
class RemoteLoadStore final : public RowProgram<T> {
 public:
  explicit RemoteLoadStore(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments),
        mode_(arguments.choice("mode")),
        combine_(arguments.choice("atomic") == "add") {
    if (mode_ == "load") {
      this->expect_ring_shift(+1);
    } else if (mode_ == "store") {
      this->expect_ring_shift(-1);
    } else {
      this->expect_ring_shift(-1, 2);
      if (combine_) this->expect(staged_plus_pushed());
    }
  }

 private:
  Matrix<T> staged_plus_pushed() const {
    Matrix<T> sum = this->golden();
    for (std::size_t i = 0; i < sum.values.size(); ++i) {
      sum.values[i] = pl::arithmetic::add(sum.values[i], this->input().values[i]);
    }
    return sum;
  }

  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const auto data_buffer = host.alloc_window_buffer({1, this->size()}, pl::dtype_of<T>(), "data");
    const auto signal_buffer =
        host.alloc_window_buffer({n < 2 ? 2 : n, 1}, pl::DType::INT32, "signal");
    for (std::int64_t r = 0; r < n; ++r) {
      const auto data = host.window<T>(data_buffer, {1, this->size()});
      const auto signal = host.window<std::int32_t>(signal_buffer, {n < 2 ? 2 : n, 1});
      if (mode_ == "load") {
        host.dispatch(pld::device(r), shift_by_load<T>, this->x(r), this->y(r), data, signal);
      } else if (mode_ == "store") {
        host.dispatch(pld::device(r), shift_by_store<T>, this->x(r), this->y(r), data, signal);
      } else {
        host.dispatch(pld::device(r), push_scaled<T>, this->x(r), this->y(r), data, signal,
                      combine_);
      }
    }
  }

  std::string mode_;
  bool combine_;
};

}  // namespace

const symrace::ProgramInfo kRemoteLoadStore = {
    .name = "05_remote_load_store",
    .summary = "ring shift by remote_load, remote_store, or the tensor-level push",
    .flags = {{.name = "mode",
               .default_value = "load",
               .choices = {"load", "store", "push"},
               .help = "load: y[r] = x[(r+1) % N]; store: y[r] = x[(r-1) % N]; push: 2x into the "
                       "next rank"},
              {.name = "atomic",
               .default_value = "none",
               .choices = {"none", "add"},
               .mode = "push",
               .help = "push mode: add combines into what the peer has staged"}},
    .make = make_program<RemoteLoadStore>,
};

}  // namespace kernels
