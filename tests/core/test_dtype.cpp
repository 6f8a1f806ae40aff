#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/arithmetic.h"
#include "core/dtype.h"

using pl::bf16;
using pl::DType;
using pl::fp16;
using pl::arithmetic::cast;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Bits of the 16-bit types, so that a test says exactly what is stored.
std::uint16_t bits(fp16 value) { return std::bit_cast<std::uint16_t>(value); }
std::uint16_t bits(bf16 value) { return std::bit_cast<std::uint16_t>(value); }
float widen(fp16 value) { return static_cast<float>(value); }
float widen(bf16 value) { return static_cast<float>(value); }

}  // namespace

TEST_CASE("a dtype's name parses back to it; nothing else parses") {
  CHECK(pl::dtype_name(DType::FP32) == "fp32");
  CHECK(pl::dtype_name(DType::FP16) == "fp16");
  CHECK(pl::dtype_name(DType::BF16) == "bf16");
  CHECK(pl::dtype_name(DType::INT32) == "int32");
  CHECK(pl::dtype_name(DType::INT16) == "int16");
  CHECK(pl::dtype_name(DType::INT8) == "int8");
  for (const DType dtype : pl::kAllDTypes) CHECK(pl::parse_dtype(pl::dtype_name(dtype)) == dtype);
  for (const char* name : {"", "FP32", "fp64", "fp3", "fp322", "int64", " int8"}) {
    CHECK_MESSAGE(!pl::parse_dtype(name).has_value(), name);
  }
}

TEST_CASE("sizes, and the C++ type of each dtype") {
  CHECK(pl::dtype_bytes(DType::FP32) == 4);
  CHECK(pl::dtype_bytes(DType::FP16) == 2);
  CHECK(pl::dtype_bytes(DType::BF16) == 2);
  CHECK(pl::dtype_bytes(DType::INT32) == 4);
  CHECK(pl::dtype_bytes(DType::INT16) == 2);
  CHECK(pl::dtype_bytes(DType::INT8) == 1);
  for (const DType dtype : pl::kAllDTypes) {
    pl::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      CHECK(pl::dtype_of<T>() == dtype);
      CHECK(static_cast<std::int64_t>(sizeof(T)) == pl::dtype_bytes(dtype));
    });
  }
}

TEST_CASE("floating to integer rounds to nearest, ties to even") {
  CHECK(cast<std::int32_t>(0.5F) == 0);
  CHECK(cast<std::int32_t>(1.5F) == 2);
  CHECK(cast<std::int32_t>(2.5F) == 2);
  CHECK(cast<std::int32_t>(-0.5F) == 0);
  CHECK(cast<std::int32_t>(-1.5F) == -2);
  CHECK(cast<std::int32_t>(-2.5F) == -2);
  CHECK(cast<std::int16_t>(2.75F) == 3);
  CHECK(cast<std::int8_t>(fp16(3.5F)) == 4);
  CHECK(cast<std::int8_t>(bf16(-4.5F)) == -4);
}

TEST_CASE("floating to integer saturates; NaN becomes 0") {
  CHECK(cast<std::int8_t>(127.0F) == 127);
  CHECK(cast<std::int8_t>(127.5F) == 127);  // rounds to 128
  CHECK(cast<std::int8_t>(-128.5F) == -128);
  CHECK(cast<std::int8_t>(-1000.0F) == -128);
  CHECK(cast<std::int16_t>(32767.4F) == 32767);
  CHECK(cast<std::int16_t>(40000.0F) == 32767);
  CHECK(cast<std::int16_t>(-40000.0F) == -32768);
  CHECK(cast<std::int32_t>(2147483520.0F) == 2147483520);  // the largest float below 2^31
  CHECK(cast<std::int32_t>(2147483648.0F) == 2147483647);
  CHECK(cast<std::int32_t>(-2147483648.0F) == std::numeric_limits<std::int32_t>::min());
  CHECK(cast<std::int32_t>(-1e30F) == std::numeric_limits<std::int32_t>::min());
  CHECK(cast<std::int32_t>(kInfinity) == 2147483647);
  CHECK(cast<std::int8_t>(-kInfinity) == -128);
  CHECK(cast<std::int16_t>(fp16(kInfinity)) == 32767);
  CHECK(cast<std::int16_t>(bf16(65536.0F)) == 32767);
  CHECK(cast<std::int32_t>(kNaN) == 0);
  CHECK(cast<std::int8_t>(fp16(kNaN)) == 0);
}

TEST_CASE("integers that fit survive any integer cast") {
  CHECK(cast<std::int8_t>(std::int32_t{-128}) == -128);
  CHECK(cast<std::int16_t>(std::int8_t{-5}) == -5);
  CHECK(cast<std::int32_t>(std::int16_t{-32768}) == -32768);
  CHECK(cast<std::int16_t>(std::int32_t{32767}) == 32767);
}

