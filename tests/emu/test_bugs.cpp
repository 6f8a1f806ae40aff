// Both sides of every seeded bug: the buggy kernel shows exactly its row's symptom, from a seed, on
// both vehicles; the mended one passes under every explored schedule. The symptoms are written here
// from the symptom tables of the documents.
#include "emu/replay.h"
#include "tests/emu/bug_run.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kFixedSchedules = 2000;
#else
constexpr std::uint64_t kFixedSchedules = 100000;
#endif
constexpr std::uint64_t kSearchSeeds = 1000;

struct Row {
  const char* program;
  std::int32_t ranks;
  // What each wrong rank's output must be, for all_are(); null: an error, which `error` matches.
  const char* identity;
  const char* error = nullptr;
};

constexpr char kMixture[] = R"(a mixture: (\[\d+:\d+\) (as expected|rank {r}'s old data)(, )?)+)";

const Row kRows[] = {
    {"bug_05_no_barrier", 2, "zeros"},
    {"bug_05_no_barrier", 3, "zeros"},
    {"bug_05_pull_push_confused", 3, "rank {previous}'s input: .*"},
    {"bug_05_barrier_before_staging", 2, "rank {next}'s round 1 data"},
    {"bug_05_barrier_before_staging", 3, "rank {next}'s round 1 data"},
    {"bug_05_barrier_before_store", 2, "rank {r}'s old data"},
    {"bug_06_put_without_signal", 2, "rank {r}'s old data"},
    {"bug_06_notify_before_put", 2, "rank {r}'s old data"},
    {"bug_06_wait_left_out", 2, "rank {r}'s old data"},
    {"bug_06_wrong_peer_put", 3, "rank {next}'s input: .*"},
    {"bug_06_wrong_peer_get", 3, "rank {previous}'s (input: .*|old data)"},
    {"bug_06_wrong_peer_handshake", 3, "rank {next}'s old data"},
    {"bug_06_golden_other_direction", 3,
     R"(rank {previous}'s input: x\[\(r-1\) % N\], where the golden is x\[\(r\+1\) % N\])"},
    {"bug_06_chunked_put_before_signal", 2, kMixture},
    {"bug_06_last_chunk_peeked", 2, kMixture},
    {"bug_06_add_two_rounds", 2,
     "the sum of rank {next}'s round 2 data and rank {next}'s round 1 data"},
    {"bug_06_transfer_too_large", 2, nullptr, "staging tile .* does not fit .*chunk_rows"},
    {"bug_06_pipeline_without_chunks", 2, nullptr,
     "pipeline = true needs both chunk_rows and chunk_cols"},
    {"bug_06_region_past_slice", 2, nullptr, "lies outside window 'dst'"},
};

TEST_CASE("every seeded bug has a row here") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug == nullptr) continue;
    if (info->bug->document == "hw") continue;  // test_hardware_bugs.cpp
    const bool found = std::any_of(std::begin(kRows), std::end(kRows),
                                   [&](const Row& row) { return info->name == row.program; });
    CHECK_MESSAGE(found, info->name);
  }
}

