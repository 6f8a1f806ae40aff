#include "core/collectives.h"

#include <absl/strings/str_cat.h>

namespace pld {
namespace detail {

CreditBarrier::CreditBarrier(const DistributedTensor<std::int32_t>& signal, const Site& site)
    : signal_(signal), site_(site), context_(symrace::current_rank(site)) {
  if (signal.rows() < context_.world_size || signal.cols() < 1) {
    symrace::checks::fail(
        site, absl::StrCat("signal window '", signal.window()->name, "' of shape [", signal.rows(),
                           ", ", signal.cols(), "] is too small; expected a row for each of ",
                           context_.world_size, " ranks: [", context_.world_size, ", 1]"));
  }
}

symrace::Cell CreditBarrier::cell_of(std::int32_t rank) const {
  return {signal_.window(), signal_.region(rank, 0, 1, 1).offset};
}

void CreditBarrier::arrive_and_wait() {
  ++generation_;
  symrace::Fabric& fabric = *context_.fabric;
  // Under `documented` the notifies alone would order the peers after this rank's moves, but not
  // this rank's own later reads of a peer's slice after its own earlier stores there.
  fabric.fence(site_);
  for (std::int32_t step = 1; step < context_.world_size; ++step) {
    const std::int32_t peer = (context_.rank + step) % context_.world_size;
    fabric.notify(peer, cell_of(context_.rank), 1, NotifyOp::AtomicAdd, site_);
  }
  for (std::int32_t step = 1; step < context_.world_size; ++step) {
    const std::int32_t peer = (context_.rank + step) % context_.world_size;
    fabric.wait(cell_of(peer), generation_, WaitCmp::Ge, site_);
  }
}

void CreditBarrier::finish() {
  for (std::int32_t step = 1; step < context_.world_size; ++step) {
    const std::int32_t peer = (context_.rank + step) % context_.world_size;
    context_.fabric->add_to_own_cell(cell_of(peer), -generation_, site_);
  }
}

Transfer check_transfer(const Site& site, const symrace::checks::Bounds& dst,
                        const symrace::checks::Bounds& src, std::int64_t element_bytes,
                        const TransferOptions& options) {
  const bool all = options.dst_offsets && options.src_offsets && options.shape;
  const bool none = !options.dst_offsets && !options.src_offsets && !options.shape;
  if (!all && !none) {
    symrace::checks::fail(site,
                          "the sub-region form needs dst_offsets, src_offsets and shape together; "
                          "give all three, or none for the full slice");
  }
  Transfer transfer{};
  if (all) {
    transfer.dst = symrace::checks::region(site, *options.dst_offsets, *options.shape, dst);
    transfer.src = symrace::checks::region(site, *options.src_offsets, *options.shape, src);
  } else {
    if (dst.rows != src.rows || dst.cols != src.cols) {
      symrace::checks::fail(
          site, absl::StrCat("dst of shape [", dst.rows, ", ", dst.cols, "] and src of shape [",
                             src.rows, ", ", src.cols,
                             "] differ; give equal shapes, or a sub-region (dst_offsets, "
                             "src_offsets, shape)"));
    }
    transfer.dst = transfer.src = {0, 0, dst.rows, dst.cols};
  }
  transfer.chunking =
      symrace::checks::chunking(site, options.chunk_rows, options.chunk_cols, options.pipeline,
                                transfer.dst.rows, transfer.dst.cols, element_bytes);
  return transfer;
}

}  // namespace detail

namespace tensor {

DistributedTensor<std::int32_t> barrier(const DistributedTensor<std::int32_t>& signal,
                                        Location where) {
  detail::CreditBarrier credits(signal, {OpKind::kBarrier, where});
  credits.arrive_and_wait();
  credits.finish();
  return signal;
}

}  // namespace tensor
}  // namespace pld
