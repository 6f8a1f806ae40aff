// The index of writes in flight against a map of single bytes; and schedules with hundreds in
// flight at a time, which are what they were when each was compared with all the others.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "emu/write_index.h"
#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

struct Written {
  std::int32_t target;
  symrace::WindowRegion region;
};

// How often each byte of each target is written to.
class Bytes {
 public:
  void add(const Written& write, int times) {
    for_each_byte(write, [&](auto byte) { counts_[byte] += times; });
  }
  bool holds_some_of(const Written& write) const {
    bool found = false;
    for_each_byte(write, [&](auto byte) {
      const auto count = counts_.find(byte);
      found = found || (count != counts_.end() && count->second != 0);
    });
    return found;
  }

 private:
  template <class Visit>
  static void for_each_byte(const Written& write, Visit&& visit) {
    const symrace::Extent& extent = write.region.extent;
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      for (std::int64_t i = 0; i < extent.row_bytes; ++i) {
        visit(std::pair(write.target,
                        static_cast<std::int64_t>(write.region.offset) + row * extent.stride + i));
      }
    }
  }
  std::map<std::pair<std::int32_t, std::int64_t>, int> counts_;
};

TEST_CASE("what shares a byte with a write is never missed, whatever was added and removed") {
  std::mt19937_64 random(20240607);
  const auto below = [&](std::uint64_t limit) {
    return static_cast<std::int64_t>(random() % limit);
  };
  int sharing = 0;
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t bytes = std::uint64_t{64} << (random() % 8);
    const auto some = [&] {
      const std::int64_t row_bytes = below(random() % 2 == 0 ? 8 : 200);
      return Written{
          static_cast<std::int32_t>(random() % 3),
          {.offset = random() % bytes, .extent = {below(4), row_bytes, row_bytes + below(50)}}};
    };
    WriteIndex index;
    Bytes map;
    std::vector<Written> held;
    for (int step = 0; step < 60; ++step) {
      if (!held.empty() && random() % 3 == 0) {
        std::swap(held[random() % held.size()], held.back());
        index.remove(held.back().target, held.back().region);
        map.add(held.back(), -1);
        held.pop_back();
      } else {
        held.push_back(some());
        index.add(held.back().target, held.back().region);
        map.add(held.back(), 1);
      }
      const Written asked = some();
      if (!map.holds_some_of(asked)) continue;
      ++sharing;
      CHECK(index.may_overlap(asked.target, asked.region));
    }
    index.clear();
    CHECK_FALSE(index.may_overlap(0, {.extent = {1, std::int64_t{1} << 20, 0}}));
  }
  CHECK(sharing > 500);
}

TEST_CASE("rows that lie side by side are told apart, in one slice and in those of many ranks") {
  WriteIndex index;
  const auto row = [](std::uint64_t number) {
    return symrace::WindowRegion{.offset = number * 16, .extent = {1, 16, 16}};
  };
  for (std::uint64_t i = 0; i < 1000; i += 2) index.add(1, row(i));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    CHECK(index.may_overlap(1, row(i)) == (i % 2 == 0));
    CHECK_FALSE(index.may_overlap(0, row(i)));
  }
}

struct Golden {
  const char* program;
  const char* flag;
  const char* value;
  std::int32_t ranks;
  std::int64_t size;
  std::int64_t burst_bytes;
  const char* model;
  std::uint64_t seed;
  std::uint64_t trace;
};

TEST_CASE("with hundreds of transfers in flight schedules are what they were without an index") {
  const Golden goldens[] = {
      {"17_moe_dispatch_combine", "tokens", "200", 4, 4, 0, "documented", 0, 0x7be69262d9865425},
      {"17_moe_dispatch_combine", "tokens", "200", 4, 4, 0, "documented", 1, 0x16fbf240b5adbd53},
      {"17_moe_dispatch_combine", "tokens", "200", 4, 4, 0, "a2a3", 0, 0x936412b8ee405dda},
      {"17_moe_dispatch_combine", "tokens", "200", 4, 4, 0, "a2a3", 1, 0x8157633a3e7d21fd},
      {"17_moe_dispatch_combine", "tokens", "200", 4, 4, 0, "weak", 0, 0x06c359d1ca671dd1},
      {"17_moe_dispatch_combine", "tokens", "200", 4, 4, 0, "weak", 1, 0x379af315bf583c7c},
      {"06_put_get", "mode", "put", 3, 4000, 8, "documented", 3, 0xa1d37a194a376963},
      {"06_put_get", "mode", "get", 3, 4000, 8, "documented", 3, 0xa91a71587d2ce917},
      {"06_put_get", "mode", "put", 3, 4000, 8, "weak", 3, 0x5cb36f29e3d5bf78},
      {"06_put_get", "mode", "get", 3, 4000, 8, "weak", 3, 0x79e30cbbcc5cc9ee},
  };
  for (const Golden& golden : goldens) {
    CAPTURE(golden.program);
    CAPTURE(golden.model);
    CAPTURE(golden.seed);
    const symrace::ProgramInfo& info = *kernels::find_program(golden.program);
    symrace::Arguments arguments = symrace::default_arguments(info, golden.ranks);
    arguments.size = golden.size;
    arguments.flags[golden.flag] = golden.value;
    const auto program = info.make(arguments);
    Options options;
    options.model = *Model::parse(golden.model);
    options.burst_bytes = golden.burst_bytes;
    const auto strategy = make_random_strategy();
    const RecordedRun run =
        make_explorer(**program, golden.ranks, options)->record(*strategy, golden.seed);
    CHECK(run.trace_hash == golden.trace);
  }
}

}  // namespace
}  // namespace emu::testing
