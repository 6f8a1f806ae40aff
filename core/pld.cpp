#include "core/pld.h"

#include <absl/strings/str_cat.h>

namespace pld::detail {

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
  const bool whole =
      options.chunk_rows.value() == 0 && options.chunk_cols.value() == 0 && !options.pipeline &&
      symrace::checks::fits_on_core(transfer.dst.rows, transfer.dst.cols, element_bytes);
  if (whole) [[likely]]
    return transfer;  // nothing else to check, in the shortest of moves
  transfer.chunking =
      symrace::checks::chunking(site, options.chunk_rows, options.chunk_cols, options.pipeline,
                                transfer.dst.rows, transfer.dst.cols, element_bytes);
  return transfer;
}

}  // namespace pld::detail
