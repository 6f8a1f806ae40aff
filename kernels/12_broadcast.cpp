// Step 12: the root's row reaches every rank, by hand or by the built-in.
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

template <class T>
void broadcast_by_hand(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal, std::int32_t root) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  if (my_rank == root) {
    data = copy_by_tiles(x, data);
    for (std::int32_t peer = 0; peer < nranks; ++peer) {
      if (peer == root) continue;
      pld::system::notify(signal, peer, {0, 0}, 1, pld::NotifyOp::AtomicAdd);
    }
  } else {
    pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Ge);
  }

  by_tiles<T>(0, x.cols(), [&](std::int64_t col, std::int64_t cols) {
    y = pl::store(pld::tile::remote_load(data, root, {0, col}, {1, cols}), {0, col}, y);
  });
}

template <class T>
void broadcast_builtin(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal, std::int32_t root) {
  if (pld::rank(pld::get_comm_ctx(data)) == root) data = copy_by_tiles(x, data);
  data = pld::tensor::broadcast(data, signal, root);
  y = copy_by_tiles(data, y);
}

template <class T>
class Broadcast final : public RowProgram<T> {
 public:
  explicit Broadcast(const symrace::Arguments& arguments)
      : RowProgram<T>(arguments),
        kernel_(arguments.choice("mode") == "builtin" ? broadcast_builtin<T>
                                                      : broadcast_by_hand<T>),
        root_(static_cast<std::int32_t>(arguments.integer("root") % arguments.ranks)) {
    Matrix<T> golden(1, this->size());
    std::copy_n(this->input().row(root_), this->size(), golden.row(0));
    this->expect(std::move(golden));
  }

 private:
  void host(pld::Host& host) override {
    const pl::Shape row{1, this->size()};
    const pl::Shape cells{this->ranks(), 1};
    const auto data_buffer = host.alloc_window_buffer(row, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto data = host.window<T>(data_buffer, row);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), kernel_, this->x(r), this->y(r), data, signal, root_);
    }
  }

  void (*kernel_)(pl::Tensor<T>, pl::Out<pl::Tensor<T>>, pld::DistributedTensor<T>,
                  pld::DistributedTensor<std::int32_t>, std::int32_t);
  std::int32_t root_;
};

}  // namespace

const symrace::ProgramInfo kBroadcast = {
    .name = "12_broadcast",
    .summary = "one rank's row reaches every rank: y[r] = x[root]",
    .flags = {builtin_flag("hand: notify, wait, remote_load; builtin: pld::tensor::broadcast"),
              {.name = "root",
               .kind = symrace::Flag::Kind::kInteger,
               .default_value = "0",
               .help = "whose row it is, modulo the ranks"}},
    .make = make_program<Broadcast>,
};

}  // namespace kernels
