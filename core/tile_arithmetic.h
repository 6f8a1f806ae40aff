// Arithmetic on packed elements, through Eigen, by the rules of core/arithmetic.h. Compiled once
// for the six dtypes, since what Eigen makes of an expression is most of the compilation of a
// kernel.
#ifndef SYMRACE_CORE_TILE_ARITHMETIC_H_
#define SYMRACE_CORE_TILE_ARITHMETIC_H_

#include <cstdint>

#include "core/dtype.h"

namespace pl::detail {

enum class Arithmetic : std::uint8_t { kAdd, kSub, kMul, kMax, kMin };

// result[i] = op(a[i], b[i]); `result` may be `a` or `b`.
template <Element T>
void combine(Arithmetic op, const T* a, const T* b, T* result, std::int64_t count);
// result[i] = op(a[i], b).
template <Element T>
void combine_with(Arithmetic op, const T* a, T b, T* result, std::int64_t count);
// result[i] = a[i], as arithmetic::cast has it.
template <Element To, Element From>
void convert(const From* a, To* result, std::int64_t count);
template <Element T>
void fill(T value, T* result, std::int64_t count);

}  // namespace pl::detail

#endif  // SYMRACE_CORE_TILE_ARITHMETIC_H_
