// Shadow against a map of single bytes: whatever forms its pages take, each byte has the entries of
// the accesses that touched it, in their order, and the clock of its cell is where it was put.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "emu/shadow.h"

namespace {

constexpr std::int32_t kRanks = 3;
constexpr std::uint64_t kBytes = 2 * 4096 + 64;  // pages of both kinds, and the begin of a third

symrace::WindowRegion region(std::uint64_t offset, symrace::Extent extent) {
  return {nullptr, offset, extent, pl::DType::INT8};
}

struct Bytes {
  std::vector<std::vector<std::uint32_t>> touched{kRanks * kBytes};  // numbers of accesses

  std::vector<std::uint32_t>& at(std::int32_t rank, std::uint64_t offset) {
    return touched[static_cast<std::uint64_t>(rank) * kBytes + offset];
  }
};

void touch(emu::Shadow& shadow, Bytes& bytes, std::int32_t rank,
           const symrace::WindowRegion& touched, std::uint32_t number) {
  shadow.for_each(rank, touched, [&](emu::ShadowState& state) {
    emu::ShadowEntry entry;
    entry.number = number;
    state.entries.push_back(entry);
  });
  const symrace::Extent& extent = touched.extent;
  for (std::int64_t row = 0; row < extent.rows; ++row) {
    for (std::int64_t byte = 0; byte < extent.row_bytes; ++byte) {
      bytes.at(rank, touched.offset + static_cast<std::uint64_t>(row * extent.stride + byte))
          .push_back(number);
    }
  }
}

// Looks at each byte; that splits intervals, so it comes last.
void check(emu::Shadow& shadow, Bytes& bytes) {
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    for (std::uint64_t offset = 0; offset < kBytes; ++offset) {
      const std::vector<std::uint32_t>& wanted = bytes.at(rank, offset);
      std::vector<std::uint32_t> seen;
      shadow.for_each(rank, region(offset, {1, 1, 1}), [&](const emu::ShadowState& state) {
        for (std::uint32_t i = 0; i < state.entries.size(); ++i) {
          seen.push_back(state.entries.data()[i].number);
        }
      });
      REQUIRE_MESSAGE(seen == wanted, "rank ", rank, ", byte ", offset);
    }
  }
}

TEST_CASE("each byte has its accesses, whatever forms the pages take") {
  emu::ClockTable clocks;
  clocks.begin(kRanks);
  emu::Shadow shadow(clocks);
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int schedule = 0; schedule < 60; ++schedule) {
    shadow.begin(kRanks, kBytes);
    Bytes bytes;
    const std::uint64_t accesses = 10 + below(300);
    // Of a hundred: few or many of other shapes, so that pages of cells become others early, late
    // or never.
    const std::uint64_t others = schedule % 3 == 0 ? 0 : schedule % 3 == 1 ? 1 : 30;
    for (std::uint32_t number = 1; number <= accesses; ++number) {
      const auto rank = static_cast<std::int32_t>(below(kRanks));
      if (below(100) >= others) {
        touch(shadow, bytes, rank, region(4 * below(kBytes / 4), {1, 4, 4}), number);
      } else if (below(2) == 0) {
        const std::uint64_t begin = below(kBytes);
        const auto length = static_cast<std::int64_t>(1 + below(kBytes - begin));
        touch(shadow, bytes, rank, region(begin, {1, length, length}), number);
      } else {
        touch(shadow, bytes, rank, region(below(kBytes - 5 * 512), {5, 6, 512}), number);
      }
    }
    check(shadow, bytes);
  }
}

TEST_CASE("the clock of a cell stays with it when its page changes form") {
  emu::ClockTable clocks;
  clocks.begin(kRanks);
  emu::Shadow shadow(clocks);
  shadow.begin(kRanks, kBytes);
  constexpr std::uint32_t kCells = 100;  // more than a page of few intervals has
  for (std::uint32_t cell = 0; cell < kCells; ++cell) {
    emu::CellClock& clock = shadow.cell(1, std::uint64_t{cell} * 8).cell;
    CHECK(clock.rank == -1);
    clock.rank = static_cast<std::int32_t>(cell);
  }
  const auto all_are_there = [&] {
    for (std::uint32_t cell = 0; cell < kCells; ++cell) {
      CHECK(shadow.cell(1, std::uint64_t{cell} * 8).cell.rank == static_cast<std::int32_t>(cell));
    }
  };
  all_are_there();
  shadow.for_each(1, region(2, {1, 3, 3}), [](emu::ShadowState&) {});  // half of cell 0, and more
  all_are_there();
  CHECK(shadow.cell(0, 0).cell.rank == -1);
  shadow.begin(kRanks, kBytes);
  CHECK(shadow.cell(1, 8).cell.rank == -1);
}

}  // namespace
