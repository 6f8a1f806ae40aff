// Element arithmetic with defined results for every input: integers wrap, also in casts between
// integers; casts from floats to integers round to nearest even and saturate. Tiles, atomic adds
// and goldens share it, so that results are bit-reproducible on every compiler and never undefined
// behaviour.
#ifndef SYMRACE_CORE_ARITHMETIC_H_
#define SYMRACE_CORE_ARITHMETIC_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/dtype.h"

namespace pl::arithmetic {

template <Element T, class Combine>
constexpr T wrapping(T a, T b, Combine combine) {
  return static_cast<T>(combine(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
}

template <Element T>
T add(T a, T b) {
  if constexpr (IntegerElement<T>) {
    return wrapping(a, b, [](std::uint32_t x, std::uint32_t y) { return x + y; });
  } else {
    return static_cast<T>(a + b);
  }
}

template <Element T>
T sub(T a, T b) {
  if constexpr (IntegerElement<T>) {
    return wrapping(a, b, [](std::uint32_t x, std::uint32_t y) { return x - y; });
  } else {
    return static_cast<T>(a - b);
  }
}

template <Element T>
T mul(T a, T b) {
  if constexpr (IntegerElement<T>) {
    return wrapping(a, b, [](std::uint32_t x, std::uint32_t y) { return x * y; });
  } else {
    return static_cast<T>(a * b);
  }
}

// The second operand wins only when it is strictly greater (less): a NaN first operand stays.
template <Element T>
T max(T a, T b) {
  return a < b ? b : a;
}
template <Element T>
T min(T a, T b) {
  return b < a ? b : a;
}

template <Element To, class From>
To cast(From value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else if constexpr (IntegerElement<To> && !std::integral<From>) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    if (std::isnan(rounded)) return To{0};
    constexpr double kLowest = std::numeric_limits<To>::min();
    constexpr double kHighest = std::numeric_limits<To>::max();
    if (rounded <= kLowest) return std::numeric_limits<To>::min();
    if (rounded >= kHighest) return std::numeric_limits<To>::max();
    return static_cast<To>(rounded);
  } else if constexpr (IntegerElement<To>) {
    return static_cast<To>(value);
  } else {
    return static_cast<To>(static_cast<float>(value));
  }
}

}  // namespace pl::arithmetic

#endif  // SYMRACE_CORE_ARITHMETIC_H_
