// How bugs are found, and ruled out.
//
// FirstBug: schedules until a seeded bug first shows in an output (races are not looked at), the
// mean over many starts: what a strategy is worth. Verify: all executions of the fixed steps, with
// what naive enumeration would have to run.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"

namespace {

constexpr std::uint64_t kStarts = 50;
constexpr std::uint64_t kMostSchedules = 20000;  // a start

void first_bug(benchmark::State& state, const symrace::ProgramInfo& info, const char* strategy) {
  const emu::Model model = *emu::Model::parse(info.bug->model);
  const std::int32_t ranks = info.bug->ranks;
  const auto program = *info.make(symrace::default_arguments(info, ranks));
  const auto explorer =
      *emu::Explorer::create(*program, ranks, {.model = model, .detect_races = false});
  const auto chosen = *emu::make_strategy(strategy);
  std::uint64_t schedules = 0, missed = 0;
  for (auto _ : state) {
    for (std::uint64_t start = 0; start < kStarts; ++start) {
      const emu::Exploration sum =
          explorer->explore(*chosen, {start * 1000000, kMostSchedules, true});
      schedules += sum.schedules;
      if (!sum.first_failure) ++missed;
    }
  }
  state.counters["schedules_to_first_bug"] =
      static_cast<double>(schedules) / static_cast<double>(kStarts);
  state.counters["missed"] = static_cast<double>(missed);
}

void verify(benchmark::State& state, const char* name, std::int32_t ranks, const char* mode) {
  const symrace::ProgramInfo& info = *kernels::find_program(name);
  symrace::Arguments arguments = symrace::default_arguments(info, ranks);
  arguments.flags["mode"] = mode;
  const auto program = *info.make(arguments);
  const auto explorer = *emu::Explorer::create(*program, ranks, {});
  emu::Exploration sum;
  for (auto _ : state) {
    sum = explorer->exhaust({.counts_naive = false});
    if (sum.failed != 0 || sum.end != emu::Exploration::End::kComplete) {
      state.SkipWithError("not verified");
    }
  }
  const std::uint64_t runs = sum.schedules + sum.abandoned;
  state.counters["s_per_run"] =
      benchmark::Counter(static_cast<double>(runs) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["executions"] = static_cast<double>(sum.schedules);
  state.counters["given_up"] = static_cast<double>(sum.abandoned);
  state.counters["naive"] = static_cast<double>(explorer->exhaust({}).naive.count);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const std::int32_t ranks : {2, 3}) {
    for (const char* mode : {"load", "store", "push"}) {
      benchmark::RegisterBenchmark(
          ("Verify/05_" + std::string(mode) + "/" + std::to_string(ranks)).c_str(),
          [=](benchmark::State& state) { verify(state, "05_remote_load_store", ranks, mode); });
    }
    for (const char* mode : {"put", "get"}) {
      benchmark::RegisterBenchmark(
          ("Verify/06_" + std::string(mode) + "/" + std::to_string(ranks)).c_str(),
          [=](benchmark::State& state) { verify(state, "06_put_get", ranks, mode); });
    }
  }
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug == nullptr || !info->bug->order_dependent) continue;
    for (const char* strategy : {"random", "uniform", "pct:3", "round-robin"}) {
      benchmark::RegisterBenchmark(
          ("FirstBug/" + std::string(info->name) + "/" + strategy).c_str(),
          [=](benchmark::State& state) { first_bug(state, *info, strategy); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
