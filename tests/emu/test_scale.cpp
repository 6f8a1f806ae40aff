// Many ranks: what is counted, what is found, and what is kept. Not how long it takes:
// bench/scale_bench.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "bench/scale_kernels.h"
#include "core/posix_heap.h"
#include "emu/execution.h"
#include "emu/explore.h"
#include "emu/strategies.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::int32_t kSuperNode = 48;
constexpr std::int32_t kRing = 16;
#else
constexpr std::int32_t kSuperNode = 384;
constexpr std::int32_t kRing = 64;
#endif

RecordedRun record(symrace::Program& program, std::int32_t ranks, std::uint64_t seed = 0) {
  const auto explorer = *Explorer::create(program, ranks, {});
  return explorer->record(*make_random_strategy(), seed);
}

bool is_in_kernels(const Access& access) {
  return std::string_view(access.where.file_name()).ends_with("scale_kernels.h");
}

TEST_CASE("a mesh barrier of a super-node: a notify for each ordered pair lands, nothing races") {
  auto program = bench::mesh_barrier(kSuperNode);
  const RecordedRun run = record(program, kSuperNode);
  CHECK(run.result.outcome == Outcome::kOk);
  CHECK(run.result.races.empty());
  const auto landed =
      std::count_if(run.log.events.begin(), run.log.events.end(), [](const Event& event) {
        return event.kind == Event::Kind::kLand && event.op == symrace::OpKind::kNotify;
      });
  CHECK(landed == kSuperNode * (kSuperNode - 1));
#ifndef SYMRACE_FEWER_CASES
  CHECK(landed == 147'072);
#endif
}

TEST_CASE("one notify left out of a mesh barrier: the one rank that waits for it is named") {
  const std::int32_t flawed = kSuperNode / 3;
  auto program = bench::mesh_barrier(kSuperNode, {.rank = flawed});
  const RecordedRun run = record(program, kSuperNode);
  CHECK(run.result.outcome == Outcome::kDeadlock);
  REQUIRE(run.result.stuck.size() == 1);
  CHECK(run.result.stuck.front().rank == flawed + 1);
  CHECK(run.result.stuck.front().cell == flawed);
}

TEST_CASE("one wait left out of a mesh barrier: the one read that nothing orders is named") {
  const std::int32_t flawed = kSuperNode / 3;
  auto sound = bench::mesh_shift(kSuperNode);
  CHECK(record(sound, kSuperNode).result.races.empty());
  auto program = bench::mesh_shift(kSuperNode, {.rank = flawed});
  const RecordedRun run = record(program, kSuperNode);
  REQUIRE(run.result.races.size() == 1);
  const Race& race = run.result.races.front();
  CHECK(race.count == 1);
  const Access& read = race.first.writes() ? race.second : race.first;
  const Access& write = race.first.writes() ? race.first : race.second;
  CHECK(read.rank == flawed);
  CHECK(read.op == symrace::OpKind::kRemoteLoad);
  CHECK(write.rank == flawed + 1);
  CHECK(write.op == symrace::OpKind::kStore);
  CHECK(read.target == flawed + 1);
  CHECK(is_in_kernels(read));
  CHECK(is_in_kernels(write));
}

TEST_CASE("a ring all-reduce: right and free of races; with a wait left out, its lines are named") {
  const std::int64_t size = std::int64_t{kRing} * 20;
  {
    bench::RingAllreduce program(kRing, size);
    const RecordedRun run = record(program, kRing);
    CHECK(run.result.outcome == Outcome::kOk);
    CHECK(run.result.races.empty());
  }
  const std::int32_t flawed = kRing / 4;
  for (const std::int32_t round : {3, 2 * kRing - 4}) {
    CAPTURE(round);
    bench::RingAllreduce program(kRing, size, {.rank = flawed, .round = round});
    const RecordedRun run = record(program, kRing);
    REQUIRE_FALSE(run.result.races.empty());
    const bool is_named =
        std::any_of(run.result.races.begin(), run.result.races.end(), [&](const Race& race) {
          const Access& read = race.first.writes() ? race.second : race.first;
          const Access& write = race.first.writes() ? race.first : race.second;
          return read.op == symrace::OpKind::kRemoteLoad && read.rank == flawed &&
                 write.op == symrace::OpKind::kStore && write.rank == flawed - 1 &&
                 is_in_kernels(read) && is_in_kernels(write);
        });
    CHECK(is_named);
  }
}

TEST_CASE("what the detector keeps does not grow with the length of a run") {
  constexpr std::int32_t kRanks = 32;
  struct Kept {
    std::size_t accesses, clocks;
  };
  const auto after = [](std::int32_t rounds) {
    auto program = bench::token_ring(kRanks, rounds);
    const auto heap = *symrace::PosixHeap::create(kRanks);
    Execution execution(program, *heap, {});
    const RunResult result = execution.run(*make_random_strategy(), 0);
    CHECK(result.outcome == Outcome::kOk);
    CHECK(result.races.empty());
    return Kept{execution.detector()->kept_accesses(), execution.detector()->kept_clocks()};
  };
  const Kept few = after(3);
  const Kept many = after(300);
  CHECK(many.accesses == few.accesses);
  CHECK(few.accesses <= kRanks * 8);
  CHECK(many.clocks <= kRanks * 4);
}

TEST_CASE("cells of a large signal window: what signals leave is what loads and waits see") {
  // Some 10,000 pages, of which a rank's cells lie on a few: few cells a page, and then many.
  constexpr std::int32_t kRanks = 4;
  constexpr std::int32_t kRows = 2600;
  constexpr std::int32_t kCols = 1024;
  std::vector<std::int32_t> seen;
  symrace::FunctionProgram program([&](pld::Host& host) {
    seen.clear();
    const auto buffer = host.alloc_window_buffer({kRows, kCols}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < kRanks; ++r) {
      host.dispatch(
          pld::device(r),
          [&seen](const bench::Signal& signal) {
            const auto me = pld::rank(pld::get_comm_ctx(signal)).value();
            if (me == 0) {
              for (std::int32_t row : {7, 2000}) {
                for (std::int32_t col = 0; col < (row == 7 ? 3 : 9); ++col) {
                  pld::system::notify(signal, 1, {row, col}, row + col, pld::NotifyOp::Set);
                }
              }
              pld::system::notify(signal, 1, {0, 0}, 1, pld::NotifyOp::AtomicAdd);
            } else if (me == 1) {
              pld::system::wait(signal, {7, 2}, 9, pld::WaitCmp::Eq);
              pld::system::wait(signal, {2000, 8}, 2008, pld::WaitCmp::Eq);
              pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Ge);
              for (std::int32_t row : {7, 8, 2000}) {
                const auto cells = pl::load(signal, {row, 0}, {1, 10});
                seen.insert(seen.end(), cells.data({}), cells.data({}) + 10);
              }
            }
          },
          host.window<std::int32_t>(buffer, {kRows, kCols}));
    }
  });
  const std::vector<std::int32_t> expected = {
      7, 8, 9, 0, 0, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
      0, 0, 0, 0, 0, 2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 0};
  const auto explorer = *Explorer::create(program, kRanks, {});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const RunResult result = explorer->run(*make_random_strategy(), seed);
    CHECK(result.outcome == Outcome::kOk);
    CHECK(seen == expected);
    std::vector<std::int32_t> cell(1);
    explorer->heap().copy_out<std::int32_t>(1, 0, cell);
    CHECK(cell[0] == 1);
    explorer->heap().copy_out<std::int32_t>(2, 0, cell);
    CHECK(cell[0] == 0);
  }
}

// What each is after are those before it, and not each of them once for every way between them.
TEST_CASE("many writes to the same bytes may be in flight at a time") {
  symrace::FunctionProgram program([](pld::Host& host) {
    const auto buffer = host.alloc_window_buffer({1, 8}, pl::DType::FP32, "data");
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      host.dispatch(
          pld::device(rank),
          [](const pld::DistributedTensor<float>& data) {
            if (pld::rank(pld::get_comm_ctx(data)).value() != 0) return;
            for (int i = 0; i < 200; ++i) {
              pld::remote_store(pl::full<float>({1, 8}, i), data, 1, {0, 0});
            }
            pld::tensor::put(data, 1, data, pld::AtomicType::None_);
          },
          host.window<float>(buffer, {1, 8}));
    }
  });
  for (const Model& model : {Model::a2a3(), Model::weak()}) {
    const auto explorer = *Explorer::create(program, 2, {.model = model});
    const RunResult result = explorer->run(*make_random_strategy(), 1);
    CHECK(result.outcome == Outcome::kOk);
    CHECK(result.races.empty());
  }
}

}  // namespace
}  // namespace emu::testing
