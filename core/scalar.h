// pl::Scalar<T>: a scalar of the AI core. Integer scalars compute; floating scalars only feed data
// ops, since the core has no floating scalar arithmetic (remote_load_store, "Edge cases").
#ifndef SYMRACE_CORE_SCALAR_H_
#define SYMRACE_CORE_SCALAR_H_

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/arithmetic.h"
#include "core/dtype.h"

namespace pl {

template <class T>
concept AnyFloating = std::floating_point<T> || FloatingElement<T>;

template <class>
inline constexpr bool kNever = false;

// Integer arithmetic wraps, as on the core. Division by zero throws symrace::KernelError.
template <Element T>
class Scalar {
 public:
  constexpr Scalar() = default;
  constexpr Scalar(T value) : value_(value) {}  // NOLINT: a literal is a scalar
  constexpr T value() const { return value_; }
  constexpr operator T() const { return value_; }  // NOLINT: usable as a loop bound

 private:
  T value_{};
};

namespace scalar_detail {

[[noreturn]] void throw_division_by_zero();

template <class>
struct IsScalar : std::false_type {};
template <class T>
struct IsScalar<Scalar<T>> : std::true_type {};

template <class T>
struct Underlying {
  using type = T;
};
template <class T>
struct Underlying<Scalar<T>> {
  using type = T;
};

template <class A, class B>
concept Operands = (IsScalar<A>::value || IsScalar<B>::value) &&
                   (IsScalar<A>::value || Element<A> || std::is_arithmetic_v<A>)&&(
                       IsScalar<B>::value || Element<B> || std::is_arithmetic_v<B>);

constexpr std::uint64_t wrap(std::int64_t value) { return static_cast<std::uint64_t>(value); }

template <class A, class B>
constexpr void require_integers() {
  static_assert(
      !AnyFloating<typename Underlying<A>::type> && !AnyFloating<typename Underlying<B>::type>,
      "floating scalar arithmetic does not exist on the AI core: keep index math in INT32 "
      "((rank + 1) % nranks), cast only for data ops (pl::cast, pl::mul on a tile)");
}

template <class A, class B>
using Result = Scalar<std::conditional_t<IsScalar<A>::value, typename Underlying<A>::type,
                                         typename Underlying<B>::type>>;

// After a failed require_integers() nothing more should be reported, hence the constant result.
template <class A, class B, class Combine>
constexpr Result<A, B> combine(A a, B b, Combine operation) {
  require_integers<A, B>();
  using T = typename Underlying<Result<A, B>>::type;
  if constexpr (IntegerElement<T> && !AnyFloating<typename Underlying<A>::type> &&
                !AnyFloating<typename Underlying<B>::type>) {
    return Scalar<T>(
        static_cast<T>(operation(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b))));
  } else {
    return {};
  }
}

}  // namespace scalar_detail

template <class A, class B>
  requires scalar_detail::Operands<A, B>
constexpr auto operator+(A a, B b) {
  using scalar_detail::wrap;
  return scalar_detail::combine(a, b,
                                [](std::int64_t x, std::int64_t y) { return wrap(x) + wrap(y); });
}

template <class A, class B>
  requires scalar_detail::Operands<A, B>
constexpr auto operator-(A a, B b) {
  using scalar_detail::wrap;
  return scalar_detail::combine(a, b,
                                [](std::int64_t x, std::int64_t y) { return wrap(x) - wrap(y); });
}

template <class A, class B>
  requires scalar_detail::Operands<A, B>
constexpr auto operator*(A a, B b) {
  using scalar_detail::wrap;
  return scalar_detail::combine(a, b,
                                [](std::int64_t x, std::int64_t y) { return wrap(x) * wrap(y); });
}

template <class A, class B>
  requires scalar_detail::Operands<A, B>
constexpr auto operator/(A a, B b) {
  using scalar_detail::wrap;
  return scalar_detail::combine(a, b, [](std::int64_t x, std::int64_t y) {
    if (y == 0) scalar_detail::throw_division_by_zero();
    return y == -1 ? 0 - wrap(x) : wrap(x / y);
  });
}

template <class A, class B>
  requires scalar_detail::Operands<A, B>
constexpr auto operator%(A a, B b) {
  return scalar_detail::combine(a, b, [](std::int64_t x, std::int64_t y) {
    if (y == 0) scalar_detail::throw_division_by_zero();
    return y == -1 ? 0 : x % y;
  });
}

// An offset, extent, rank or count: what index math may yield. Not constructible from a floating
// value (compile error that names the rule).
class Index {
 public:
  template <std::integral I>
  constexpr Index(I value)  // NOLINT: literals are indices
      : value_(static_cast<std::int64_t>(value)) {}
  template <IntegerElement T>
  constexpr Index(Scalar<T> value) : value_(value.value()) {}  // NOLINT: scalars are indices
  template <AnyFloating F>
  constexpr Index(F) {  // NOLINT: exists to name the rule
    static_assert(kNever<F>,
                  "a floating value is no index: keep index math in INT32 ((rank + 1) % nranks), "
                  "cast only for data ops");
  }
  template <FloatingElement F>
  constexpr Index(Scalar<F>) {  // NOLINT: exists to name the rule
    static_assert(kNever<F>,
                  "a floating scalar is no index: keep index math in INT32 ((rank + 1) % nranks), "
                  "cast only for data ops");
  }
  constexpr std::int64_t value() const { return value_; }

 private:
  std::int64_t value_ = 0;
};

// [rows, cols] of a tensor, tile or window view, in elements.
struct Shape {
  Index rows;
  Index cols;
};

// [row, col] of the first element of a region, in elements.
struct Offsets {
  Index row;
  Index col;
};

template <Element To, Element From>
Scalar<To> cast(Scalar<From> value) {
  return Scalar<To>(arithmetic::cast<To>(value.value()));
}

}  // namespace pl

#endif  // SYMRACE_CORE_SCALAR_H_
