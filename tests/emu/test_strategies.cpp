// The strategies: a bug of depth 3 is found as often as theory says; seeds spread over threads give
// the same result; a program that is no function of its arguments is told of.
#include <cmath>
#include <map>

#include "core/function_program.h"
#include "emu/determinism.h"
#include "emu/parallel.h"
#include "emu/replay.h"
#include "kernels/programs.h"
#include "tests/emu/bug_run.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr double kSchedules = 20000;
#else
constexpr double kSchedules = 200000;
#endif

// A bug of depth 3, under sc, where each op is a step: rank 0 writes x, then y; rank 1 reads 17
// times. It shows when x is written exactly between the 8th read and the 9th, and y after the last:
// three orders that must all hold.
constexpr int kReads = 17;
constexpr int kBefore = 8;

double found_by(Strategy& strategy) {
  bool shown = false;
  KernelProgram program(
      [&](Data data, Data) {
        if (my_rank() == 0) {
          pld::remote_store(tile_of(1), data, 1, {0, 0});
          pld::remote_store(tile_of(1), data, 1, {0, 1});
          return;
        }
        shown = true;
        for (int i = 0; i < kReads; ++i) {
          const auto seen = pl::load(data, {0, 0}, {1, 2});
          const std::int32_t x = seen.data({})[0], y = seen.data({})[1];
          shown = shown && x == (i < kBefore ? 0 : 1) && y == 0;
        }
      },
      [&] { return !shown; });
  const auto explorer = make_explorer(program, 2, {.model = Model::sc(), .detect_races = false});
  const auto schedules = static_cast<std::uint64_t>(kSchedules);
  const Exploration sum = explorer->explore(strategy, {0, schedules});
  CHECK(sum.schedules == schedules);
  return static_cast<double>(sum.mismatches);
}

// Within four standard deviations of a binomial count.
void check_probability(double found, double probability) {
  const double expected = kSchedules * probability;
  const double deviation = std::sqrt(expected * (1 - probability));
  CHECK_MESSAGE(std::abs(found - expected) < 4 * deviation, "found ", found, ", expected ",
                expected, " +- ", deviation);
}

TEST_CASE("a bug of depth 3 that a random walk all but never finds") {
  // Both ranks are enabled at each of 18 decisions: one path of 2^18.
  const double probability = std::pow(2.0, -(kReads + 1));
  CHECK(probability < 1e-4);
  const double found = found_by(*make_random_strategy());
  CHECK(found < kSchedules * 1e-4);
  check_probability(found_by(*make_uniform_strategy()), 1.0 / 171);  // C(19, 2) interleavings
  // Rank 1 has the higher priority in half of all draws, and the two points are the 9th decision
  // and the 10th in either order, of 19. The bound of the paper is 1 / (n k^2) = 1 / 722.
  const double by_pct = found_by(*make_pct_strategy(3));
  check_probability(by_pct, 0.5 * 2 / (19.0 * 19.0));
  CHECK(by_pct > kSchedules / 722);
  CHECK(found_by(*make_pct_strategy(1)) == 0);
  MESSAGE("of ", kSchedules, " schedules: random ", found, ", pct:3 ", by_pct);
}

TEST_CASE("uniform: each interleaving of a forest of steps and deliveries is as likely") {
  // Rank 0 posts two stores and reads twice; rank 1 reads once. Rank 0's pieces are issued before
  // its first step: {d1}, {d2}, {a, b}, {c} in any order that keeps a before b: 5! / 2 = 60.
  std::map<std::string, int> seen;  // by token
  KernelProgram program([&](Data data, Data) {
    if (my_rank() == 0) {
      pld::remote_store(tile_of(1), data, 1, {0, 0});
      pld::remote_store(tile_of(1), data, 1, {0, 1});
      pl::load(data, {0, 0}, {1, 1});
      pl::load(data, {0, 0}, {1, 1});
    } else {
      pl::load(data, {1, 0}, {1, 1});
    }
  });
  const auto explorer = make_explorer(program, 2);
  const auto uniform = make_uniform_strategy();
  constexpr int kRuns = 12000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    ++seen[encode({0, explorer->record(*uniform, seed).decisions})];
  }
  CHECK(seen.size() == 60);
  double chi_squared = 0;
  for (const auto& [decisions, count] : seen) {
    chi_squared += std::pow(count - kRuns / 60.0, 2) / (kRuns / 60.0);
  }
  CHECK(chi_squared < 98.3);  // 59 degrees of freedom, 0.1 %
}

