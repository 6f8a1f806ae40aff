// Strided 2-D byte regions: what every move reads and writes.
#ifndef SYMRACE_CORE_REGION_H_
#define SYMRACE_CORE_REGION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/dtype.h"

namespace symrace {

// `rows` runs of `row_bytes` bytes, `stride` bytes apart. A 2-D sub-tile is not its bounding box.
struct Extent {
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;
  std::int64_t stride = 0;

  bool empty() const { return rows == 0 || row_bytes == 0; }
  bool contiguous() const { return rows <= 1 || row_bytes == stride; }
  std::int64_t bytes() const { return rows * row_bytes; }
  // From the first byte to one past the last.
  std::int64_t span() const { return empty() ? 0 : (rows - 1) * stride + row_bytes; }
};

// One allocation of the symmetric heap: the same offset on every rank.
struct Window {
  std::uint64_t offset = 0;  // in each rank's slice
  std::uint64_t bytes = 0;   // as asked for; the heap reserves at least 4 KiB
  std::int32_t index = 0;    // order of allocation
  const char* name = "";
  // As allocated, or as the first tensor that was made of it; no rows: none of them told.
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  pl::DType dtype = pl::DType::INT32;
};

// What a tensor that was made of none is a view of.
inline constexpr Window kNoWindow{.name = "(none)"};

// A region of a window, in the slice of whichever rank the op names.
struct WindowRegion {
  const Window* window = nullptr;
  std::uint64_t offset = 0;  // of the first byte, in the slice
  Extent extent;
  pl::DType dtype = pl::DType::INT32;

  std::uint64_t end() const { return offset + static_cast<std::uint64_t>(extent.span()); }
};

// A region of rank-private memory.
struct PrivateRegion {
  std::byte* data = nullptr;
  Extent extent;
};

// Copies row by row; both sides have the same rows and row_bytes.
inline void copy_rows(std::byte* to, std::int64_t to_stride, const std::byte* from,
                      std::int64_t from_stride, std::int64_t rows, std::int64_t row_bytes) {
  if (rows == 0 || row_bytes == 0) return;  // there may be no memory at all
  if (rows == 1 || (to_stride == row_bytes && from_stride == row_bytes)) {
    std::memcpy(to, from, static_cast<std::size_t>(rows * row_bytes));
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * to_stride, from + row * from_stride,
                static_cast<std::size_t>(row_bytes));
  }
}

// Calls `visit(row_of_a, row_of_b, begin, end)` for each run of bytes [begin, end) of slice offsets
// that both regions hold, with the rows it lies in. Costs one division per row of `a`.
template <class Visit>
void for_each_overlap(const WindowRegion& a, const WindowRegion& b, Visit&& visit) {
  if (a.extent.empty() || b.extent.empty() || a.offset >= b.end() || b.offset >= a.end()) return;
  const auto b_begin = static_cast<std::int64_t>(b.offset);
  const std::int64_t b_stride = std::max<std::int64_t>(b.extent.stride, 1);
  for (std::int64_t row = 0; row < a.extent.rows; ++row) {
    const std::int64_t begin = static_cast<std::int64_t>(a.offset) + row * a.extent.stride;
    const std::int64_t end = begin + a.extent.row_bytes;
    const std::int64_t below = begin - b_begin - b.extent.row_bytes;
    std::int64_t other = below < 0 ? 0 : below / b_stride + 1;
    for (; other < b.extent.rows; ++other) {
      const std::int64_t other_begin = b_begin + other * b.extent.stride;
      if (other_begin >= end) break;
      visit(row, other, std::max(begin, other_begin),
            std::min(end, other_begin + b.extent.row_bytes));
    }
  }
}

inline bool overlaps(const WindowRegion& a, const WindowRegion& b) {
  if (a.offset >= b.end() || b.offset >= a.end()) return false;
  if (a.extent.contiguous() && b.extent.contiguous()) return !a.extent.empty() && !b.extent.empty();
  bool found = false;
  for_each_overlap(a, b,
                   [&](std::int64_t, std::int64_t, std::int64_t, std::int64_t) { found = true; });
  return found;
}

}  // namespace symrace

#endif  // SYMRACE_CORE_REGION_H_
