#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "core/region.h"
#include "core/rng.h"

using symrace::Extent;
using symrace::WindowRegion;

namespace {

WindowRegion at(std::uint64_t offset, Extent extent) {
  WindowRegion region;
  region.offset = offset;
  region.extent = extent;
  return region;
}

// Which row holds each byte: what a region means, byte by byte.
std::map<std::int64_t, std::int64_t> rows_by_byte(const WindowRegion& region) {
  std::map<std::int64_t, std::int64_t> rows;
  for (std::int64_t row = 0; row < region.extent.rows; ++row) {
    for (std::int64_t byte = 0; byte < region.extent.row_bytes; ++byte) {
      rows[static_cast<std::int64_t>(region.offset) + row * region.extent.stride + byte] = row;
    }
  }
  return rows;
}

// A byte that two regions share, with its row in each.
using Byte = std::array<std::int64_t, 3>;

WindowRegion random_region(symrace::Xoshiro256& rng) {
  Extent extent;
  extent.rows = rng.below(6);
  extent.row_bytes = rng.below(7);
  extent.stride = extent.row_bytes + rng.below(8);
  return at(rng.below(48), extent);
}

}  // namespace

TEST_CASE("extents: bytes, span, contiguity") {
  const Extent strided{3, 4, 10};
  CHECK(strided.bytes() == 12);
  CHECK(strided.span() == 24);
  CHECK_FALSE(strided.contiguous());
  CHECK(Extent{3, 4, 4}.contiguous());
  CHECK(Extent{1, 4, 10}.contiguous());
  CHECK(Extent{0, 4, 10}.empty());
  CHECK(Extent{3, 0, 10}.span() == 0);
}

TEST_CASE("two columns of one matrix do not overlap though their bounding boxes do") {
  const WindowRegion left = at(0, {4, 4, 16});
  const WindowRegion right = at(4, {4, 4, 16});
  CHECK_FALSE(symrace::overlaps(left, right));
  CHECK(symrace::overlaps(left, at(3, {4, 4, 16})));
}

TEST_CASE("overlap equals the byte sets' intersection, over random strided regions") {
  symrace::Xoshiro256 rng(1);
  int overlapping = 0;
  for (int round = 0; round < 50'000; ++round) {
    const WindowRegion a = random_region(rng);
    const WindowRegion b = random_region(rng);
    const auto bytes_a = rows_by_byte(a);
    const auto bytes_b = rows_by_byte(b);
    std::set<Byte> expected;
    for (const auto& [byte, row] : bytes_b) {
      const auto found = bytes_a.find(byte);
      if (found != bytes_a.end()) expected.insert({byte, found->second, row});
    }
    std::set<Byte> visited;
    bool twice = false;
    const auto visit = [&](std::int64_t row_a, std::int64_t row_b, std::int64_t begin,
                           std::int64_t end) {
      for (std::int64_t byte = begin; byte < end; ++byte) {
        twice |= !visited.insert({byte, row_a, row_b}).second;
      }
    };
    symrace::for_each_overlap(a, b, visit);
    const bool same = visited == expected && !twice &&
                      symrace::overlaps(a, b) == !expected.empty() &&
                      symrace::overlaps(b, a) == !expected.empty();
    overlapping += expected.empty() ? 0 : 1;
    if (!same) {
      FAIL("round ", round, ": a at ", a.offset, " rows ", a.extent.rows, " x ", a.extent.row_bytes,
           " stride ", a.extent.stride, ", b at ", b.offset, " rows ", b.extent.rows, " x ",
           b.extent.row_bytes, " stride ", b.extent.stride);
    }
  }
  CHECK(overlapping > 5'000);  // neither outcome is rare, or the test shows nothing
  CHECK(overlapping < 45'000);
}

TEST_CASE("copy_rows leaves what lies between the rows alone") {
  std::array<unsigned char, 12> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i + 1);
  std::array<unsigned char, 12> to{};
  // 3 rows of 2 bytes: every 4th byte here, every 5th there.
  symrace::copy_rows(reinterpret_cast<std::byte*>(to.data()), 5,
                     reinterpret_cast<const std::byte*>(from.data()), 4, 3, 2);
  CHECK(to == std::array<unsigned char, 12>{1, 2, 0, 0, 0, 5, 6, 0, 0, 0, 9, 10});
  to = {};
  symrace::copy_rows(reinterpret_cast<std::byte*>(to.data()), 2,
                     reinterpret_cast<const std::byte*>(from.data()), 2, 2, 2);
  CHECK(to == std::array<unsigned char, 12>{1, 2, 3, 4});
}
