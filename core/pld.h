// The `pld` ops: one-sided moves between ranks, and the signals that order them.
//
// Ordering guarantees (docs/memory-model.md): remote_load and get are complete on return (except
// under `weak`); remote_store and put are posted, and become visible to a peer that has waited for
// a notify which releases them. Nothing else orders two ranks. Misuse throws symrace::KernelError
// before anything moves.
#ifndef SYMRACE_CORE_PLD_H_
#define SYMRACE_CORE_PLD_H_

#include <optional>
#include <source_location>

#include "core/checks.h"
#include "core/collectives.h"
#include "core/pl.h"
#include "core/tensor.h"

namespace pld {

using pl::Location;
using pl::Offsets;
using pl::OpKind;
using pl::Shape;
using pl::Site;

template <pl::Element T>
CommContext get_comm_ctx(const DistributedTensor<T>&, Location where = Location::current()) {
  const auto& context = symrace::current_rank({OpKind::kUse, where});
  return {context.rank, context.world_size};
}
inline pl::Scalar<std::int32_t> rank(const CommContext& context) { return context.rank; }
inline pl::Scalar<std::int32_t> nranks(const CommContext& context) { return context.nranks; }
inline pl::Scalar<std::int32_t> world_size(Location where = Location::current()) {
  return symrace::current_rank({OpKind::kUse, where}).world_size;
}

namespace detail {

template <pl::Element T>
symrace::Cell cell(const Site& site, const DistributedTensor<T>& signal, Offsets offsets) {
  static_assert(std::same_as<T, std::int32_t>,
                "signal cells are INT32: make the window with pl::DType::INT32");
  const std::int64_t row = offsets.row.value();
  const std::int64_t col = offsets.col.value();
  if (row < 0 || row >= signal.rows() || col < 0 || col >= signal.cols()) [[unlikely]] {
    symrace::checks::fail_cell(site, row, col, signal.rows(), signal.cols(), signal.window()->name);
  }
  return {signal.window(), signal.offset(row, col)};
}

template <pl::Element T>
pl::Tile<T> remote_load(const DistributedTensor<T>& source, pl::Index peer, Offsets offsets,
                        Shape shape, Location where) {
  const Site site{OpKind::kRemoteLoad, where};
  auto& context = symrace::current_rank(site);
  const std::int32_t target = symrace::checks::peer(site, peer, context.world_size);
  const auto r = symrace::checks::region(site, offsets, shape, pl::detail::bounds(source));
  pl::Tile<T> tile = pl::detail::new_tile<T>(site, r.rows, r.cols);
  context.fabric->remote_load(target, source.region(r.row, r.col, r.rows, r.cols), tile.block(),
                              site);
  return tile;
}

template <pl::Element T>
void remote_store(const pl::Tile<T>& source, const DistributedTensor<T>& target, pl::Index peer,
                  Offsets offsets, AtomicType atomic, Location where) {
  const Site site{OpKind::kRemoteStore, where};
  auto& context = symrace::current_rank(site);
  const std::int32_t to = symrace::checks::peer(site, peer, context.world_size);
  const auto r = symrace::checks::region(site, offsets, {source.rows(), source.cols()},
                                         pl::detail::bounds(target));
  source.data(site);
  context.fabric->remote_store(source.block(), to, target.region(r.row, r.col, r.rows, r.cols),
                               atomic, site);
}

}  // namespace detail

namespace tile {

// Pulls the region of peer's slice into a tile.
template <pl::Element T>
pl::Tile<T> remote_load(const DistributedTensor<T>& source, pl::Index peer, Offsets offsets,
                        Shape shape, Location where = Location::current()) {
  return detail::remote_load(source, peer, offsets, shape, where);
}

// Pushes the tile into peer's slice at `offsets`; Add combines with what is there, atomically per
// element.
template <pl::Element T>
void remote_store(const pl::Tile<T>& source, const DistributedTensor<T>& target, pl::Index peer,
                  Offsets offsets, AtomicType atomic = AtomicType::None_,
                  Location where = Location::current()) {
  detail::remote_store(source, target, peer, offsets, atomic, where);
}

}  // namespace tile

// Sub-region form of put and get: dst_offsets, src_offsets and shape, all or none. Chunk sizes are
// in elements, 0 for unchunked; a staging tile of one chunk (two with pipeline) must fit on-core.
struct TransferOptions {
  std::optional<Offsets> dst_offsets = std::nullopt;
  std::optional<Offsets> src_offsets = std::nullopt;
  std::optional<Shape> shape = std::nullopt;
  pl::Index chunk_rows = 0;
  pl::Index chunk_cols = 0;
  bool pipeline = false;
};

namespace detail {

struct Transfer {
  symrace::checks::Region dst, src;
  symrace::Chunking chunking;
};

Transfer check_transfer(const Site& site, const symrace::checks::Bounds& dst,
                        const symrace::checks::Bounds& src, std::int64_t element_bytes,
                        const TransferOptions& options);

// The local end of a transfer: a window view or rank-private memory.
template <pl::Element T>
class LocalEnd {
 public:
  LocalEnd(const DistributedTensor<T>& window, const symrace::checks::Region& r)
      : window_(window.region(r.row, r.col, r.rows, r.cols)) {
    local_.window = &window_;
  }
  LocalEnd(const pl::Tensor<T>& tensor, const symrace::checks::Region& r) {
    local_.memory = tensor.region(r.row, r.col, r.rows, r.cols);
    local_.keep_alive = tensor.storage();
  }
  LocalEnd(const LocalEnd&) = delete;
  LocalEnd& operator=(const LocalEnd&) = delete;
  const symrace::LocalRegion& operator*() const { return local_; }

