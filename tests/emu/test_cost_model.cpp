// Modelled transfers against the published times, and against sums done by hand.
#include <cmath>
#include <string>

#include "core/function_program.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

// One put or get of a [rows, cols] fp32 window slice by rank 0 to or from rank 1.
struct Move {
  bool is_put = false;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  pld::TransferOptions options = {};
};

Picoseconds time_of(const CostModel& costs, const Move& move) {
  symrace::FunctionProgram program([&](pld::Host& host) {
    const pl::Shape shape{move.rows, move.cols};
    const auto from = host.alloc_window_buffer(shape, pl::DType::FP32, "from");
    const auto to = host.alloc_window_buffer(shape, pl::DType::FP32, "to");
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      host.dispatch(
          pld::device(rank),
          [&move](pld::DistributedTensor<float> src, pld::DistributedTensor<float> dst) {
            if (my_rank() != 0) return;
            if (move.is_put) {
              pld::tensor::put(dst, 1, src, pld::AtomicType::None_, move.options);
            } else {
              pld::tensor::get(dst, 1, src, move.options);
            }
          },
          host.window<float>(from, shape), host.window<float>(to, shape));
    }
  });
  const auto explorer = make_explorer(program, 2, {.detect_races = false, .costs = costs});
  const RunResult result = explorer->run(*make_random_strategy(), 0);
  REQUIRE_MESSAGE(result.outcome == Outcome::kOk, result.error);
  REQUIRE(result.rank_ps.size() == 2);
  CHECK(result.rank_ps[1] == 0);
  CHECK(result.modelled_ps() == result.rank_ps[0]);
  return result.rank_ps[0];
}

// The published get stages tiles of 1024 floats.
Picoseconds published_get(const CostModel& costs, std::int64_t bytes) {
  return time_of(costs, {.cols = bytes / 4, .options = {.chunk_rows = 1, .chunk_cols = 1024}});
}

TEST_CASE("a2a3 comes within 6 % of each of the twelve published points") {
  struct Point {
    std::int64_t bytes;
    double staged_cycles, async_cycles;
  };
  constexpr Point kPoints[] = {{4096, 36.28, 136.51},       {16384, 149.98, 161.40},
                               {65536, 579.62, 277.25},     {262144, 2409.72, 745.54},
                               {1048576, 9317.93, 2624.24}, {4194304, 37924.12, 10273.68}};
  constexpr double kPicosecondsPerCycle = 20'000;
  const auto error = [](Picoseconds modelled, double cycles) {
    return std::abs(static_cast<double>(modelled) / kPicosecondsPerCycle / cycles - 1);
  };
  for (const Point& point : kPoints) {
    CAPTURE(point.bytes);
    CHECK(error(published_get(CostModel::a2a3(), point.bytes), point.staged_cycles) < 0.06);
    CHECK(error(published_get(CostModel::a2a3_async(), point.bytes), point.async_cycles) < 0.06);
  }
}

TEST_CASE("the staged and the asynchronous path cross between 16 and 64 KiB, once") {
  for (std::int64_t kib = 4; kib <= 256; kib += 4) {
    CAPTURE(kib);
    const Picoseconds staged = published_get(CostModel::a2a3(), kib * 1024);
    const Picoseconds async = published_get(CostModel::a2a3_async(), kib * 1024);
    if (kib <= 16) CHECK(staged < async);
    if (kib >= 20) CHECK(async < staged);
  }
}

TEST_CASE("a path has at most three parameters") {
  static_assert(sizeof(StagedPath) <= 3 * sizeof(Picoseconds));
  static_assert(sizeof(AsyncPath) <= 3 * sizeof(Picoseconds));
}

TEST_CASE("presets have names, and differ in the path only") {
  CHECK(CostModel::parse("a2a3")->path == CostModel::Path::kStaged);
  CHECK(CostModel::parse("a2a3-async")->path == CostModel::Path::kAsync);
  CHECK(CostModel::parse("a2a3-async")->staged.start == CostModel::a2a3().staged.start);
  CHECK_FALSE(CostModel::parse("a3").has_value());
}

