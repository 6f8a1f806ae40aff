// Both sides of every bug seen on hardware: the buggy kernel is right under the models that allow
// it, and shows exactly its row's symptom under the one that does not; the mended one is right. The
// symptoms are written here from the reports.
#include "emu/replay.h"
#include "tests/emu/bug_run.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kCleanSchedules = 2000;
#else
constexpr std::uint64_t kCleanSchedules = 20000;
#endif
constexpr std::uint64_t kSearchSeeds = 1000;

struct Row {
  const char* program;
  std::int32_t ranks;
  const char* model;     // the strongest but sc that shows it
  const char* identity;  // for all_are(); null: a deadlock
  const char* too_weak;  // a model too weak for the mended kernel; null: none
};

constexpr char kOldPart[] = R"(a mixture: (\[0:32\) as expected, \[32:64\) rank 1's round 1 data|)"
                            R"(\[0:32\) rank 0's round 1 data, \[32:64\) as expected))";
constexpr char kOldParts[] =
    R"(a mixture: (\[\d+:\d+\) (as expected|rank \d's round 1 data)(, )?)+)";
constexpr char kHostParts[] =
    R"(rank 0's round 1 data|a mixture: (\[0:32\) as expected, \[32:64\) rank 0's round 1 data|)"
    R"(\[0:32\) rank 0's round 1 data, \[32:64\) as expected))";

const Row kRows[] = {
    {"bug_hw_notify_overtakes_store", 2, "a2a3", "rank {r}'s old data", nullptr},
    {"bug_hw_notify_overtakes_store", 3, "a2a3", "rank {r}'s old data", nullptr},
    {"bug_hw_consumed_too_early", 2, "weak", "rank {next}'s round 2 data", nullptr},
    {"bug_hw_consumed_too_early", 3, "weak", "rank {next}'s round 2 data", nullptr},
    {"bug_hw_drained_pipes", 2, "weak", "rank {next}'s old data", nullptr},
    {"bug_hw_drained_pipes", 3, "weak", "rank {next}'s old data", nullptr},
    {"bug_hw_last_chunk_undrained", 2, "a2a3",
     R"(a mixture: \[0:48\) as expected, \[48:64\) rank {r}'s old data)", nullptr},
    {"bug_hw_remote_store_for_put", 2, "a2a3",
     R"(a mixture: \[0:32\) as expected, \[32:64\) zeros)", "weak"},
    {"bug_hw_leftover_signal", 2, "documented", kOldPart, nullptr},
    {"bug_hw_leftover_signal", 3, "documented", kOldParts, nullptr},
    {"bug_hw_leftover_signal_host", 3, "documented", kHostParts, nullptr},
    {"bug_hw_no_second_barrier", 2, "documented",
     "the sum of rank {r}'s round 2 data and rank 0's result", nullptr},
    {"bug_hw_lost_update", 2, "documented", "rank ({r}|{previous})'s input", nullptr},
    {"bug_hw_lost_update", 3, "documented", "rank ({r}|{previous})'s input", nullptr},
    {"bug_hw_wait_before_send", 2, "documented", nullptr, nullptr},
    {"bug_hw_wait_before_send", 3, "documented", nullptr, nullptr},
};

const symrace::ProgramInfo& info_of(const Row& row) { return *kernels::find_program(row.program); }

// sc, documented, a2a3, weak: each allows what the one before allows, and more.
std::vector<Model> models_before(std::string_view name) {
  std::vector<Model> models;
  for (const Model& model : {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()}) {
    if (model.name == name) break;
    models.push_back(model);
  }
  return models;
}

TEST_CASE("every bug of hardware has a row here, and says the same of itself") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    const bool is_hardware = info->name.starts_with("bug_hw_");
    CHECK_MESSAGE(is_hardware == (info->bug != nullptr && info->bug->document == "hw"), info->name);
    if (!is_hardware) continue;
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& r) { return info->name == r.program; });
    REQUIRE_MESSAGE(row != std::end(kRows), info->name);
    CHECK(info->bug->model == row->model);
    CHECK(info->bug->ranks == row->ranks);
    CHECK_FALSE(info->bug->reference.empty());
  }
}

TEST_CASE("the buggy kernel is right under every model that allows it") {
  for (const Row& row : kRows) {
    const symrace::BugInfo& bug = *info_of(row).bug;
    for (const Model& model : models_before(row.model)) {
      if (model.name == "sc" && !bug.needs_late_delivery) continue;
      INFO(row.program, " at ", row.ranks, " ranks under ", std::string(model.name));
      BugRun run(info_of(row), row.ranks, false, {.model = model});
      CHECK(run.explorer->explore(*run.random, {0, kCleanSchedules}).failures() == 0);
    }
  }
}

