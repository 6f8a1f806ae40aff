// What is found is explained and shrunk: every seeded bug's finding has the symptom of its row,
// names the two lines, and its shrunk schedule shows the same on one screen.
#include "emu/diagnosis.h"
#include "emu/replay.h"
#include "emu/shrink.h"
#include "tests/emu/bug_run.h"

namespace emu::testing {
namespace {

// The rows of docs/races.md and docs/hardware-bugs.md, and the ends of the race by file and op;
// "" where the bug is no race.
struct Row {
  const char* program;
  std::int32_t ranks;
  const char* symptom;
  const char* write = "";
  const char* read = "";
};

const Row kRows[] = {
    {"bug_05_no_barrier", 2, "zeros", "store", "remote_load"},
    {"bug_05_pull_push_confused", 3, "wrong-direction"},
    {"bug_05_barrier_before_staging", 2, "stale-round", "store", "remote_load"},
    {"bug_05_barrier_before_store", 2, "stale-slice", "remote_store", "load"},
    {"bug_06_put_without_signal", 2, "stale-dst", "put", "load"},
    {"bug_06_notify_before_put", 2, "stale-dst", "put", "load"},
    {"bug_06_wait_left_out", 2, "stale-dst", "put", "load"},
    {"bug_06_golden_other_direction", 3, "golden-behind"},
    {"bug_06_chunked_put_before_signal", 2, "torn", "put", "load"},
    {"bug_06_last_chunk_peeked", 2, "torn", "put", "read"},
    {"bug_06_add_two_rounds", 2, "sum"},
    {"bug_hw_notify_overtakes_store", 2, "notify-overtakes", "remote_store", "load"},
    {"bug_hw_consumed_too_early", 2, "load-overwritten", "store", "remote_load"},
    {"bug_hw_drained_pipes", 2, "notify-overtakes", "store", "remote_load"},
    {"bug_hw_last_chunk_undrained", 2, "partial-put", "put", "load"},
    {"bug_hw_leftover_signal", 2, "second-call"},
    {"bug_hw_lost_update", 2, "lost-update"},
    {"bug_hw_wait_before_send", 2, "hang"},
};

Model model_of(const symrace::ProgramInfo& info) {
  return Model::parse(info.bug->model).value_or(Model::documented());
}

// The first schedule whose output is wrong or that gets stuck, as the symptom has it.
std::optional<RecordedRun> first_failure(BugRun& bug) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    if (bug.explorer->run(*bug.random, seed).outcome == Outcome::kOk) continue;
    return bug.explorer->record(*bug.random, seed);
  }
  return std::nullopt;
}

TEST_CASE("every seeded bug is explained by its row, and shrinks to a screen") {
  for (const Row& row : kRows) {
    INFO(std::string(row.program));
    const symrace::ProgramInfo& info = *kernels::find_program(row.program);
    const Model model = model_of(info);
    BugRun bug(info, row.ranks, false, {.model = model});
    const std::optional<RecordedRun> failed = first_failure(bug);
    REQUIRE(failed);
    const Shrunk shrunk = shrink(*bug.explorer, *failed);
    CHECK(shrunk.after <= shrunk.before);
    CHECK(shrunk.run.result.outcome == failed->result.outcome);
    CHECK(shrunk.attempts <= 1000);
    // A screen: 60 lines of 80 columns.
    const std::string lines = timeline(shrunk.run.log);
    CHECK(std::count(lines.begin(), lines.end(), '\n') <= 60);

    for (const RecordedRun* run : {&*failed, &shrunk.run}) {
      const std::vector<Finding> findings = diagnose(*run, {.model = model});
      REQUIRE_FALSE(findings.empty());
      const auto found =
          std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
            return finding.symptom != nullptr && finding.symptom->key == row.symptom;
          });
      REQUIRE_MESSAGE(found != findings.end(), std::string(findings.front().symptom->key));
      const std::string text = finding_text(*found);
      CHECK(text.find(found->title) != std::string::npos);
      CHECK(text.find("fix: ") != std::string::npos);
      if (*row.write == '\0') continue;
      REQUIRE(found->places.size() == 2);
      for (const auto& place : found->places) {
        CHECK(place.where.find("bug_") == 0);
        CHECK(symrace::op_name(place.op) ==
              (place.access == AccessKind::kRead ? row.read : row.write));
        CHECK(found->missing.find(place.where) != std::string::npos);
        CHECK(run->log.events[place.event].where.line() == place.line);
      }
    }
    // The shrunk schedule is a schedule: it replays bit for bit, on the other vehicle too.
    BugRun threads(info, row.ranks, false, {.model = model, .vehicle = VehicleKind::kThread});
    const auto replay = make_replay_strategy(shrunk.run.decisions);
    CHECK(threads.explorer->record(*replay, 0).trace_hash == shrunk.run.trace_hash);
  }
}