TEST_CASE("streams are rounded down to the picosecond, at any size") {
  CHECK(stream_time(0, 1000) == 0);
  CHECK(stream_time(1, 1000) == 0);
  CHECK(stream_time(2, 1000) == 1);
  CHECK(stream_time(1024, 1000) == 1000);
  CHECK(stream_time(1025, 2048) == 2050);
  CHECK(stream_time(std::uint64_t{1} << 40, CostModel::kSlowestPerKib) ==
        (std::uint64_t{1} << 30) * CostModel::kSlowestPerKib);
}

// 3 ps a remote byte, 1 ps a local one, 100 ps a move: for a chunk of 16 bytes, 148 and 116.
CostModel by_hand(CostModel::Path path = CostModel::Path::kStaged) {
  return {.name = "by hand",
          .path = path,
          .staged = {.start = 100, .remote_per_kib = 3 * 1024, .local_per_kib = 1024},
          .async = {.start = 1000, .per_kib = 2 * 1024},
          .signal_latency = 500,
          .issue = 10};
}

TEST_CASE("chunks are load-then-store without a pipeline, and load-over-store with one") {
  struct Row {
    const char* name;
    Move move;
    Picoseconds expected;
  };
  const pld::TransferOptions chunked{.chunk_rows = 1, .chunk_cols = 4};
  const pld::TransferOptions pipelined{.chunk_rows = 1, .chunk_cols = 4, .pipeline = true};
  const Row rows[] = {
      {"get, whole: 100 + 3 * 48, 100 + 48", {.cols = 12}, 244 + 148},
      {"get, 3 chunks", {.cols = 12, .options = chunked}, 3 * (148 + 116)},
      {"get, 3 over", {.cols = 12, .options = pipelined}, 148 + 2 * 148 + 116},
      {"get, 1 over", {.cols = 4, .options = pipelined}, 148 + 116},
      {"get, 16 16 8 bytes", {.cols = 10, .options = chunked}, 2 * 264 + 124 + 108},
      // The last load ends at 420, when the second store is over since 412.
      {"get, 16 16 8 over", {.cols = 10, .options = pipelined}, 2 * 148 + 124 + 108},
      {"get, two rows of 16 8", {.rows = 2, .cols = 6, .options = chunked}, 2 * (264 + 232)},
      {"put, whole", {.is_put = true, .cols = 12}, 148 + 244},
      {"put, 3 chunks", {.is_put = true, .cols = 12, .options = chunked}, 3 * (116 + 148)},
      {"put, 3 over", {.is_put = true, .cols = 12, .options = pipelined}, 116 + 2 * 148 + 148},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(time_of(by_hand(), row.move) == row.expected);
  }
}

TEST_CASE("n equal chunks with a pipeline: load + (n-1) * max(load, store) + store") {
  for (std::int64_t chunks = 1; chunks <= 20; ++chunks) {
    for (const bool is_put : {false, true}) {
      const Move move{.is_put = is_put,
                      .cols = 4 * chunks,
                      .options = {.chunk_rows = 1, .chunk_cols = 4, .pipeline = true}};
      CHECK(time_of(by_hand(), move) == 148 + static_cast<std::uint64_t>(chunks - 1) * 148 + 116);
    }
  }
}

TEST_CASE("the asynchronous path stages nothing, so that chunks make no difference to it") {
  for (const bool is_put : {false, true}) {
    for (const pld::TransferOptions& options :
         {pld::TransferOptions{}, pld::TransferOptions{.chunk_rows = 1, .chunk_cols = 4},
          pld::TransferOptions{.chunk_rows = 1, .chunk_cols = 4, .pipeline = true}}) {
      CHECK(time_of(by_hand(CostModel::Path::kAsync),
                    {.is_put = is_put, .cols = 12, .options = options}) == 1000 + 2 * 48);
    }
  }
}

}  // namespace
}  // namespace emu::testing
