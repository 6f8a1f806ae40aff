#include "emu/slice_memory.h"

#include "core/arithmetic.h"

namespace emu {

void add_elements(std::byte* target, const std::byte* source, std::int64_t bytes, pl::DType dtype) {
  pl::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    // Regions are aligned to their element by construction, private sources may not be.
    for (std::int64_t at = 0; at + static_cast<std::int64_t>(sizeof(T)) <= bytes;
         at += static_cast<std::int64_t>(sizeof(T))) {
      T a;
      T b;
      std::memcpy(&a, target + at, sizeof(T));
      std::memcpy(&b, source + at, sizeof(T));
      a = pl::arithmetic::add(a, b);
      std::memcpy(target + at, &a, sizeof(T));
    }
  });
}

void SliceMemory::settle() {
  few_.use_all([this](std::int32_t rank, std::uint64_t offset, std::int32_t value) {
    write_cell(rank, offset, value);
  });
}

void SliceMemory::use_pages(std::int32_t rank, std::uint64_t begin, std::uint64_t end) {
  few_.use(rank, begin, end,
           [&](std::uint64_t offset, std::int32_t value) { write_cell(rank, offset, value); });
}

std::int32_t SliceMemory::sparse_cell(std::int32_t rank, std::uint64_t offset) const {
  const auto kept = few_.value(rank, offset);
  return kept ? *kept : heap_cell(rank, offset);
}

bool SliceMemory::keep(std::int32_t rank, std::uint64_t offset, std::int32_t value) {
  if (few_.keep(rank, offset, value)) return true;
  use_pages(rank, offset, offset + sizeof(value));
  return false;
}

}  // namespace emu
