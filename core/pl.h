// The `pl` ops: moves between memory and tiles, tile arithmetic, and the tensor-level form.
//
// A move from or to a pl::Tensor touches rank-private memory only. A load or store on a
// pld::DistributedTensor touches own slice of the window; how late a store may become visible to
// peers is the memory model's answer (docs/memory-model.md), but a rank always sees its own.
// Misuse throws symrace::KernelError before anything moves.
#ifndef SYMRACE_CORE_PL_H_
#define SYMRACE_CORE_PL_H_

#include <source_location>
#include <utility>

#include "core/arithmetic.h"
#include "core/checks.h"
#include "core/tensor.h"
#include "core/tile_arithmetic.h"

namespace pl {

using pld::AtomicType;
using symrace::OpKind;
using symrace::Site;
using Location = std::source_location;

namespace detail {

template <Element T>
symrace::checks::Bounds bounds(const Tensor<T>& tensor) {
  return {tensor.rows(), tensor.cols(), nullptr};
}
template <Element T>
symrace::checks::Bounds bounds(const pld::DistributedTensor<T>& window) {
  return {window.rows(), window.cols(), window.window()->name};
}
template <Element T>
symrace::checks::Bounds bounds(const Tile<T>& tile) {
  return {tile.rows(), tile.cols(), nullptr};
}

template <Element T>
Tile<T> new_tile(const Site& site, std::int64_t rows, std::int64_t cols) {
  symrace::checks::tile_fits(site, rows, cols, sizeof(T));
  auto& context = symrace::current_rank(site);
  return Tile<T>(context.tiles->allocate(static_cast<std::size_t>(rows * cols) * sizeof(T)), rows,
                 cols);
}

// Before `elements` of a tensor move: those of a tensor-level value are on core already.
template <Element T>
void begin_private_move(const Site& site, const Tensor<T>& tensor, std::int64_t elements) {
  if (tensor.storage()) return symrace::settle_private_memory(site);
  symrace::begin_private_move(site, elements * static_cast<std::int64_t>(sizeof(T)));
}

// Packed on-core bytes → rank-private memory.
template <Element T>
void write_private(const T* from, const symrace::PrivateRegion& to, AtomicType atomic) {
  const std::int64_t cols = to.extent.row_bytes / static_cast<std::int64_t>(sizeof(T));
  if (atomic == AtomicType::None_) {
    symrace::copy_rows(to.data, to.extent.stride, reinterpret_cast<const std::byte*>(from),
                       to.extent.row_bytes, to.extent.rows, to.extent.row_bytes);
    return;
  }
  for (std::int64_t row = 0; row < to.extent.rows; ++row) {
    T* out = reinterpret_cast<T*>(to.data + row * to.extent.stride);
    for (std::int64_t col = 0; col < cols; ++col) {
      out[col] = arithmetic::add(out[col], from[row * cols + col]);
    }
  }
}

}  // namespace detail

// --- Moves ------------------------------------------------------------------------------------

// The region [offsets, offsets + shape) of rank-private memory, as a tile.
template <Element T>
Tile<T> load(const Tensor<T>& source, Offsets offsets, Shape shape,
             Location where = Location::current()) {
  const Site site{OpKind::kLoad, where};
  const auto r = symrace::checks::region(site, offsets, shape, detail::bounds(source));
  Tile<T> tile = detail::new_tile<T>(site, r.rows, r.cols);
  detail::begin_private_move(site, source, r.rows * r.cols);
  const auto from = source.region(r.row, r.col, r.rows, r.cols);
  symrace::copy_rows(tile.block()->bytes(), from.extent.row_bytes, from.data, from.extent.stride,
                     r.rows, from.extent.row_bytes);
  return tile;
}

// The same from own slice of a window: the value is taken when the op runs.
template <Element T>
Tile<T> load(const pld::DistributedTensor<T>& source, Offsets offsets, Shape shape,
             Location where = Location::current()) {
  const Site site{OpKind::kLoad, where};
  const auto r = symrace::checks::region(site, offsets, shape, detail::bounds(source));
  Tile<T> tile = detail::new_tile<T>(site, r.rows, r.cols);
  symrace::current_rank(site).fabric->load(source.region(r.row, r.col, r.rows, r.cols),
                                           *tile.block(), site);
  return tile;
}

// Writes the tile at `offsets`, or adds it to what is there; returns the target, so that
// `y = pl::store(tile, {0, 0}, y)` reads as in the documents.
template <Element T>
Out<Tensor<T>> store(const Tile<T>& tile, Offsets offsets, const Out<Tensor<T>>& target,
                     AtomicType atomic = AtomicType::None_, Location where = Location::current()) {
  const Site site{OpKind::kStore, where};
  const auto r =
      symrace::checks::region(site, offsets, {tile.rows(), tile.cols()}, detail::bounds<T>(target));
  detail::begin_private_move<T>(site, target, r.rows * r.cols);
  detail::write_private(tile.data(site), target.region(r.row, r.col, r.rows, r.cols), atomic);
  return target;
}

template <Element T>
pld::DistributedTensor<T> store(const Tile<T>& tile, Offsets offsets,
                                const pld::DistributedTensor<T>& target,
                                AtomicType atomic = AtomicType::None_,
                                Location where = Location::current()) {
  const Site site{OpKind::kStore, where};
  const auto r =
      symrace::checks::region(site, offsets, {tile.rows(), tile.cols()}, detail::bounds(target));
  tile.data(site);
  symrace::current_rank(site).fabric->store(
      tile.block(), target.region(r.row, r.col, r.rows, r.cols), atomic, site);
  return target;
}

// The tensor-level form: stores a tensor-level value.
template <Element T, class Target>
Target store(const Tensor<T>& value, Offsets offsets, const Target& target,
             AtomicType atomic = AtomicType::None_, Location where = Location::current()) {
  return store(load(value, {0, 0}, {value.rows(), value.cols()}, where), offsets, target, atomic,
               where);
}

// One element, as a scalar.
template <Element T>
Scalar<T> read(const Tensor<T>& source, Offsets offsets, Location where = Location::current()) {
  const Site site{OpKind::kRead, where};
  const auto r = symrace::checks::region(site, offsets, {1, 1}, detail::bounds(source));
  detail::begin_private_move(site, source, 1);
  return Scalar<T>(source.data()[r.row * source.row_stride() + r.col]);
}

template <Element T>
Scalar<T> read(const pld::DistributedTensor<T>& source, Offsets offsets,
               Location where = Location::current()) {
  const Site site{OpKind::kRead, where};
  const auto r = symrace::checks::region(site, offsets, {1, 1}, detail::bounds(source));
  Tile<T> cell = detail::new_tile<T>(site, 1, 1);
  symrace::current_rank(site).fabric->load(source.region(r.row, r.col, 1, 1), *cell.block(), site);
  return Scalar<T>(*cell.data(site));
}

template <Element T>
void write(const Out<Tensor<T>>& target, Offsets offsets, std::type_identity_t<Scalar<T>> value,
           Location where = Location::current()) {
  const Site site{OpKind::kWrite, where};
  const auto r = symrace::checks::region(site, offsets, {1, 1}, detail::bounds<T>(target));
  const T element = value.value();
  detail::begin_private_move<T>(site, target, 1);
  detail::write_private(&element, target.region(r.row, r.col, 1, 1), AtomicType::None_);
}

template <Element T>
void write(const pld::DistributedTensor<T>& target, Offsets offsets,
           std::type_identity_t<Scalar<T>> value, Location where = Location::current()) {
  const Site site{OpKind::kWrite, where};
  const auto r = symrace::checks::region(site, offsets, {1, 1}, detail::bounds(target));
  Tile<T> cell = detail::new_tile<T>(site, 1, 1);
  *cell.mutable_data() = value.value();
  symrace::current_rank(site).fabric->store(cell.block(), target.region(r.row, r.col, 1, 1),
                                            AtomicType::None_, site);
}

// --- Views ------------------------------------------------------------------------------------

// x[row : row + rows, col : col + cols]; moves nothing.
template <class TensorLike>
  requires requires(const TensorLike& t) { t.view(0, 0, 0, 0); }
TensorLike slice(const TensorLike& source, Offsets offsets, Shape shape,
                 Location where = Location::current()) {
  const Site site{OpKind::kUse, where};
  const auto r = symrace::checks::region(site, offsets, shape, detail::bounds(source));
  return source.view(r.row, r.col, r.rows, r.cols);
}

template <Element T>
Tile<T> slice(const Tile<T>& source, Offsets offsets, Shape shape,
              Location where = Location::current()) {
  const Site site{OpKind::kUse, where};
  const auto r = symrace::checks::region(site, offsets, shape, detail::bounds(source));
  Tile<T> part = detail::new_tile<T>(site, r.rows, r.cols);
  const T* from = source.data(site) + r.row * source.cols() + r.col;
  const auto row_bytes = r.cols * static_cast<std::int64_t>(sizeof(T));
  symrace::copy_rows(part.block()->bytes(), row_bytes, reinterpret_cast<const std::byte*>(from),
                     source.cols() * static_cast<std::int64_t>(sizeof(T)), r.rows, row_bytes);
  return part;
}

// --- Tile arithmetic ----------------------------------------------------------------------------

namespace detail {

template <Element T>
Tile<T> elementwise(Arithmetic op, const Tile<T>& a, const Tile<T>& b, const Site& site) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    symrace::checks::fail(site, "operands differ in shape: [" + std::to_string(a.rows()) + ", " +
                                    std::to_string(a.cols()) + "] and [" +
                                    std::to_string(b.rows()) + ", " + std::to_string(b.cols()) +
                                    "]; slice them to one shape");
  }
  Tile<T> result = new_tile<T>(site, a.rows(), a.cols());
  // Each look at a tile may wait for it: in this order, with every compiler.
  const T* const first = a.data(site);
  const T* const second = b.data(site);
  combine(op, first, second, result.mutable_data(), a.size());
  return result;
}

