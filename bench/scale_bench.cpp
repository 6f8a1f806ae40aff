// How time and memory grow with ranks: one core, `documented`, `random`, races looked for.
//
// Every measurement runs in a process of its own, so that its peak memory is its own, and counts
// everything: making the program, the heap and the fibers, one schedule, and taking all down.
// Recorded/... keeps the event log and its hash too, as a single run of a2a3sim does. Peak memory
// is resident memory: pages of /dev/shm that a schedule touched count, those that only stand by do
// not.
//
// A growth table follows, with the exponent of each column: the slope of a least-squares line
// through the logarithms. `--growth` prints it alone.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/scale_kernels.h"
#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"

namespace {

using MakeProgram = std::function<std::unique_ptr<symrace::Program>(std::int32_t)>;

std::unique_ptr<symrace::Program> make_ring_shift(std::int32_t ranks) {
  const symrace::ProgramInfo& info = *kernels::find_program("05_remote_load_store");
  return *info.make(symrace::default_arguments(info, ranks));
}
std::unique_ptr<symrace::Program> make_mesh_barrier(std::int32_t ranks) {
  return std::make_unique<symrace::FunctionProgram>(bench::mesh_barrier(ranks));
}
std::unique_ptr<symrace::Program> make_ring_allreduce(std::int32_t ranks) {
  return std::make_unique<bench::RingAllreduce>(ranks, (1 << 20) / 4);
}

// Thousands of transfers of a rank in flight at a time.
MakeProgram moe_exchange(const char* tokens) {
  return [tokens](std::int32_t ranks) {
    const symrace::ProgramInfo& info = *kernels::find_program("17_moe_dispatch_combine");
    symrace::Arguments arguments = symrace::default_arguments(info, ranks);
    arguments.size = 4;
    arguments.flags["tokens"] = tokens;
    return *info.make(arguments);
  };
}

struct Measured {
  double seconds = 0;
  std::uint64_t decisions = 0;
  double cpu_seconds = 0;
  double peak_mib = 0;
  double own_mib = 0;  // beyond what the process held before
  bool ok = false;
};

double cpu_seconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}
double peak_mib(const rusage& usage) { return static_cast<double>(usage.ru_maxrss) / 1024.0; }

Measured run_here(const MakeProgram& make, std::int32_t ranks, bool records) {
  Measured measured;
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  {
    const auto program = make(ranks);
    auto explorer = emu::Explorer::create(*program, ranks, {});
    if (!explorer.ok()) return measured;
    const auto strategy = emu::make_random_strategy();
    emu::RecordedRun run;
    if (records) {
      run = (*explorer)->record(*strategy, 0);
    } else {
      run.result = (*explorer)->run(*strategy, 0);
    }
    measured.decisions = run.result.decisions;
    measured.ok = run.result.outcome == emu::Outcome::kOk && run.result.races.empty();
  }
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  measured.cpu_seconds = cpu_seconds(after) - cpu_seconds(before);
  measured.peak_mib = peak_mib(after);
  measured.own_mib = peak_mib(after) - peak_mib(before);
  return measured;
}

// In a child process.
Measured measure(const MakeProgram& make, std::int32_t ranks, bool records) {
  Measured measured;
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return measured;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const Measured mine = run_here(make, ranks, records);
    const bool told = write(pipe_ends[1], &mine, sizeof(mine)) == sizeof(mine);
    _exit(told ? 0 : 1);
  }
  close(pipe_ends[1]);
  if (child < 0 || read(pipe_ends[0], &measured, sizeof(measured)) != sizeof(measured)) {
    measured = {};
  }
  close(pipe_ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return measured;
}

void one_run(benchmark::State& state, const MakeProgram& make, bool records) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  Measured measured;
  for (auto _ : state) {
    measured = measure(make, ranks, records);
    if (!measured.ok) state.SkipWithError("the schedule failed");
    state.SetIterationTime(measured.seconds);
  }
  state.counters["decisions"] = static_cast<double>(measured.decisions);
  state.counters["ns_per_decision"] =
      measured.seconds * 1e9 / static_cast<double>(std::max<std::uint64_t>(measured.decisions, 1));
  state.counters["cpu_ms"] = measured.cpu_seconds * 1e3;
  state.counters["peak_MiB"] = measured.peak_mib;
}

