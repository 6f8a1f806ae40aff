#include "core/checks.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/error.h"
#include "core/rank_context.h"

namespace symrace {

void throw_outside_kernel(const Site& site) {
  throw KernelError(absl::StrCat(short_location(site.where), ": ", std::string(op_name(site.op)),
                                 " outside a kernel; call it from a function given to "
                                 "Host::dispatch"),
                    site.where);
}

namespace checks {

void fail(const Site& site, const std::string& message) {
  const RankContext& context = current_rank(site);
  throw KernelError(absl::StrCat(short_location(site.where), ": rank ", context.rank, ": ",
                                 std::string(op_name(site.op)), ": ", message),
                    site.where);
}

void fail_region(const Site& site, const Region& region, const Bounds& bounds) {
  const std::string place =
      bounds.name != nullptr ? absl::StrCat("window '", bounds.name, "'") : "the tensor";
  fail(site, absl::StrCat("region of shape [", region.rows, ", ", region.cols, "] at [", region.row,
                          ", ", region.col, "] lies outside ", place, " of shape [", bounds.rows,
                          ", ", bounds.cols,
                          "]; a region is never clamped or wrapped: correct the offsets or shape"));
}

void fail_cell(const Site& site, std::int64_t row, std::int64_t col, std::int64_t rows,
               std::int64_t cols, const char* name) {
  fail_region(site, {row, col, 1, 1}, {rows, cols, name});
}

void fail_peer(const Site& site, std::int64_t peer, std::int32_t world_size) {
  fail(site, absl::StrCat("peer ", peer, " does not exist; expected a rank in [0, ", world_size,
                          "): wrap with (rank + d) % nranks"));
}

void fail_tile(const Site& site, std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
  fail(site, absl::StrCat("a tile of shape [", rows, ", ", cols, "] of ", element_bytes,
                          "-byte elements does not fit the on-core buffer of ", kOnCoreBytes,
                          " bytes (184 KiB); move it in smaller tiles, or use "
                          "pld::tensor::put / get with chunk_rows and chunk_cols"));
}

void fail_no_tile(const Site& site) {
  fail(site,
       "a tile that was given no value; expected one of a load, of pl::full or of arithmetic");
}

Chunking chunking(const Site& site, pl::Index chunk_rows, pl::Index chunk_cols, bool pipeline,
                  std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
  const Chunking asked{chunk_rows.value(), chunk_cols.value(), pipeline};
  if (asked.rows < 0 || asked.cols < 0) {
    fail(site, absl::StrCat("chunk_rows = ", asked.rows, ", chunk_cols = ", asked.cols,
                            "; expected positive sizes in elements, or 0 for no chunking"));
  }
  if (pipeline && (asked.rows == 0 || asked.cols == 0)) {
    fail(site, "pipeline = true needs both chunk_rows and chunk_cols; give both, or drop pipeline");
  }
  const std::int64_t staging_rows = asked.rows == 0 ? rows : std::min(asked.rows, rows);
  const std::int64_t staging_cols = asked.cols == 0 ? cols : std::min(asked.cols, cols);
  const std::int64_t tiles = pipeline ? 2 : 1;
  const bool is_empty = rows == 0 || cols == 0;
  if (!is_empty && !fits_on_core(staging_rows, staging_cols, element_bytes * tiles)) {
    fail(site,
         absl::StrCat("the staging ", pipeline ? "tiles (two with pipeline)" : "tile",
                      " of shape [", staging_rows, ", ", staging_cols, "] of ", element_bytes,
                      "-byte elements do", pipeline ? "" : "es", " not fit the on-core buffer of ",
                      kOnCoreBytes, " bytes (184 KiB); give ", asked.chunked() ? "smaller " : "",
                      "chunk_rows / chunk_cols"));
  }
  return asked;
}

}  // namespace checks
}  // namespace symrace