TEST_CASE("a race is found whether or not the value read was right, and under sc too") {
  const symrace::ProgramInfo& info = *kernels::find_program("bug_05_no_barrier");
  for (const Model& model : {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()}) {
    BugRun bug(info, 2, false, {.model = model});
    const Exploration sum = bug.explorer->explore(*bug.random, {0, 500});
    CHECK(sum.mismatches < 500);
    CHECK(sum.racy == 500);
    REQUIRE(sum.races.size() == 1);     // one pair of lines,
    CHECK(sum.races[0].count == 1000);  // on each of two ranks
  }
}

TEST_CASE("shrinking keeps the fewest late deliveries, then the fewest switches") {
  // One late delivery is needed: rank 1 reads before rank 0's store lands; seven are not.
  KernelProgram program([&](Data data, Data signal) {
    if (my_rank() == 0) {
      for (std::int64_t col = 0; col < 8; ++col) {
        pld::remote_store(tile_of(1), data, 1, {0, col});
      }
      pl::load(data, {2, 0}, {1, 1});
      pl::load(data, {2, 0}, {1, 1});
    } else {
      pl::load(data, {2, 0}, {1, 1});
      const auto seen = pl::load(data, {0, 0}, {1, 8});
      if (seen.data({})[5] == 0) pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Eq);
    }
  });
  const auto explorer = make_explorer(program, 2, {.detect_races = false});
  const auto random = make_random_strategy();
  RecordedRun failed;
  for (std::uint64_t seed = 0; failed.result.outcome != Outcome::kDeadlock; ++seed) {
    failed = explorer->record(*random, seed);
  }
  const Shrunk shrunk = shrink(*explorer, failed);
  CHECK(shrunk.run.result.outcome == Outcome::kDeadlock);
  CHECK(shrunk.after.late == 1);
  CHECK(shrunk.after.switches == 1);
  CHECK(shrunk.before.late > 1);
}

TEST_CASE("a deadlock tells who signalled what else, a lost count, and what was never sent") {
  const auto report = [](const KernelProgram::Kernel& kernel, std::int32_t ranks = 2) {
    KernelProgram program(kernel);
    const auto explorer = make_explorer(program, ranks, {.detect_races = false});
    const auto round_robin = make_round_robin_strategy();
    const RecordedRun run = explorer->record(*round_robin, 0);
    REQUIRE(run.result.outcome == Outcome::kDeadlock);
    return finding_text(diagnose(run, {.detect_races = false}).back());
  };
  using pld::NotifyOp;
  using pld::WaitCmp;
  const std::string other_cell = report([](Data, Data signal) {
    if (my_rank() == 0) pld::system::notify(signal, 1, {0, 1}, 1, NotifyOp::AtomicAdd);
    if (my_rank() == 1) pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
  });
  CHECK(other_cell.find("rank 1: wait signal[0]: expected >= 1, actual 0; at test_findings.cpp:") !=
        std::string::npos);
  CHECK(other_cell.find("no rank ever notifies this cell; rank 0 notifies signal[1] of rank 1 at "
                        "test_findings.cpp:") != std::string::npos);
  const std::string other_rank = report(
      [](Data, Data signal) {
        if (my_rank() == 0) pld::system::notify(signal, 2, {0, 0}, 1, NotifyOp::AtomicAdd);
        if (my_rank() == 1) pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
      },
      3);
  CHECK(other_rank.find("rank 0 notifies signal[0] of rank 2") != std::string::npos);
  const std::string lost = report([](Data, Data signal) {
    if (my_rank() == 0) {
      pld::system::notify(signal, 1, {0, 0}, 1, NotifyOp::AtomicAdd);
      pld::system::notify(signal, 1, {0, 0}, 1, NotifyOp::Set);
    } else {
      pld::system::wait(signal, {0, 0}, 2, WaitCmp::Ge);
    }
  });
  CHECK(lost.find("expected >= 2, actual 1") != std::string::npos);
  CHECK(lost.find("signalled by rank 0 at ") != std::string::npos);
  CHECK(lost.find("a Set landed on signal[0] of rank 1 over a count") != std::string::npos);
  CHECK(lost.find("fix: use AtomicAdd only") != std::string::npos);
  const std::string wait_first = report([](Data, Data signal) {
    const std::int32_t me = my_rank();
    pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
    pld::system::notify(signal, 1 - me, {0, 0}, 1, NotifyOp::AtomicAdd);
  });
  CHECK(wait_first.find("no rank ever notifies this cell\n") != std::string::npos);
  CHECK(wait_first.find("every stuck rank waits before it has sent anything") != std::string::npos);
  CHECK(wait_first.find("fix: move each rank's notify before its wait") != std::string::npos);
}

TEST_CASE("every symptom that names a program names one that exists") {
  for (const Symptom& symptom : symptoms()) {
    INFO(std::string(symptom.key));
    if (!symptom.program.empty()) CHECK(kernels::find_program(symptom.program) != nullptr);
    CHECK(find_symptom(symptom.key) == &symptom);
  }
  CHECK(find_symptom("none") == nullptr);
}

}  // namespace
}  // namespace emu::testing