struct Row {
  double ranks, decisions, seconds, mib;
};

// The slope of the least-squares line through (log x, log y).
double exponent(std::span<const Row> rows, double Row::*x, double Row::*y) {
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (const Row& row : rows) {
    const double log_x = std::log(row.*x);
    const double log_y = std::log(row.*y);
    sum_x += log_x;
    sum_y += log_y;
    sum_xx += log_x * log_x;
    sum_xy += log_x * log_y;
  }
  const auto n = static_cast<double>(rows.size());
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

void print_growth(const char* what, const MakeProgram& make, std::int32_t most_ranks) {
  std::printf("\n%s\n%6s %12s %12s %12s %12s\n", what, "ranks", "decisions", "ms", "ns/decision",
              "MiB");
  constexpr std::int32_t kFewRanks = 64;  // below, what does not grow is most of it
  std::vector<Row> growth;
  for (std::int32_t ranks = 2; ranks <= most_ranks; ranks *= 2) {
    Measured best;
    for (int repeat = 0; repeat < (ranks <= 128 ? 5 : 1); ++repeat) {
      const Measured now = measure(make, ranks, false);
      if (!now.ok) {
        std::printf("%6d failed\n", ranks);
        return;
      }
      if (!best.ok || now.seconds < best.seconds) best = now;
    }
    std::printf("%6d %12llu %12.2f %12.0f %12.2f\n", ranks,
                static_cast<unsigned long long>(best.decisions), best.seconds * 1e3,
                best.seconds * 1e9 / static_cast<double>(best.decisions), best.own_mib);
    std::fflush(stdout);
    growth.push_back({static_cast<double>(ranks), static_cast<double>(best.decisions), best.seconds,
                      std::max(best.own_mib, 1.0 / 256)});
  }
  for (const std::int32_t from : {2, kFewRanks}) {
    const auto rows = std::span(growth).subspan(
        static_cast<std::size_t>(std::find_if(growth.begin(), growth.end(),
                                              [&](const Row& row) { return row.ranks >= from; }) -
                                 growth.begin()));
    std::printf(
        "from %d ranks on: decisions ~ ranks^%.2f, time ~ ranks^%.2f, memory ~ ranks^%.2f, "
        "time ~ decisions^%.2f, memory ~ decisions^%.2f\n",
        from, exponent(rows, &Row::ranks, &Row::decisions),
        exponent(rows, &Row::ranks, &Row::seconds), exponent(rows, &Row::ranks, &Row::mib),
        exponent(rows, &Row::decisions, &Row::seconds), exponent(rows, &Row::decisions, &Row::mib));
  }
}

void print_all_growth() {
  print_growth("ring shift behind the built-in barrier, 64 floats a rank", make_ring_shift, 1024);
  print_growth(
      "ring all-reduce, 64 KiB a rank",
      [](std::int32_t ranks) {
        return std::make_unique<bench::RingAllreduce>(ranks, (64 << 10) / 4);
      },
      512);
  print_growth("mesh barrier by hand", make_mesh_barrier, 1024);
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_growth = argc > 1 && std::strcmp(argv[1], "--growth") == 0;
  if (!only_growth) {
    benchmark::Initialize(&argc, argv);
    const auto add = [](const std::string& name, std::int32_t ranks, const MakeProgram& make) {
      for (const bool records : {false, true}) {
        benchmark::RegisterBenchmark(
            ((records ? "Recorded/" : "") + name).c_str(),
            [=](benchmark::State& state) { one_run(state, make, records); })
            ->Arg(ranks)
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    };
    add("RingShift", 1024, make_ring_shift);
    add("RingAllreduce", 384, make_ring_allreduce);
    add("MeshBarrier", 384, make_mesh_barrier);
    add("MoeExchange/tokens:1000", 4, moe_exchange("1000"));
    add("MoeExchange/tokens:4000", 4, moe_exchange("4000"));
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    // What was asked for by name is all that is wanted.
    if (!benchmark::GetBenchmarkFilter().empty()) return 0;
  }
  print_all_growth();
  return 0;
}