TEST_CASE("the buggy kernel shows its symptom within 1,000 seeds, the same on both vehicles") {
  for (const Row& row : kRows) {
    INFO(row.program, " at ", row.ranks, " ranks");
    const symrace::ProgramInfo& info = *kernels::find_program(row.program);
    BugRun fibers(info, row.ranks, false, {});
    BugRun threads(info, row.ranks, false, {.vehicle = VehicleKind::kThread});
    // The first failing seed, or, where a plainer symptom may come first, the first that shows this
    // one.
    std::uint64_t seed = 0;
    RecordedRun shown;
    for (; seed < kSearchSeeds; ++seed) {
      if (fibers.explorer->run(*fibers.random, seed).outcome == Outcome::kOk) continue;
      shown = fibers.explorer->record(*fibers.random, seed);
      if (row.identity != kMixture || all_are(row.identity, shown.result, row.ranks)) break;
    }
    REQUIRE(seed < kSearchSeeds);

    if (row.error != nullptr) {
      CHECK(shown.result.outcome == Outcome::kError);
      CHECK_MESSAGE(is_in(row.error, shown.result.error), shown.result.error);
      // Before anything moves: nothing was delivered, no op took effect.
      for (const Event& event : shown.log.events) CHECK(event.kind != Event::Kind::kLand);
      continue;
    }
    CHECK(shown.result.outcome == Outcome::kMismatch);
    REQUIRE_FALSE(shown.result.mismatches.empty());
    CHECK_MESSAGE(all_are(row.identity, shown.result, row.ranks),
                  shown.result.mismatches[0].identity);
    for (int again = 0; again < 3; ++again) {
      BugRun& vehicle = again % 2 == 0 ? threads : fibers;
      const RecordedRun same = vehicle.explorer->record(*vehicle.random, seed);
      CHECK(same.trace_hash == shown.trace_hash);
      REQUIRE(same.result.mismatches.size() == shown.result.mismatches.size());
      CHECK(same.result.mismatches[0].identity == shown.result.mismatches[0].identity);
      CHECK(same.result.mismatches[0].actual == shown.result.mismatches[0].actual);
    }
    const auto replay = make_replay_strategy(shown.decisions);
    CHECK(fibers.explorer->record(*replay, 0).trace_hash == shown.trace_hash);
  }
}

TEST_CASE("the mended kernel passes under every explored schedule") {
  for (const Row& row : kRows) {
    INFO(row.program, " at ", row.ranks, " ranks");
    const symrace::ProgramInfo& info = *kernels::find_program(row.program);
    BugRun run(info, row.ranks, true, {});
    // The errors do not depend on order: one schedule of their mended kernels is as good as all.
    const std::uint64_t schedules = row.error != nullptr ? 20 : kFixedSchedules;
    const Exploration sum = run.explorer->explore(*run.random, {0, schedules});
    CHECK(sum.schedules == schedules);
    CHECK(sum.failures() == 0);
    CHECK_FALSE(sum.first_failure);
    if (row.error != nullptr) continue;
    BugRun torn(info, row.ranks, true, {.burst_bytes = 16});
    CHECK(torn.explorer->explore(*torn.random, {0, 500}).failures() == 0);
  }
}

TEST_CASE("a bug that needs late delivery never shows under sc; one of interleaving does") {
  for (const Row& row : kRows) {
    const symrace::ProgramInfo& info = *kernels::find_program(row.program);
    if (row.error != nullptr) continue;
    INFO(row.program);
    BugRun run(info, row.ranks, false, {.model = Model::sc()});
    const Exploration sum = run.explorer->explore(*run.random, {0, 10000});
    CHECK((sum.failures() == 0) == info.bug->needs_late_delivery);
    if (!info.bug->order_dependent) CHECK(sum.failures() == sum.schedules);
  }
}

TEST_CASE("a schedule's seed never changes the input, and a data seed never the schedule") {
  const symrace::ProgramInfo& info = *kernels::find_program("bug_05_no_barrier");
  symrace::Arguments arguments = arguments_of(info, 2, false);
  const auto strategy = make_random_strategy();
  std::vector<std::vector<Decision>> decisions;
  std::set<std::string> expected;
  for (const std::uint64_t data_seed : {std::uint64_t{0}, std::uint64_t{1}}) {
    arguments.data_seed = data_seed;
    const auto program = *info.make(arguments);
    const auto explorer = make_explorer(*program, 2);
    const RecordedRun a = explorer->record(*strategy, 0);
    const RecordedRun b = explorer->record(*strategy, 1);
    decisions.push_back(a.decisions);
    REQUIRE_FALSE(a.result.mismatches.empty());
    expected.insert(a.result.mismatches[0].expected);
    for (const RecordedRun* run : {&a, &b}) {
      for (const symrace::Mismatch& mismatch : run->result.mismatches) {
        if (mismatch.rank == a.result.mismatches[0].rank) {
          CHECK(mismatch.expected == a.result.mismatches[0].expected);
        }
      }
    }
  }
  CHECK(decisions[0] == decisions[1]);
  CHECK(expected.size() == 2);
}

}  // namespace
}  // namespace emu::testing
