#include "core/reduce.h"

#include "core/arithmetic.h"

namespace symrace {
namespace {

template <pl::Element T, class Combine>
void combine_all(std::byte* into, const std::byte* operand, std::int64_t bytes, Combine combine) {
  using Packed = Eigen::Array<T, Eigen::Dynamic, 1>;
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(T));
  Eigen::Map<Packed> result(reinterpret_cast<T*>(into), count);
  const Eigen::Map<const Packed> with(reinterpret_cast<const T*>(operand), count);
  result = result.binaryExpr(with, combine);
}

}  // namespace

void reduce(pld::ReduceOp op, pl::DType dtype, std::byte* into, const std::byte* operand,
            std::int64_t bytes) {
  pl::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    switch (op) {
      case pld::ReduceOp::Sum:
        return combine_all<T>(into, operand, bytes,
                              [](T a, T b) { return pl::arithmetic::add(a, b); });
      case pld::ReduceOp::Max:
        return combine_all<T>(into, operand, bytes,
                              [](T a, T b) { return pl::arithmetic::max(a, b); });
      case pld::ReduceOp::Min:
        return combine_all<T>(into, operand, bytes,
                              [](T a, T b) { return pl::arithmetic::min(a, b); });
      case pld::ReduceOp::Prod:
        return combine_all<T>(into, operand, bytes,
                              [](T a, T b) { return pl::arithmetic::mul(a, b); });
    }
  });
}

}  // namespace symrace
