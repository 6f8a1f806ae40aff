// The ring shift by put or get: steps 06 and 07, which differ in how many ranks they take; and the
// moves of whole rows that later steps are made of.
#ifndef SYMRACE_KERNELS_PUT_GET_H_
#define SYMRACE_KERNELS_PUT_GET_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/row_program.h"

namespace kernels {

// local = pl.load(from, ...); to = pl.store(local, ..., to) of a row, tile by tile where it does
// not fit the on-core buffer: put and get move such a row in one call, but staging it is a load.
template <class From, class To>
To copy_by_tiles(const From& from, To to, pl::Location where = pl::Location::current()) {
  constexpr std::int64_t kTileCols = symrace::kOnCoreBytes / sizeof(typename From::element);
  for (std::int64_t col = 0; col < from.cols(); col += kTileCols) {
    const auto local = pl::load(from, {0, col}, {1, std::min(kTileCols, from.cols() - col)}, where);
    to = pl::store(local, {0, col}, to, pld::AtomicType::None_, where);
  }
  return to;
}

// The same for every row.
template <class From, class To>
void copy_rows_by_tiles(const From& from, const To& to,
                        pl::Location where = pl::Location::current()) {
  for (std::int64_t row = 0; row < from.rows(); ++row) {
    copy_by_tiles(from.view(row, 0, 1, from.cols()), to.view(row, 0, 1, from.cols()), where);
  }
}

// A put of a row of own `src` into a row of peer's `dst`, in one chunk where it fits the on-core
// buffer. The last of several is not released by a notify on hardware, so they need a fence.
template <class T>
void push_row(const pld::DistributedTensor<T>& src, std::int64_t src_row,
              const pld::DistributedTensor<T>& dst, std::int32_t peer, std::int64_t dst_row,
              pl::Location where = pl::Location::current()) {
  constexpr std::int64_t kChunkCols = symrace::kOnCoreBytes / 2 / sizeof(T);
  const bool fits = src.cols() <= symrace::kOnCoreBytes / static_cast<std::int64_t>(sizeof(T));
  pld::TransferOptions options{.dst_offsets = pl::Offsets{dst_row, 0},
                               .src_offsets = pl::Offsets{src_row, 0},
                               .shape = pl::Shape{1, src.cols()}};
  if (!fits) {
    options.chunk_rows = 1;
    options.chunk_cols = kChunkCols;
    options.pipeline = true;
  }
  pld::tensor::put(dst, peer, src, pld::AtomicType::None_, options, where);
  if (!fits) pld::system::fence(where);
}

template <class T>
void put_step(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
              pld::DistributedTensor<T> dst, pld::DistributedTensor<std::int32_t> signal,
              pld::TransferOptions options) {
  const auto ctx = pld::get_comm_ctx(src);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  src = copy_by_tiles(x, src);

  const auto peer = (my_rank + 1) % nranks;
  pld::tensor::put(dst, peer, src, pld::AtomicType::None_, options);

  pld::system::notify(signal, peer, {0, 0}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Ge);

  y = copy_by_tiles(dst, y);
}

template <class T>
void get_step(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
              pld::DistributedTensor<T> dst, pld::DistributedTensor<std::int32_t> signal,
              pld::TransferOptions options) {
  const auto ctx = pld::get_comm_ctx(src);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  src = copy_by_tiles(x, src);

  const auto get_peer = (my_rank + 1) % nranks;
  // Notify the rank that reads from us (the previous rank); our wait is then satisfied by exactly
  // the rank we get from (the next rank). nranks is added before the -1 so the dividend is never
  // negative.
  pld::system::notify(signal, (my_rank + nranks - 1) % nranks, {0, 0}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Ge);

  pld::tensor::get(dst, get_peer, src, options);

  y = copy_by_tiles(dst, y);
}

template <class T>
class PutGet : public RowProgram<T> {
 public:
  enum class Mode { kPut, kGet };

  explicit PutGet(const symrace::Arguments& arguments)
      : PutGet(arguments, arguments.choice("mode") == "get" ? Mode::kGet : Mode::kPut,
               {.chunk_rows = arguments.integer("chunk-rows"),
                .chunk_cols = arguments.integer("chunk-cols"),
                .pipeline = arguments.is_set("pipeline")}) {}

 protected:
  // src and dst have `window_rows` rows, of which the first is staged and compared.
  PutGet(const symrace::Arguments& arguments, Mode mode, pld::TransferOptions options,
         std::int64_t window_rows = 1)
      : RowProgram<T>(arguments),
        mode_(mode),
        options_(options),
        window_shape_{window_rows, arguments.size} {
    this->expect_ring_shift(mode == Mode::kPut ? -1 : +1);
  }

 private:
  void host(pld::Host& host) override {
    const auto src_buffer = host.alloc_window_buffer(window_shape_, pl::dtype_of<T>(), "src");
    const auto dst_buffer = host.alloc_window_buffer(window_shape_, pl::dtype_of<T>(), "dst");
    const auto signal_buffer = host.alloc_window_buffer({1, 1}, pl::DType::INT32, "signal");
    const auto src = host.window<T>(src_buffer, window_shape_);
    const auto dst = host.window<T>(dst_buffer, window_shape_);
    const auto signal = host.window<std::int32_t>(signal_buffer, {1, 1});
    const auto kernel = mode_ == Mode::kPut ? put_step<T> : get_step<T>;
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), kernel, this->x(r), this->y(r), src, dst, signal, options_);
    }
  }

  Mode mode_;
  pld::TransferOptions options_;
  pl::Shape window_shape_;
};

// The flags that PutGet reads.
inline std::vector<symrace::Flag> put_get_flags() {
  using Kind = symrace::Flag::Kind;
  return {{.name = "mode",
           .default_value = "put",
           .choices = {"put", "get"},
           .help = "put: y[r] = x[(r-1) % N]; get: y[r] = x[(r+1) % N]"},
          {.name = "chunk-rows",
           .kind = Kind::kInteger,
           .default_value = "0",
           .help = "rows a chunk; a slice has one row; 0: unchunked"},
          {.name = "chunk-cols",
           .kind = Kind::kInteger,
           .default_value = "0",
           .help = "elements of a row a chunk; 0: unchunked"},
          {.name = "pipeline",
           .kind = Kind::kSwitch,
           .default_value = "",
           .help = "overlap the staging of the next chunk; needs both chunk sizes"}};
}

}  // namespace kernels

#endif  // SYMRACE_KERNELS_PUT_GET_H_
