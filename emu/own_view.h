// A rank always sees its own earlier writes to its own slice, landed or not.
#ifndef SYMRACE_EMU_OWN_VIEW_H_
#define SYMRACE_EMU_OWN_VIEW_H_

#include <cstring>

#include "core/region.h"
#include "emu/slice_memory.h"
#include "emu/transfers.h"

namespace emu {

// Applies the in-flight writes of `rank` to its own slice, oldest first, over `packed`, which holds
// the landed bytes of `region`. (A late put to oneself is no local write: its data are not known
// yet.)
inline void overlay_own_writes(const Transfers& transfers, std::int32_t rank,
                               const symrace::WindowRegion& region, std::byte* packed) {
  transfers.for_each(rank, [&](const Piece& piece) {
    if (piece.effect != Piece::Effect::kWrite || piece.target != rank || piece.reads_own_slice) {
      return;
    }
    symrace::for_each_overlap(
        region, piece.region,
        [&](std::int64_t row, std::int64_t piece_row, std::int64_t begin, std::int64_t end) {
          const std::int64_t row_begin =
              static_cast<std::int64_t>(region.offset) + row * region.extent.stride;
          const std::int64_t piece_begin = static_cast<std::int64_t>(piece.region.offset) +
                                           piece_row * piece.region.extent.stride;
          std::byte* to = packed + row * region.extent.row_bytes + (begin - row_begin);
          const std::byte* from =
              piece.memory + piece_row * piece.memory_stride + (begin - piece_begin);
          if (piece.atomic == pld::AtomicType::Add) {
            add_elements(to, from, end - begin, piece.region.dtype);
          } else {
            std::memcpy(to, from, static_cast<std::size_t>(end - begin));
          }
        });
  });
}

}  // namespace emu

#endif  // SYMRACE_EMU_OWN_VIEW_H_
