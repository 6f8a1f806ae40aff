#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "core/error.h"
#include "core/scalar.h"
#include "tests/core/fake_rank.h"

using Int32 = pl::Scalar<std::int32_t>;
using Int8 = pl::Scalar<std::int8_t>;

namespace {

constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();

std::string division_error(Int32 divisor, bool modulo) {
  try {
    const Int32 one = 1;
    static_cast<void>(modulo ? one % divisor : one / divisor);
  } catch (const symrace::KernelError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("index math: the ring neighbours of every rank") {
  const Int32 nranks = 3;
  const std::int32_t next[] = {1, 2, 0};
  const std::int32_t previous[] = {2, 0, 1};
  for (std::int32_t r = 0; r < 3; ++r) {
    const Int32 rank = r;
    CHECK(((rank + 1) % nranks).value() == next[r]);
    CHECK(((rank - 1 + nranks) % nranks).value() == previous[r]);
  }
}

TEST_CASE("a result has the scalar's type, whichever side it is on") {
  static_assert(std::is_same_v<decltype(Int32(1) + 1), Int32>);
  static_assert(std::is_same_v<decltype(1 + Int8(1)), Int8>);
  static_assert(std::is_same_v<decltype(Int32(1) * std::int64_t{2}), Int32>);
  CHECK((10 - Int32(3)).value() == 7);
  CHECK((7 / Int32(2)).value() == 3);
  CHECK((2 * Int8(5)).value() == 10);
}

TEST_CASE("division truncates towards zero, and % has the dividend's sign") {
  CHECK((Int32(-7) / 2).value() == -3);
  CHECK((Int32(-7) % 3).value() == -1);
  CHECK((Int32(7) % -3).value() == 1);
}

TEST_CASE("integers wrap") {
  CHECK((Int32(kHighest) + 1).value() == kLowest);
  CHECK((Int32(kLowest) - 1).value() == kHighest);
  CHECK((Int32(65536) * 65536).value() == 0);
  CHECK((Int32(kLowest) / -1).value() == kLowest);
  CHECK((Int32(kLowest) % -1).value() == 0);
  CHECK((Int8(100) + Int8(100)).value() == -56);
  CHECK((pl::Scalar<std::int16_t>(300) * 300).value() == 24464);
}

TEST_CASE("division by zero is an error, not a signal") {
  const std::string expected =
      "the kernel divided a scalar by zero in index math; check the divisor first";
  CHECK(division_error(0, false) == expected);
  CHECK(division_error(0, true) == expected);
  CHECK(division_error(1, true) == "no error");
  const fake::Rank rank(1, 3);
  CHECK(division_error(0, false) ==
        "rank 1: the kernel divided a scalar by zero in index math before its first op; check the "
        "divisor first");
}

TEST_CASE("a scalar compares and bounds loops as its value") {
  const Int32 nranks = 4;
  std::int32_t turns = 0;
  for (std::int32_t r = 0; r < nranks; ++r) ++turns;
  CHECK(turns == 4);
  CHECK(Int32() == 0);
  CHECK(nranks != 5);
}

TEST_CASE("integers and integer scalars are indices") {
  CHECK(pl::Index(std::uint8_t{200}).value() == 200);
  CHECK(pl::Index(-1).value() == -1);
  CHECK(pl::Index(Int8(-7)).value() == -7);
  CHECK(pl::Index(Int32(5) + 1).value() == 6);
  const pl::Shape shape{Int32(2), 3};
  CHECK(shape.rows.value() == 2);
  CHECK(shape.cols.value() == 3);
}

TEST_CASE("cast is the way to a floating scalar") {
  CHECK(pl::cast<float>(Int32(-3)).value() == -3.0F);
  CHECK(pl::cast<std::int8_t>(pl::Scalar<float>(2.5F)).value() == 2);
  CHECK(pl::cast<std::int8_t>(pl::Scalar<float>(1e9F)).value() == 127);
  CHECK(static_cast<float>(pl::cast<pl::bf16>(Int32(257)).value()) == 256.0F);
}