 private:
  symrace::WindowRegion window_;
  symrace::LocalRegion local_;
};

}  // namespace detail

namespace tensor {

// Tensor-level forms of remote_load and remote_store: values are tensors, not tiles.
template <pl::Element T>
pl::Tensor<T> remote_load(const DistributedTensor<T>& source, pl::Index peer, Offsets offsets,
                          Shape shape, Location where = Location::current()) {
  const pl::Tile<T> tile = detail::remote_load(source, peer, offsets, shape, where);
  tile.data({OpKind::kRemoteLoad, where});
  return pl::detail::tensor_of(tile);
}

template <pl::Element T>
void remote_store(const pl::Tensor<T>& source, const DistributedTensor<T>& target, pl::Index peer,
                  Offsets offsets, AtomicType atomic = AtomicType::None_,
                  Location where = Location::current()) {
  const pl::Tile<T> tile = pl::load(source, {0, 0}, {source.rows(), source.cols()}, where);
  detail::remote_store(tile, target, peer, offsets, atomic, where);
}

// Push: `src` lands in peer's `dst`. `atomic` has no default: say None_ for a plain overwrite, Add
// to combine. `src` is own slice of a window, or rank-private memory.
template <pl::Element T, class Source>
void put(const DistributedTensor<T>& dst, pl::Index peer, const Source& src, AtomicType atomic,
         const TransferOptions& options = {}, Location where = Location::current()) {
  static_assert(std::same_as<typename Source::element, T>,
                "put operands differ in dtype: cast the source first");
  const Site site{OpKind::kPut, where};
  auto& context = symrace::current_rank(site);
  const std::int32_t to = symrace::checks::peer(site, peer, context.world_size);
  const auto transfer = detail::check_transfer(site, pl::detail::bounds(dst),
                                               pl::detail::bounds(src), sizeof(T), options);
  const auto& d = transfer.dst;
  context.fabric->put(to, dst.region(d.row, d.col, d.rows, d.cols),
                      *detail::LocalEnd<T>(src, transfer.src), atomic, transfer.chunking, site);
}

// Exists to name the rule.
template <pl::Element T, class Source>
void put(const DistributedTensor<T>&, pl::Index, const Source&) {
  static_assert(
      pl::kNever<T>,
      "put has no default update mode: pass pld::AtomicType::None_ for a plain overwrite, "
      "or pld::AtomicType::Add to combine");
}

// Pull: peer's `src` lands in own `dst`, a window or rank-private memory that may be written.
template <pl::Element T, class Destination>
void get(const Destination& dst, pl::Index peer, const DistributedTensor<T>& src,
         const TransferOptions& options = {}, Location where = Location::current()) {
  static_assert(std::same_as<typename Destination::element, T>,
                "get operands differ in dtype: cast after the move");
  static_assert(!std::same_as<Destination, pl::Tensor<T>>,
                "get writes its destination: annotate it as pl::Out<pl::Tensor<T>>");
  const Site site{OpKind::kGet, where};
  auto& context = symrace::current_rank(site);
  const std::int32_t from = symrace::checks::peer(site, peer, context.world_size);
  const auto transfer = detail::check_transfer(site, pl::detail::bounds(dst),
                                               pl::detail::bounds(src), sizeof(T), options);
  const auto& s = transfer.src;
  context.fabric->get(*detail::LocalEnd<T>(dst, transfer.dst), from,
                      src.region(s.row, s.col, s.rows, s.cols), transfer.chunking, site);
}

}  // namespace tensor

// Short forms: the operand decides.
template <pl::Element T>
pl::Tile<T> remote_load(const DistributedTensor<T>& source, pl::Index peer, Offsets offsets,
                        Shape shape, Location where = Location::current()) {
  return tile::remote_load(source, peer, offsets, shape, where);
}
template <pl::Element T>
void remote_store(const pl::Tile<T>& source, const DistributedTensor<T>& target, pl::Index peer,
                  Offsets offsets, AtomicType atomic = AtomicType::None_,
                  Location where = Location::current()) {
  tile::remote_store(source, target, peer, offsets, atomic, where);
}
template <pl::Element T>
void remote_store(const pl::Tensor<T>& source, const DistributedTensor<T>& target, pl::Index peer,
                  Offsets offsets, AtomicType atomic = AtomicType::None_,
                  Location where = Location::current()) {
  tensor::remote_store(source, target, peer, offsets, atomic, where);
}

namespace system {

// Adds `value` to (or sets) peer's cell. What it releases, i.e. what has landed before it does, is
// the memory model's answer.
template <pl::Element T>
void notify(const DistributedTensor<T>& signal, pl::Index peer, Offsets offsets, std::int32_t value,
            NotifyOp op, Location where = Location::current()) {
  const Site site{OpKind::kNotify, where};
  auto& context = symrace::current_rank(site);
  const std::int32_t to = symrace::checks::peer(site, peer, context.world_size);
  context.fabric->notify(to, detail::cell(site, signal, offsets), value, op, site);
}

// Blocks until own cell compares true with `expected`.
template <pl::Element T>
void wait(const DistributedTensor<T>& signal, Offsets offsets, std::int32_t expected, WaitCmp cmp,
          Location where = Location::current()) {
  const Site site{OpKind::kWait, where};
  symrace::current_rank(site).fabric->wait(detail::cell(site, signal, offsets), expected, cmp,
                                           site);
}

// Whether own cell compares true now; orders like a wait when it does.
template <pl::Element T>
bool test(const DistributedTensor<T>& signal, Offsets offsets, std::int32_t expected, WaitCmp cmp,
          Location where = Location::current()) {
  const Site site{OpKind::kTest, where};
  return symrace::current_rank(site).fabric->test(detail::cell(site, signal, offsets), expected,
                                                  cmp, site);
}

// Blocks until every transfer of this rank has landed at its target.
inline void fence(Location where = Location::current()) {
  const Site site{OpKind::kFence, where};
  symrace::current_rank(site).fabric->fence(site);
}

}  // namespace system
}  // namespace pld

#endif  // SYMRACE_CORE_PLD_H_
