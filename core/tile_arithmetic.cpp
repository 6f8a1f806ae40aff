#include "core/tile_arithmetic.h"

#include <Eigen/Core>

#include "core/arithmetic.h"

namespace pl::detail {
namespace {

template <class T>
using Packed = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstPacked = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

// Calls visit(f) with the function of two elements that `op` is.
template <class T, class Visit>
void with_function(Arithmetic op, Visit&& visit) {
  switch (op) {
    case Arithmetic::kAdd:
      return visit([](T a, T b) { return arithmetic::add(a, b); });
    case Arithmetic::kSub:
      return visit([](T a, T b) { return arithmetic::sub(a, b); });
    case Arithmetic::kMul:
      return visit([](T a, T b) { return arithmetic::mul(a, b); });
    case Arithmetic::kMax:
      return visit([](T a, T b) { return arithmetic::max(a, b); });
    case Arithmetic::kMin:
      return visit([](T a, T b) { return arithmetic::min(a, b); });
  }
}

}  // namespace

template <Element T>
void combine(Arithmetic op, const T* a, const T* b, T* result, std::int64_t count) {
  with_function<T>(op, [&](auto function) {
    Packed<T>(result, count) =
        ConstPacked<T>(a, count).binaryExpr(ConstPacked<T>(b, count), function);
  });
}

template <Element T>
void combine_with(Arithmetic op, const T* a, T b, T* result, std::int64_t count) {
  with_function<T>(op, [&](auto function) {
    Packed<T>(result, count) =
        ConstPacked<T>(a, count).unaryExpr([=](T element) { return function(element, b); });
  });
}

template <Element To, Element From>
void convert(const From* a, To* result, std::int64_t count) {
  Packed<To>(result, count) = ConstPacked<From>(a, count).unaryExpr(
      [](From element) { return arithmetic::cast<To>(element); });
}

template <Element T>
void fill(T value, T* result, std::int64_t count) {
  Packed<T>(result, count).setConstant(value);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none
#define SYMRACE_CONVERT(T)                                                       \
  template void convert<float, T>(const T*, float*, std::int64_t);               \
  template void convert<fp16, T>(const T*, fp16*, std::int64_t);                 \
  template void convert<bf16, T>(const T*, bf16*, std::int64_t);                 \
  template void convert<std::int32_t, T>(const T*, std::int32_t*, std::int64_t); \
  template void convert<std::int16_t, T>(const T*, std::int16_t*, std::int64_t); \
  template void convert<std::int8_t, T>(const T*, std::int8_t*, std::int64_t);
#define SYMRACE_INSTANTIATE(T)                                                \
  template void combine<T>(Arithmetic, const T*, const T*, T*, std::int64_t); \
  template void combine_with<T>(Arithmetic, const T*, T, T*, std::int64_t);   \
  template void fill<T>(T, T*, std::int64_t);                                 \
  SYMRACE_CONVERT(T)
SYMRACE_INSTANTIATE(float)
SYMRACE_INSTANTIATE(fp16)
SYMRACE_INSTANTIATE(bf16)
SYMRACE_INSTANTIATE(std::int32_t)
SYMRACE_INSTANTIATE(std::int16_t)
SYMRACE_INSTANTIATE(std::int8_t)
#undef SYMRACE_INSTANTIATE
#undef SYMRACE_CONVERT
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace pl::detail
