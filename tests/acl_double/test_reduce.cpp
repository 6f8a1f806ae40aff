// Expected bits are worked out by hand, from the formats alone.
#include <cstdint>
#include <vector>

#include "tests/acl_double/session.h"

using acl_double::allocate;
using acl_double::at;
using acl_double::check_misuse;
using acl_double::clean;
using acl_double::create_stream;
using acl_double::read;
using acl_double::start;
using acl_double::write;

namespace {

constexpr aclrtReduceKind kSum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
constexpr aclrtReduceKind kMax = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX;
constexpr aclrtReduceKind kMin = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;

template <class T>
std::vector<T> reduced(aclDataType type, aclrtReduceKind kind, const std::vector<T>& to,
                       const std::vector<T>& from) {
  start();
  const std::size_t bytes = to.size() * sizeof(T);
  void* there = allocate(bytes);
  void* here = allocate(bytes);
  write(there, to);
  write(here, from);
  aclrtStream stream = create_stream();
  CHECK(aclrtReduceAsync(there, here, bytes, kind, type, stream, nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(read<T>(here, from.size()) == from);
  CHECK(clean());
  return read<T>(there, to.size());
}

}  // namespace

TEST_CASE("integers add with wrap-around, and compare with their sign") {
  const std::vector<std::int8_t> a8{100, -100, 5, -128};
  const std::vector<std::int8_t> b8{100, -100, -7, -1};
  CHECK(reduced(ACL_INT8, kSum, a8, b8) == std::vector<std::int8_t>{-56, 56, -2, 127});
  CHECK(reduced(ACL_INT8, kMax, a8, b8) == std::vector<std::int8_t>{100, -100, 5, -1});
  CHECK(reduced(ACL_INT8, kMin, a8, b8) == std::vector<std::int8_t>{100, -100, -7, -128});

  const std::vector<std::int16_t> a16{32767, -3, 300};
  const std::vector<std::int16_t> b16{1, 2, -301};
  CHECK(reduced(ACL_INT16, kSum, a16, b16) == std::vector<std::int16_t>{-32768, -1, -1});
  CHECK(reduced(ACL_INT16, kMax, a16, b16) == std::vector<std::int16_t>{32767, 2, 300});
  CHECK(reduced(ACL_INT16, kMin, a16, b16) == std::vector<std::int16_t>{1, -3, -301});

  const std::vector<std::int32_t> a32{2147483647, -70000, 1};
  const std::vector<std::int32_t> b32{1, 70001, -1};
  CHECK(reduced(ACL_INT32, kSum, a32, b32) == std::vector<std::int32_t>{-2147483647 - 1, 1, 0});
  CHECK(reduced(ACL_INT32, kMax, a32, b32) == std::vector<std::int32_t>{2147483647, 70001, 1});
  CHECK(reduced(ACL_INT32, kMin, a32, b32) == std::vector<std::int32_t>{1, -70000, -1});
}

TEST_CASE("fp32") {
  // 2^24 + 1 lies between two floats and rounds to the even one, 2^24.
  const std::vector<float> a{1.5F, 16777216.0F, -2.0F};
  const std::vector<float> b{2.25F, 1.0F, 1.0F};
  CHECK(reduced(ACL_FLOAT, kSum, a, b) == std::vector<float>{3.75F, 16777216.0F, -1.0F});
  CHECK(reduced(ACL_FLOAT, kMax, a, b) == std::vector<float>{2.25F, 16777216.0F, 1.0F});
  CHECK(reduced(ACL_FLOAT, kMin, a, b) == std::vector<float>{1.5F, 1.0F, -2.0F});
}

TEST_CASE("fp16 rounds each sum to its 11 bits") {
  // 1 is 0x3c00, 2 is 0x4000, -2 is 0xc000. Above 2048 (0x6800) the step is 2: 2048 + 1 is a tie
  // and goes to the even 2048, 2050 (0x6801) + 1 goes to 2052 (0x6802).
  const std::vector<std::uint16_t> a{0x3c00, 0x6800, 0x6801, 0xc000};
  const std::vector<std::uint16_t> b{0x3c00, 0x3c00, 0x3c00, 0x3c00};
  CHECK(reduced(ACL_FLOAT16, kSum, a, b) ==
        std::vector<std::uint16_t>{0x4000, 0x6800, 0x6802, 0xbc00});
  CHECK(reduced(ACL_FLOAT16, kMax, a, b) ==
        std::vector<std::uint16_t>{0x3c00, 0x6800, 0x6801, 0x3c00});
  CHECK(reduced(ACL_FLOAT16, kMin, a, b) ==
        std::vector<std::uint16_t>{0x3c00, 0x3c00, 0x3c00, 0xc000});
}

TEST_CASE("bf16 rounds each sum to its 8 bits") {
  // The upper half of an fp32: 1 is 0x3f80, 2 is 0x4000. Above 256 (0x4380) the step is 2: 256 + 1
  // goes to the even 256, 258 (0x4381) + 1 goes to 260 (0x4382).
  const std::vector<std::uint16_t> a{0x3f80, 0x4380, 0x4381, 0xc000};
  const std::vector<std::uint16_t> b{0x3f80, 0x3f80, 0x3f80, 0x3f80};
  CHECK(reduced(ACL_BF16, kSum, a, b) ==
        std::vector<std::uint16_t>{0x4000, 0x4380, 0x4382, 0xbf80});
  CHECK(reduced(ACL_BF16, kMax, a, b) ==
        std::vector<std::uint16_t>{0x3f80, 0x4380, 0x4381, 0x3f80});
  CHECK(reduced(ACL_BF16, kMin, a, b) ==
        std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x3f80, 0xc000});
}

TEST_CASE("two adds round twice") {
  start();
  void* sum = allocate(2);
  void* one = allocate(2);
  write(sum, std::vector<std::uint16_t>{0x4380});  // 256 + 1 + 1 would be 258, 0x4381
  write(one, std::vector<std::uint16_t>{0x3f80});
  aclrtStream stream = create_stream();
  for (int i = 0; i < 2; ++i) {
    CHECK(aclrtReduceAsync(sum, one, 2, kSum, ACL_BF16, stream, nullptr) == ACL_SUCCESS);
  }
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(read<std::uint16_t>(sum, 1) == std::vector<std::uint16_t>{0x4380});
}

TEST_CASE("no addition of concurrent streams is lost") {
  start();
  constexpr int kAdds = 50;
  void* sum = allocate(8);
  void* one = allocate(8);
  write(sum, std::vector<std::int32_t>{0, 10});
  write(one, std::vector<std::int32_t>{1, -1});
  const aclrtStream streams[] = {create_stream(), create_stream(), create_stream(),
                                 create_stream()};
  for (int i = 0; i < kAdds; ++i) {
    for (aclrtStream stream : streams) {
      REQUIRE(aclrtReduceAsync(sum, one, 8, kSum, ACL_INT32, stream, nullptr) == ACL_SUCCESS);
    }
  }
  for (aclrtStream stream : streams) REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(read<std::int32_t>(sum, 2) == std::vector<std::int32_t>{200, -190});
  CHECK(clean());
}

TEST_CASE("what is not reduced") {
  start();
  void* to = allocate(64);
  void* from = allocate(64);
  aclrtStream stream = create_stream();
  std::int32_t host = 0;
  const auto reduce = [&](void* there, const void* here, std::uint64_t bytes, aclrtReduceKind kind,
                          aclDataType type, void* reserved) {
    return aclrtReduceAsync(there, here, bytes, kind, type, stream, reserved);
  };
  SUBCASE("kind") {
    check_misuse(reduce(to, from, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_INT32, nullptr),
                 207000, "reduce kind 13");
  }
  SUBCASE("type") {
    check_misuse(reduce(to, from, 4, kSum, ACL_UINT8, nullptr), 207000, "data type 4");
  }
  SUBCASE("part of an element") {
    check_misuse(reduce(to, from, 6, kSum, ACL_FLOAT, nullptr), 107008, "6 bytes; expected");
  }
  SUBCASE("address") {
    check_misuse(reduce(at(to, 1), from, 2, kSum, ACL_FLOAT16, nullptr), 107008, "2 bytes");
  }
  SUBCASE("reserved") {
    check_misuse(reduce(to, from, 4, kSum, ACL_INT32, &host), 100000, "reserve is not null");
  }
  SUBCASE("into the host") {
    check_misuse(reduce(&host, from, 4, kSum, ACL_INT32, nullptr), 107000, "dst is host memory");
  }
  SUBCASE("from the host") {
    check_misuse(reduce(to, &host, 4, kSum, ACL_INT32, nullptr), 107000, "src is host memory");
  }
  SUBCASE("too far") {
    check_misuse(reduce(to, from, 68, kSum, ACL_INT32, nullptr), 107000,
                 "bytes [0, 68) of an allocation of 64 bytes");
  }
}
