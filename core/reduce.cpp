#include "core/reduce.h"

#include "core/tile_arithmetic.h"

namespace symrace {
namespace {

pl::detail::Arithmetic arithmetic_of(pld::ReduceOp op) {
  switch (op) {
    case pld::ReduceOp::Sum:
      break;
    case pld::ReduceOp::Max:
      return pl::detail::Arithmetic::kMax;
    case pld::ReduceOp::Min:
      return pl::detail::Arithmetic::kMin;
    case pld::ReduceOp::Prod:
      return pl::detail::Arithmetic::kMul;
  }
  return pl::detail::Arithmetic::kAdd;
}

}  // namespace

void reduce(pld::ReduceOp op, pl::DType dtype, std::byte* into, const std::byte* operand,
            std::int64_t bytes) {
  pl::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    T* const result = reinterpret_cast<T*>(into);
    pl::detail::combine(arithmetic_of(op), result, reinterpret_cast<const T*>(operand), result,
                        bytes / static_cast<std::int64_t>(sizeof(T)));
  });
}

}  // namespace symrace
