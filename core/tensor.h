// Values of a kernel: pl::Tensor (rank-private), pl::Out, pl::Tile (on-core) and
// pld::DistributedTensor (a view of a window). All are 2-D, row-major, sized at run time.
#ifndef SYMRACE_CORE_TENSOR_H_
#define SYMRACE_CORE_TENSOR_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/checks.h"
#include "core/rank_context.h"
#include "core/region.h"
#include "core/scalar.h"
#include "core/tile_pool.h"

namespace pld {
template <pl::Element T>
class DistributedTensor;
}  // namespace pld

namespace pl {

// Rank-private memory that no peer can reach; an input. A view: the memory must outlive it, unless
// the tensor is the result of a tensor-level op, which then holds its own on-core storage.
template <Element T>
class Tensor {
 public:
  using element = T;

  Tensor() = default;
  // `row_stride` is in elements; 0 means packed.
  Tensor(T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride = 0)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride == 0 ? cols : row_stride) {}
  Tensor(symrace::TileRef storage, std::int64_t rows, std::int64_t cols)
      : Tensor(reinterpret_cast<T*>(storage->bytes()), rows, cols) {
    storage_ = std::move(storage);
  }
  template <class U>
  Tensor(const pld::DistributedTensor<U>&) {  // NOLINT: exists to name the right type
    static_assert(kNever<U>,
                  "pl::Tensor is rank-private memory, but this argument is a window: annotate the "
                  "parameter as pld::DistributedTensor<T>");
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t row_stride() const { return row_stride_; }
  const T* data() const { return data_; }
  const symrace::TileRef& storage() const { return storage_; }

  // For engines and ops; kernels read through pl::load and pl::read.
  symrace::PrivateRegion region(std::int64_t row, std::int64_t col, std::int64_t rows,
                                std::int64_t cols) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    return {reinterpret_cast<std::byte*>(data_ + row * row_stride_ + col),
            {rows, cols * kBytes, row_stride_ * kBytes}};
  }
  Tensor view(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) const {
    Tensor part(data_ + row * row_stride_ + col, rows, cols, row_stride_);
    part.storage_ = storage_;
    return part;
  }

 private:
  T* data_ = nullptr;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::int64_t row_stride_ = 0;
  symrace::TileRef storage_;
};

// pl::Out<pl::Tensor<T>>: rank-private memory that the kernel may write.
template <class TensorType>
class Out;

template <Element T>
class Out<Tensor<T>> : public Tensor<T> {
 public:
  using Tensor<T>::Tensor;
  explicit Out(const Tensor<T>& tensor) : Tensor<T>(tensor) {}
  Out view(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) const {
    return Out(Tensor<T>::view(row, col, rows, cols));
  }
};

// A 2-D on-core value, packed, at most 184 KiB. Immutable: ops return new tiles, copies share.
template <Element T>
class Tile {
 public:
  using element = T;

  Tile() = default;
  Tile(symrace::TileRef block, std::int64_t rows, std::int64_t cols)
      : block_(std::move(block)), rows_(rows), cols_(cols) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t size() const { return rows_ * cols_; }
  const symrace::TileRef& block() const { return block_; }

  // The bytes, once they have arrived (a remote_load may be deferred to this, its first use).
  const T* data(const symrace::Site& site) const {
    if (!block_) [[unlikely]]
      symrace::checks::fail_no_tile(site);
    if (block_->state != symrace::TileBlock::State::kReady) {
      symrace::current_rank(site).fabric->use(*block_, site);
    }
    return reinterpret_cast<const T*>(block_->bytes());
  }
  // For the op that makes the tile, before anyone shares it.
  T* mutable_data() { return reinterpret_cast<T*>(block_->bytes()); }

 private:
  symrace::TileRef block_;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
};

}  // namespace pl

namespace pld {

// Rank and size of the communication domain that a window belongs to.
struct CommContext {
  std::int32_t rank = 0;
  std::int32_t nranks = 0;
};

// A view of a window: symmetric memory, the same offset on every rank. Own accesses go to own
// slice; peers are reached through the pld ops only.
template <pl::Element T>
class DistributedTensor {
 public:
  using element = T;

  DistributedTensor() = default;
  DistributedTensor(const symrace::Window* window, std::int64_t rows, std::int64_t cols)
      : window_(window), rows_(rows), cols_(cols), row_stride_(cols) {}
  template <class U>
  DistributedTensor(const pl::Tensor<U>&) {  // NOLINT: exists to name the right type
    static_assert(pl::kNever<U>,
                  "pld::DistributedTensor is a window that peers can reach, but this argument is "
                  "rank-private memory: annotate the parameter as pl::Tensor<T>, or stage the data "
                  "in a window first");
  }

  const symrace::Window* window() const { return window_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

  // For engines and ops: where an element is in the slice, in bytes.
  std::uint64_t offset(std::int64_t row, std::int64_t col) const {
    return window_->offset +
           static_cast<std::uint64_t>(first_ + row * row_stride_ + col) * sizeof(T);
  }
  symrace::WindowRegion region(std::int64_t row, std::int64_t col, std::int64_t rows,
                               std::int64_t cols) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    return {
        window_, offset(row, col), {rows, cols * kBytes, row_stride_ * kBytes}, pl::dtype_of<T>()};
  }
  DistributedTensor view(std::int64_t row, std::int64_t col, std::int64_t rows,
                         std::int64_t cols) const {
    DistributedTensor part = *this;
    part.first_ += row * row_stride_ + col;
    part.rows_ = rows;
    part.cols_ = cols;
    return part;
  }

 private:
  const symrace::Window* window_ = &symrace::kNoWindow;
  std::int64_t first_ = 0;  // elements from the window's start
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::int64_t row_stride_ = 0;
};

}  // namespace pld

#endif  // SYMRACE_CORE_TENSOR_H_
