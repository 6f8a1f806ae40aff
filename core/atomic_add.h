// Atomic adds to elements that other threads add to at the same time; the same sums, bit for bit,
// as core/arithmetic.h.
#ifndef SYMRACE_CORE_ATOMIC_ADD_H_
#define SYMRACE_CORE_ATOMIC_ADD_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/arithmetic.h"
#include "core/dtype.h"

namespace symrace {

// target[i] += source[i] for `bytes` of elements, each at once; nothing is ordered by it. `target`
// is aligned to its elements, `source` need not be.
template <pl::Element T>
void atomic_add(std::byte* target, const std::byte* source, std::int64_t bytes) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t at = 0; at + kBytes <= bytes; at += kBytes) {
    T addend;
    std::memcpy(&addend, source + at, sizeof(T));
    if constexpr (pl::IntegerElement<T>) {  // fetch_add wraps
      std::atomic_ref(*reinterpret_cast<T*>(target + at))
          .fetch_add(addend, std::memory_order_relaxed);
    } else {
      // By bits: of floats that compare equal, -0 and 0 differ, and a NaN equals nothing.
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
      const std::atomic_ref element(*reinterpret_cast<Bits*>(target + at));
      Bits before = element.load(std::memory_order_relaxed);
      while (!element.compare_exchange_weak(
          before, std::bit_cast<Bits>(pl::arithmetic::add(std::bit_cast<T>(before), addend)),
          std::memory_order_relaxed)) {
      }
    }
  }
}

inline void atomic_add(std::byte* target, const std::byte* source, std::int64_t bytes,
                       pl::DType dtype) {
  pl::visit_dtype(dtype,
                  [&]<class T>(std::type_identity<T>) { atomic_add<T>(target, source, bytes); });
}

}  // namespace symrace

#endif  // SYMRACE_CORE_ATOMIC_ADD_H_