template <Element T>
Tile<T> elementwise(Arithmetic op, const Tile<T>& a, T b, const Site& site) {
  Tile<T> result = new_tile<T>(site, a.rows(), a.cols());
  combine_with(op, a.data(site), b, result.mutable_data(), a.size());
  return result;
}

template <Element T, class Number>
T to_element(Number value) {
  if constexpr (requires { value.value(); }) {
    return arithmetic::cast<T>(value.value());
  } else {
    return arithmetic::cast<T>(value);
  }
}

template <class N>
concept Number = std::is_arithmetic_v<N> || Element<N> || requires(N n) {
  { n.value() } -> Element;
};

// Tensor-level ops run on a core: only inside pl::at.
template <Element T>
Tile<T> tile_of(const Tensor<T>& tensor, const Site& site) {
  if (!symrace::current_rank(site).in_core_group) {
    symrace::checks::fail(site,
                          "arithmetic on a pl::Tensor runs on a core; put it inside "
                          "pl::at(pl::Level::CORE_GROUP, [&] { ... }), or pl::load a tile first");
  }
  return load(tensor, {0, 0}, {tensor.rows(), tensor.cols()}, site.where);
}

template <Element T>
Tensor<T> tensor_of(const Tile<T>& tile) {
  return Tensor<T>(tile.block(), tile.rows(), tile.cols());
}

}  // namespace detail