TEST_CASE("fp32 to fp16: 10 fraction bits, to nearest even, overflow to infinity") {
  CHECK(bits(cast<fp16>(1.0F)) == 0x3C00);
  CHECK(bits(cast<fp16>(-2.0F)) == 0xC000);
  CHECK(bits(cast<fp16>(1.0F / 3.0F)) == 0x3555);
  CHECK(widen(cast<fp16>(2049.0F)) == 2048.0F);  // between 2048 and 2050: even
  CHECK(widen(cast<fp16>(2051.0F)) == 2052.0F);  // between 2050 and 2052: even
  CHECK(widen(cast<fp16>(65504.0F)) == 65504.0F);
  CHECK(widen(cast<fp16>(65519.0F)) == 65504.0F);
  CHECK(bits(cast<fp16>(65520.0F)) == 0x7C00);
  CHECK(bits(cast<fp16>(std::ldexp(1.0F, -24))) == 0x0001);
  CHECK(bits(cast<fp16>(std::ldexp(1.0F, -25))) == 0x0000);  // between 0 and 2^-24: even
  CHECK(bits(cast<fp16>(std::ldexp(3.0F, -25))) == 0x0002);  // between 1 and 2 times 2^-24
  CHECK(std::isnan(widen(cast<fp16>(kNaN))));
}

TEST_CASE("fp32 to bf16: 7 fraction bits, to nearest even, fp32's range") {
  CHECK(bits(cast<bf16>(1.0F)) == 0x3F80);
  CHECK(bits(cast<bf16>(-2.0F)) == 0xC000);
  CHECK(widen(cast<bf16>(257.0F)) == 256.0F);  // between 256 and 258: even
  CHECK(widen(cast<bf16>(259.0F)) == 260.0F);  // between 258 and 260: even
  CHECK(widen(cast<bf16>(1.0F + std::ldexp(1.0F, -8))) == 1.0F);
  CHECK(widen(cast<bf16>(1.0F + std::ldexp(3.0F, -8))) == 1.015625F);
  CHECK(widen(cast<bf16>(std::ldexp(1.0F, 100))) == std::ldexp(1.0F, 100));
  CHECK(bits(cast<bf16>(kInfinity)) == 0x7F80);
  CHECK(bits(cast<bf16>(std::numeric_limits<float>::max())) == 0x7F80);
  CHECK(std::isnan(widen(cast<bf16>(kNaN))));
}

TEST_CASE("between the 16-bit types, and from integers, by way of fp32") {
  CHECK(widen(cast<bf16>(fp16(257.0F))) == 256.0F);
  CHECK(bits(cast<fp16>(bf16(65536.0F))) == 0x7C00);
  CHECK(cast<float>(std::int32_t{16777217}) == 16777216.0F);
  CHECK(cast<float>(std::int8_t{-128}) == -128.0F);
  CHECK(widen(cast<fp16>(std::int16_t{2049})) == 2048.0F);
  CHECK(bits(cast<fp16>(std::int32_t{70000})) == 0x7C00);
  CHECK(widen(cast<bf16>(std::int32_t{257})) == 256.0F);
}

TEST_CASE("integer arithmetic wraps") {
  using pl::arithmetic::add;
  using pl::arithmetic::mul;
  using pl::arithmetic::sub;
  using Int8 = std::int8_t;
  using Int16 = std::int16_t;
  using Int32 = std::int32_t;
  CHECK(add(Int8{127}, Int8{1}) == -128);
  CHECK(sub(Int8{-128}, Int8{1}) == 127);
  CHECK(mul(Int8{100}, Int8{3}) == 44);  // 300 - 256
  CHECK(mul(Int8{-128}, Int8{-1}) == -128);
  CHECK(add(Int16{32767}, Int16{1}) == -32768);
  CHECK(sub(Int16{-32768}, Int16{32767}) == 1);  // -65535 + 65536
  CHECK(mul(Int16{300}, Int16{300}) == 24464);   // 90000 - 65536
  CHECK(add(Int32{2147483647}, Int32{1}) == std::numeric_limits<Int32>::min());
  CHECK(sub(std::numeric_limits<Int32>::min(), Int32{1}) == 2147483647);
  CHECK(mul(Int32{46341}, Int32{46341}) == -2147479015);  // 2147488281 - 2^32
  CHECK(mul(Int32{65536}, Int32{65536}) == 0);
}

TEST_CASE("floating arithmetic rounds to its own type") {
  CHECK(widen(pl::arithmetic::add(fp16(2048.0F), fp16(1.0F))) == 2048.0F);
  CHECK(bits(pl::arithmetic::mul(fp16(300.0F), fp16(300.0F))) == 0x7C00);
  CHECK(widen(pl::arithmetic::sub(bf16(256.0F), bf16(-1.0F))) == 256.0F);
  CHECK(pl::arithmetic::add(16777216.0F, 1.0F) == 16777216.0F);
}

TEST_CASE("max and min: a NaN first operand stays") {
  CHECK(pl::arithmetic::max(1, 2) == 2);
  CHECK(pl::arithmetic::min(std::int8_t{-1}, std::int8_t{0}) == -1);
  CHECK(std::isnan(pl::arithmetic::max(kNaN, 1.0F)));
  CHECK(std::isnan(pl::arithmetic::min(kNaN, 1.0F)));
  CHECK(pl::arithmetic::max(1.0F, kNaN) == 1.0F);
  CHECK(pl::arithmetic::min(1.0F, kNaN) == 1.0F);
}
