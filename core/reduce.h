// What a reducing collective does to two operands, element by element.
#ifndef SYMRACE_CORE_REDUCE_H_
#define SYMRACE_CORE_REDUCE_H_

#include <cstddef>
#include <cstdint>

#include "core/dtype.h"

namespace pld {

enum class ReduceOp : std::uint8_t { Sum, Max, Min, Prod };

}  // namespace pld

namespace symrace {

// into[i] = op(into[i], operand[i]) over `bytes` of packed elements, by the rules of
// core/arithmetic.h: integers wrap, and a NaN that comes first stays in Max and Min.
void reduce(pld::ReduceOp op, pl::DType dtype, std::byte* into, const std::byte* operand,
            std::int64_t bytes);

}  // namespace symrace

#endif  // SYMRACE_CORE_REDUCE_H_