TEST_CASE("a bug that sc shows needs another interleaving only") {
  for (const Row& row : kRows) {
    const symrace::BugInfo& bug = *info_of(row).bug;
    if (bug.needs_late_delivery) continue;
    INFO(row.program, " at ", row.ranks, " ranks");
    BugRun run(info_of(row), row.ranks, false, {.model = Model::sc()});
    const Exploration sum = run.explorer->explore(*run.random, {0, kSearchSeeds});
    CHECK(sum.failures() > 0);
    if (!bug.order_dependent) CHECK(sum.failures() == sum.schedules);
  }
}

TEST_CASE("within 1,000 seeds of its model it shows its symptom, and no other") {
  for (const Row& row : kRows) {
    INFO(row.program, " at ", row.ranks, " ranks");
    const Options options{.model = *Model::parse(row.model)};
    BugRun run(info_of(row), row.ranks, false, options);
    RecordedRun shown;
    for (std::uint64_t seed = 0; seed < kSearchSeeds; ++seed) {
      if (run.explorer->run(*run.random, seed).outcome == Outcome::kOk) continue;
      RecordedRun failed = run.explorer->record(*run.random, seed);
      if (row.identity == nullptr) {
        REQUIRE(failed.result.outcome == Outcome::kDeadlock);
        REQUIRE(failed.result.stuck.size() == static_cast<std::size_t>(row.ranks));
        for (const StuckRank& stuck : failed.result.stuck) {
          CHECK(stuck.op == symrace::OpKind::kWait);
          CHECK(stuck.actual == 0);
        }
      } else {
        REQUIRE(failed.result.outcome == Outcome::kMismatch);
        REQUIRE_FALSE(failed.result.mismatches.empty());
        REQUIRE_MESSAGE(all_are(row.identity, failed.result, row.ranks),
                        failed.result.mismatches[0].identity);
      }
      if (shown.trace_hash == 0) shown = std::move(failed);
    }
    REQUIRE(shown.trace_hash != 0);

    Options threads = options;
    threads.vehicle = VehicleKind::kThread;
    BugRun vehicle(info_of(row), row.ranks, false, threads);
    CHECK(vehicle.explorer->record(*vehicle.random, shown.result.seed).trace_hash ==
          shown.trace_hash);
    const auto replay = make_replay_strategy(shown.decisions);
    CHECK(run.explorer->record(*replay, 0).trace_hash == shown.trace_hash);
  }
}

TEST_CASE("the mended kernel is right, under the weaker models too") {
  for (const Row& row : kRows) {
    const bool everywhere = row.too_weak == nullptr;
    for (const Model& model : models_before(everywhere ? "" : row.too_weak)) {
      INFO(row.program, " at ", row.ranks, " ranks under ", std::string(model.name));
      BugRun run(info_of(row), row.ranks, true, {.model = model});
      const Exploration sum = run.explorer->explore(*run.random, {0, kCleanSchedules});
      CHECK(sum.schedules == kCleanSchedules);
      CHECK(sum.failures() == 0);
      BugRun torn(info_of(row), row.ranks, true, {.model = model, .burst_bytes = 16});
      CHECK(torn.explorer->explore(*torn.random, {0, 500}).failures() == 0);
    }
    if (everywhere) continue;
    BugRun run(info_of(row), row.ranks, true, {.model = *Model::parse(row.too_weak)});
    CHECK(run.explorer->explore(*run.random, {0, kSearchSeeds}).failures() > 0);
  }
}

TEST_CASE(
    "the missing second barrier: no round of turns shows it under sc, some does under the "
    "documented model") {
  const symrace::ProgramInfo& info = *kernels::find_program("bug_hw_no_second_barrier");
  const auto turns = make_round_robin_strategy();
  for (const std::int32_t ranks : {2, 3, 8}) {
    INFO(ranks, " ranks");
    BugRun plain(info, ranks, false, {.model = Model::sc()});
    CHECK(plain.explorer->explore(*turns, {0, 100}).failures() == 0);
    BugRun late(info, ranks, false, {});
    CHECK(late.explorer->explore(*turns, {0, 100}).failures() > 0);
  }
}

}  // namespace
}  // namespace emu::testing