TEST_CASE("strategies by name") {
  for (const char* name : {"random", "round-robin", "uniform", "pct:1", "pct:12"}) {
    CHECK(make_strategy(name).ok());
  }
  for (const char* name : {"", "pct", "pct:", "pct:0", "pct:x", "pct:3x", "Random"}) {
    CHECK_FALSE(make_strategy(name).ok());
  }
}

TEST_CASE("every strategy tells of a host that fails") {
  symrace::FunctionProgram program([](pld::Host& host) { host.alloc_window_buffer(0); });
  for (const char* name : {"random", "round-robin", "uniform", "pct:3"}) {
    const auto strategy = *make_strategy(name);
    CHECK(make_explorer(program, 2)->run(*strategy, 1).outcome == Outcome::kError);
  }
  const Exploration all = make_explorer(program, 2)->exhaust({});
  REQUIRE(all.first_failure);
  CHECK(all.first_failure->outcome == Outcome::kError);
}

bool same(const Exploration& a, const Exploration& b) {
  const auto seed_of = [](const Exploration& sum) {
    return sum.first_failure ? static_cast<std::int64_t>(sum.first_failure->seed) : -1;
  };
  return a.schedules == b.schedules && a.decisions == b.decisions && a.mismatches == b.mismatches &&
         a.deadlocks == b.deadlocks && a.racy == b.racy && a.failed == b.failed &&
         seed_of(a) == seed_of(b) &&
         std::equal(
             a.races.begin(), a.races.end(), b.races.begin(), b.races.end(),
             [](const Race& x, const Race& y) { return same_lines(x, y) && x.count == y.count; });
}

TEST_CASE("what comes of seeds does not depend on how many threads they are spread over") {
  for (const char* name : {"bug_06_last_chunk_peeked", "bug_hw_leftover_signal", "06_put_get"}) {
    const symrace::ProgramInfo& info = *kernels::find_program(name);
    for (const bool stop : {false, true}) {
      for (const char* strategy : {"random", "pct:3"}) {
        const Seeds seeds{17, 3000, stop};
        const auto with = [&](std::uint32_t jobs) {
          return *explore_in_parallel([&] { return info.make(arguments_of(info, 2, false)); }, 2,
                                      {}, strategy, seeds, jobs);
        };
        const Exploration one = with(1);
        CHECK(same(one, with(2)));
        CHECK(same(one, with(5)));
        BugRun sequential(info, 2, false, {});
        CHECK(same(one, sequential.explorer->explore(**make_strategy(strategy), seeds)));
      }
    }
  }
}

TEST_CASE("check-determinism names the first event that differs") {
  const auto random = make_random_strategy();
  std::int32_t left_over = 0;
  KernelProgram forgetful([&](Data data, Data) {
    if (my_rank() == 0) {
      pl::write(data, {0, 0}, 1);
      pl::write(data, {0, left_over++ == 3 ? 2 : 1}, 1);
    }
  });
  const auto explorer = make_explorer(forgetful, 2);
  const DeterminismCheck check = check_determinism(*explorer, *random, {5, 100});
  REQUIRE(check.divergence);
  CHECK(check.divergence->seed == 6);  // its second run is the fourth
  CHECK(check.divergence->text.find("event 2 is") == 0);
  CHECK(check.divergence->text.find("data[0:1, 1:2]") != std::string::npos);
  CHECK(check.divergence->text.find("data[0:1, 2:3]") != std::string::npos);

  const symrace::ProgramInfo& info = *kernels::find_program("bug_05_no_barrier");
  BugRun run(info, 2, false, {});
  const DeterminismCheck fine = check_determinism(*run.explorer, *random, {0, 50});
  CHECK(fine.schedules == 50);
  CHECK_FALSE(fine.divergence);
}

}  // namespace
}  // namespace emu::testing
