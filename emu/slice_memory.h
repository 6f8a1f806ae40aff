// The ranks' slices as landed: what a peer may see. Every change goes through here, so that a reset
// costs what was touched.
#ifndef SYMRACE_EMU_SLICE_MEMORY_H_
#define SYMRACE_EMU_SLICE_MEMORY_H_

#include <cstdint>
#include <cstring>

#include "core/fabric.h"
#include "core/heap.h"
#include "core/region.h"
#include "emu/dirty_lines.h"
#include "emu/few_cells.h"

namespace emu {

// result[i] = target[i] + source[i] for `bytes` of elements of `dtype`; integers wrap.
void add_elements(std::byte* target, const std::byte* source, std::int64_t bytes, pl::DType dtype);

class SliceMemory {
 public:
  explicit SliceMemory(symrace::SymmetricHeap& heap) : heap_(heap) {}

  // Zeroes what was written since the last call. Call before the allocations are forgotten.
  void reset() {
    dirty_.clear(heap_);
    few_.clear();
  }
  // Call when all windows are allocated.
  void begin() {
    dirty_.begin(heap_.ranks(), heap_.used_bytes());
    // Whoever looks at a named heap finds all of it there.
    few_.begin(heap_.ranks(), heap_.is_named() ? 0 : heap_.used_bytes());
  }

  // Brings everything to the heap, for whoever looks there.
  void settle();

  void note_signal(const symrace::Window& window) { heap_.note_signal(window); }

  // The first byte of a region, all of which may be read there until the next change.
  const std::byte* bytes(std::int32_t rank, const symrace::WindowRegion& region) {
    use(rank, region);
    return heap_.address(rank, region.offset);
  }

  void read(std::int32_t rank, const symrace::WindowRegion& region, std::byte* to,
            std::int64_t to_stride) {
    if (region.extent.empty()) return;
    symrace::copy_rows(to, to_stride, bytes(rank, region), region.extent.stride, region.extent.rows,
                       region.extent.row_bytes);
  }

  void write(std::int32_t rank, const symrace::WindowRegion& region, const std::byte* from,
             std::int64_t from_stride, pld::AtomicType atomic) {
    if (region.extent.empty()) return;
    use(rank, region);
    mark(rank, region);
    if (atomic == pld::AtomicType::None_) {
      symrace::copy_rows(heap_.address(rank, region.offset), region.extent.stride, from,
                         from_stride, region.extent.rows, region.extent.row_bytes);
      return;
    }
    for (std::int64_t row = 0; row < region.extent.rows; ++row) {
      add_elements(heap_.address(rank, region.offset) + row * region.extent.stride,
                   from + row * from_stride, region.extent.row_bytes, region.dtype);
    }
  }

  std::int32_t cell(std::int32_t rank, std::uint64_t offset) const {
    if (few_.is_used()) return sparse_cell(rank, offset);
    return heap_cell(rank, offset);
  }
  void set_cell(std::int32_t rank, std::uint64_t offset, std::int32_t value) {
    if (few_.is_used() && keep(rank, offset, value)) return;
    write_cell(rank, offset, value);
  }
  void add_to_cell(std::int32_t rank, std::uint64_t offset, std::int32_t value) {
    set_cell(rank, offset,
             static_cast<std::int32_t>(static_cast<std::uint32_t>(cell(rank, offset)) +
                                       static_cast<std::uint32_t>(value)));
  }

 private:
  void write_cell(std::int32_t rank, std::uint64_t offset, std::int32_t value) {
    dirty_.mark(rank, offset, sizeof(value));
    std::memcpy(heap_.address(rank, offset), &value, sizeof(value));
  }
  void use(std::int32_t rank, const symrace::WindowRegion& region) {
    if (few_.is_used()) use_pages(rank, region.offset, region.end());
  }
  void use_pages(std::int32_t rank, std::uint64_t begin, std::uint64_t end);
  std::int32_t heap_cell(std::int32_t rank, std::uint64_t offset) const {
    std::int32_t value = 0;
    std::memcpy(&value, heap_.address(rank, offset), sizeof(value));
    return value;
  }
  std::int32_t sparse_cell(std::int32_t rank, std::uint64_t offset) const;
  // Whether the value is kept beside the page; else the page is in use from now on.
  bool keep(std::int32_t rank, std::uint64_t offset, std::int32_t value);
  void mark(std::int32_t rank, const symrace::WindowRegion& region) {
    if (region.extent.contiguous()) {
      dirty_.mark(rank, region.offset, static_cast<std::uint64_t>(region.extent.bytes()));
      return;
    }
    for (std::int64_t row = 0; row < region.extent.rows; ++row) {
      dirty_.mark(rank, region.offset + static_cast<std::uint64_t>(row * region.extent.stride),
                  static_cast<std::uint64_t>(region.extent.row_bytes));
    }
  }

  symrace::SymmetricHeap& heap_;
  DirtyLines dirty_;
  FewCells few_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_SLICE_MEMORY_H_
