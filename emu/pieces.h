// How a transfer is cut: into chunks as the program asked, then into bursts as the user asked.
#ifndef SYMRACE_EMU_PIECES_H_
#define SYMRACE_EMU_PIECES_H_

#include <algorithm>
#include <cstdint>

#include "core/fabric.h"
#include "core/region.h"

namespace emu {

// A sub-rectangle of a region: rows [row, row + rows), bytes [byte, byte + row_bytes) of each.
struct Cut {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t byte = 0;
  std::int64_t row_bytes = 0;
  bool of_last_chunk = false;  // of more than one
};

inline symrace::WindowRegion sub_region(const symrace::WindowRegion& whole, const Cut& cut) {
  symrace::WindowRegion part = whole;
  part.offset += static_cast<std::uint64_t>(cut.row * whole.extent.stride + cut.byte);
  part.extent.rows = cut.rows;
  part.extent.row_bytes = cut.row_bytes;
  return part;
}

// Chunk by chunk, row-major.
template <class Visit>
void for_each_chunk(const symrace::Extent& extent, const symrace::Chunking& chunking,
                    std::int64_t element_bytes, Visit&& visit) {
  if (extent.empty()) return;
  const std::int64_t rows = chunking.rows == 0 ? extent.rows : std::min(chunking.rows, extent.rows);
  const std::int64_t row_bytes = chunking.cols == 0 || chunking.cols > extent.row_bytes
                                     ? extent.row_bytes
                                     : std::min(chunking.cols * element_bytes, extent.row_bytes);
  const bool several = rows < extent.rows || row_bytes < extent.row_bytes;
  for (std::int64_t row = 0; row < extent.rows; row += rows) {
    for (std::int64_t byte = 0; byte < extent.row_bytes; byte += row_bytes) {
      const bool last = row + rows >= extent.rows && byte + row_bytes >= extent.row_bytes;
      visit(Cut{row, std::min(rows, extent.rows - row), byte,
                std::min(row_bytes, extent.row_bytes - byte), several && last});
    }
  }
}

// Cuts a chunk in bursts of at most `burst_bytes` (0: not at all), whole elements, at least one.
template <class Visit>
void for_each_burst(const Cut& chunk, std::int64_t burst_bytes, std::int64_t element_bytes,
                    Visit&& visit) {
  if (burst_bytes == 0 || chunk.rows * chunk.row_bytes <= burst_bytes) {
    visit(chunk);
    return;
  }
  const std::int64_t largest =
      std::max(burst_bytes / element_bytes, std::int64_t{1}) * element_bytes;
  const std::int64_t rows = std::max<std::int64_t>(largest / chunk.row_bytes, 1);
  for (std::int64_t row = 0; row < chunk.rows; row += rows) {
    for (std::int64_t byte = 0; byte < chunk.row_bytes; byte += largest) {
      visit(Cut{chunk.row + row, std::min(rows, chunk.rows - row), chunk.byte + byte,
                std::min(largest, chunk.row_bytes - byte), chunk.of_last_chunk});
    }
  }
}

}  // namespace emu

#endif  // SYMRACE_EMU_PIECES_H_
