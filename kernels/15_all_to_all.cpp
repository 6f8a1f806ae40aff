// Step 15: every rank brings a row for each rank, and gets the rows that all brought for it. With
// counts (all_to_all_v), rank s brings (s + d) % (rows + 1) rows for rank d.
#include "kernels/barrier_by_hand.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

constexpr std::int64_t kMostRows = 2;  // MAX_RECV, with counts

std::int32_t count_of(std::int64_t source, std::int64_t destination) {
  return static_cast<std::int32_t>((source + destination) % (kMostRows + 1));
}

// Row d of x is for rank d; row s of y is from rank s.
template <class T>
void all_to_all_by_hand(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> stage,
                        pld::DistributedTensor<T> data,
                        pld::DistributedTensor<std::int32_t> signal) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  copy_rows_by_tiles(x, stage);
  for (std::int32_t peer = 0; peer < nranks; ++peer) {
    push_row(stage, peer, data, peer, my_rank);
  }

  barrier_by_hand(signal, 0);

  copy_rows_by_tiles(data, y);
}

template <class T>
void all_to_all_builtin(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> stage,
                        pld::DistributedTensor<T> data,
                        pld::DistributedTensor<std::int32_t> signal) {
  copy_rows_by_tiles(x, stage);
  data = pld::tensor::all_to_all(stage, data, signal);
  copy_rows_by_tiles(data, y);
}

// Blocks of kMostRows rows. What was not sent stays zero in y.
template <class T, bool IsBuiltin>
void all_to_all_v(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> stage,
                  pld::DistributedTensor<T> data, pld::DistributedTensor<std::int32_t> signal,
                  pld::DistributedTensor<std::int32_t> send_counts,
                  pld::DistributedTensor<std::int32_t> recv_counts) {
  const auto ctx = pld::get_comm_ctx(data);
  const std::int32_t my_rank = pld::rank(ctx);
  const std::int32_t nranks = pld::nranks(ctx);

  copy_rows_by_tiles(x, stage);
  for (std::int32_t peer = 0; peer < nranks; ++peer) {
    pl::write(send_counts, {peer, 0}, count_of(my_rank, peer));
  }

  if constexpr (IsBuiltin) {
    data = pld::tensor::all_to_all_v(stage, data, signal, send_counts, recv_counts);
  } else {
    for (std::int32_t peer = 0; peer < nranks; ++peer) {
      const std::int32_t count = pl::read(send_counts, {peer, 0});
      for (std::int64_t row = 0; row < count; ++row) {
        push_row(stage, peer * kMostRows + row, data, peer, my_rank * kMostRows + row);
      }
      pld::system::notify(recv_counts, peer, {my_rank, 0}, count, pld::NotifyOp::Set);
    }
    // On hardware a notify does not wait for an earlier one: the counts come first by this.
    pld::system::fence();
    barrier_by_hand(signal, 0);
  }

  const std::int64_t cols = x.cols();
  for (std::int32_t src = 0; src < nranks; ++src) {
    const std::int64_t count = pl::read(recv_counts, {src, 0}).value();
    for (std::int64_t row = src * kMostRows; row < (src + 1) * kMostRows; ++row) {
      if (row < src * kMostRows + count) {
        copy_by_tiles(data.view(row, 0, 1, cols), y.view(row, 0, 1, cols));
      } else {
        by_tiles<T>(0, cols, [&](std::int64_t col, std::int64_t part) {
          pl::store(pl::full<T>({1, part}, 0), {row, col}, y);
        });
      }
    }
  }
}

template <class T>
class AllToAll final : public RowProgram<T> {
 public:
  explicit AllToAll(const symrace::Arguments& arguments)
      : AllToAll(arguments, arguments.is_set("counts") ? kMostRows : 1) {}

 private:
  AllToAll(const symrace::Arguments& arguments, std::int64_t rows)
      : RowProgram<T>(arguments, arguments.ranks * rows * arguments.size,
                      arguments.ranks * rows * arguments.size),
        is_builtin_(arguments.choice("mode") == "builtin"),
        has_counts_(arguments.is_set("counts")),
        rows_(rows) {
    Matrix<T> golden(this->ranks(), this->ranks() * rows * this->size());
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      for (std::int64_t src = 0; src < this->ranks(); ++src) {
        const std::int64_t sent = has_counts_ ? count_of(src, r) : 1;
        std::copy_n(this->input().row(src) + r * rows * this->size(), sent * this->size(),
                    golden.row(r) + src * rows * this->size());
      }
    }
    this->expect(std::move(golden));
  }

  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const pl::Shape rows{n * rows_, this->size()};
    const pl::Shape column{n, 1};
    const pl::Shape cells = is_builtin_ ? column : pl::Shape{1, n};
    const auto stage_buffer = host.alloc_window_buffer(rows, pl::dtype_of<T>(), "stage");
    const auto data_buffer = host.alloc_window_buffer(rows, pl::dtype_of<T>(), "data");
    const auto signal_buffer = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    const auto stage = host.window<T>(stage_buffer, rows);
    const auto data = host.window<T>(data_buffer, rows);
    const auto signal = host.window<std::int32_t>(signal_buffer, cells);
    if (!has_counts_) {
      const auto kernel = is_builtin_ ? all_to_all_builtin<T> : all_to_all_by_hand<T>;
      for (std::int64_t r = 0; r < n; ++r) {
        host.dispatch(pld::device(r), kernel, this->x(r, n), this->y(r, n), stage, data, signal);
      }
      return;
    }
    const auto send_buffer = host.alloc_window_buffer(column, pl::DType::INT32, "send_counts");
    const auto recv_buffer = host.alloc_window_buffer(column, pl::DType::INT32, "recv_counts");
    const auto send_counts = host.window<std::int32_t>(send_buffer, column);
    const auto recv_counts = host.window<std::int32_t>(recv_buffer, column);
    const auto kernel = is_builtin_ ? all_to_all_v<T, true> : all_to_all_v<T, false>;
    for (std::int64_t r = 0; r < n; ++r) {
      host.dispatch(pld::device(r), kernel, this->x(r, n * rows_), this->y(r, n * rows_), stage,
                    data, signal, send_counts, recv_counts);
    }
  }

  bool is_builtin_;
  bool has_counts_;
  std::int64_t rows_;  // a block
};

}  // namespace

const symrace::ProgramInfo kAllToAll = {
    .name = "15_all_to_all",
    .summary = "every rank sends every rank a row of its own, or as many as it has",
    .flags = {builtin_flag("hand: put, notify, wait; builtin: pld::tensor::all_to_all"),
              {.name = "counts",
               .kind = symrace::Flag::Kind::kSwitch,
               .default_value = "",
               .help = "all_to_all_v: (src + dst) % 3 rows from src to dst"}},
    .make = make_program<AllToAll>,
    .sizes_a_row = [](const symrace::Arguments& a) -> std::int64_t {
      return a.ranks * (a.is_set("counts") ? kMostRows : std::int64_t{1});
    },
};

}  // namespace kernels
