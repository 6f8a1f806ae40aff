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

}  // namespace emu
