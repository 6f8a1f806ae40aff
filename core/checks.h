// The limits that hardware has, checked before an op moves anything. Each throws KernelError whose
// one line names the place, the rank, the op, the window, the range and the fix.
#ifndef SYMRACE_CORE_CHECKS_H_
#define SYMRACE_CORE_CHECKS_H_

#include <cstdint>
#include <source_location>
#include <string>

#include "core/fabric.h"
#include "core/scalar.h"

namespace symrace::checks {

// Throws "file:line: rank R: op: message".
[[noreturn]] void fail(const Site& site, const std::string& message);

struct Region {
  std::int64_t row, col, rows, cols;
};

// What a region must lie in; `name` is a window's name, or null for rank-private memory.
struct Bounds {
  std::int64_t rows, cols;
  const char* name;
};

[[noreturn]] void fail_region(const Site& site, const Region& region, const Bounds& bounds);
// Of one element; by values, since gcc 12 would put a Region together in vector registers first,
// and stall on that, before every check.
[[noreturn]] void fail_cell(const Site& site, std::int64_t row, std::int64_t col, std::int64_t rows,
                            std::int64_t cols, const char* name);
[[noreturn]] void fail_peer(const Site& site, std::int64_t peer, std::int32_t world_size);
[[noreturn]] void fail_tile(const Site& site, std::int64_t rows, std::int64_t cols,
                            std::int64_t element_bytes);
[[noreturn]] void fail_no_tile(const Site& site);

// Never clamped, never wrapped; safe for every int64 input.
inline Region region(const Site& site, const pl::Offsets& offsets, const pl::Shape& shape,
                     const Bounds& bounds) {
  const Region wanted{offsets.row.value(), offsets.col.value(), shape.rows.value(),
                      shape.cols.value()};
  const bool inside = wanted.row >= 0 && wanted.col >= 0 && wanted.rows >= 0 && wanted.cols >= 0 &&
                      wanted.row <= bounds.rows && wanted.rows <= bounds.rows - wanted.row &&
                      wanted.col <= bounds.cols && wanted.cols <= bounds.cols - wanted.col;
  if (!inside) fail_region(site, wanted, bounds);
  return wanted;
}

inline std::int32_t peer(const Site& site, pl::Index peer, std::int32_t world_size) {
  if (peer.value() < 0 || peer.value() >= world_size) fail_peer(site, peer.value(), world_size);
  return static_cast<std::int32_t>(peer.value());
}

// Also of an empty tile no extent may be beyond the buffer: no product of them overflows.
inline bool fits_on_core(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
  return rows <= kOnCoreBytes && cols <= kOnCoreBytes &&
         rows * cols * element_bytes <= kOnCoreBytes;
}

// A tile must fit the on-core buffer.
inline void tile_fits(const Site& site, std::int64_t rows, std::int64_t cols,
                      std::int64_t element_bytes) {
  if (!fits_on_core(rows, cols, element_bytes)) fail_tile(site, rows, cols, element_bytes);
}

// Chunk sizes and `pipeline` of a put or get of `rows` x `cols`; returns them as checked.
Chunking chunking(const Site& site, pl::Index chunk_rows, pl::Index chunk_cols, bool pipeline,
                  std::int64_t rows, std::int64_t cols, std::int64_t element_bytes);

}  // namespace symrace::checks

#endif  // SYMRACE_CORE_CHECKS_H_