#define SYMRACE_ARITHMETIC(name, op)                                                             \
  template <Element T>                                                                           \
  Tile<T> name(const Tile<T>& a, const Tile<T>& b, Location where = Location::current()) {       \
    return detail::elementwise(op, a, b, {OpKind::kUse, where});                                 \
  }                                                                                              \
  template <Element T, detail::Number N>                                                         \
  Tile<T> name(const Tile<T>& a, N b, Location where = Location::current()) {                    \
    return detail::elementwise(op, a, detail::to_element<T>(b), {OpKind::kUse, where});          \
  }                                                                                              \
  template <Element T>                                                                           \
  Tensor<T> name(const Tensor<T>& a, const Tensor<T>& b, Location where = Location::current()) { \
    const Site site{OpKind::kUse, where};                                                        \
    return detail::tensor_of(name(detail::tile_of(a, site), detail::tile_of(b, site), where));   \
  }                                                                                              \
  template <Element T, detail::Number N>                                                         \
  Tensor<T> name(const Tensor<T>& a, N b, Location where = Location::current()) {                \
    const Site site{OpKind::kUse, where};                                                        \
    return detail::tensor_of(name(detail::tile_of(a, site), b, where));                          \
  }

SYMRACE_ARITHMETIC(add, detail::Arithmetic::kAdd)
SYMRACE_ARITHMETIC(sub, detail::Arithmetic::kSub)
SYMRACE_ARITHMETIC(mul, detail::Arithmetic::kMul)
SYMRACE_ARITHMETIC(max, detail::Arithmetic::kMax)
SYMRACE_ARITHMETIC(min, detail::Arithmetic::kMin)
#undef SYMRACE_ARITHMETIC

// Element by element; floating to integer rounds to nearest even and saturates.
template <Element To, Element From>
Tile<To> cast(const Tile<From>& tile, Location where = Location::current()) {
  const Site site{OpKind::kUse, where};
  Tile<To> result = detail::new_tile<To>(site, tile.rows(), tile.cols());
  detail::convert(tile.data(site), result.mutable_data(), tile.size());
  return result;
}

template <Element To, Element From>
Tensor<To> cast(const Tensor<From>& tensor, Location where = Location::current()) {
  const Site site{OpKind::kUse, where};
  return detail::tensor_of(cast<To>(detail::tile_of(tensor, site), where));
}

// A tile of one value.
template <Element T, detail::Number N>
Tile<T> full(Shape shape, N value, Location where = Location::current()) {
  const Site site{OpKind::kUse, where};
  if (shape.rows.value() < 0 || shape.cols.value() < 0) {
    symrace::checks::fail(site, "pl::full with a negative extent; expected rows, cols >= 0");
  }
  Tile<T> tile = detail::new_tile<T>(site, shape.rows.value(), shape.cols.value());
  detail::fill(detail::to_element<T>(value), tile.mutable_data(), tile.size());
  return tile;
}

// --- Levels -------------------------------------------------------------------------------------

enum class Level { CORE_GROUP };

// Runs `body` on a core group of this rank: the tensor-level form, whose values are tensors.
template <class Body>
void at(Level, Body&& body, Location where = Location::current()) {
  const Site site{OpKind::kUse, where};
  auto& context = symrace::current_rank(site);
  if (context.in_core_group) {
    symrace::checks::fail(site, "pl::at inside pl::at; a core group does not nest");
  }
  struct Region {
    bool& flag;
    explicit Region(bool& f) : flag(f) { flag = true; }
    ~Region() { flag = false; }
  } region(context.in_core_group);
  std::forward<Body>(body)();
}

}  // namespace pl

#endif  // SYMRACE_CORE_PL_H_
