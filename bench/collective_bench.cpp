// The three all-reduces over sizes and ranks: Wall is the time of a call on the direct engine, and
// Modelled the time that the cost model of a2a3 gives it, on the emulator. Where ring overtakes
// mesh: tools/sweep draws both, and names the size.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <string>

#include "bench/direct_run.h"
#include "core/function_program.h"
#include "core/pld.h"
#include "emu/explore.h"
#include "emu/strategies.h"

namespace {

using Data = pld::DistributedTensor<float>;
using Signal = pld::DistributedTensor<std::int32_t>;
using pld::AllreduceMode;

// Every rank runs `kernel(rank, data, signal)`, with `bytes` of data.
symrace::FunctionProgram make_program(
    std::int64_t bytes,
    const std::function<void(std::int32_t, const Data&, const Signal&)>& kernel) {
  return symrace::FunctionProgram([bytes, kernel](pld::Host& host) {
    const std::int64_t n = host.world_size();
    const pl::Shape row{1, bytes / 4};
    const pl::Shape cells{std::max<std::int64_t>(2 * (n - 1), n), n};
    const auto data = host.alloc_window_buffer(row, pl::DType::FP32, "data");
    const auto signal = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    for (std::int32_t rank = 0; rank < n; ++rank) {
      host.dispatch(
          pld::device(rank),
          [&kernel, rank](const Data& d, const Signal& s) { kernel(rank, d, s); },
          host.window<float>(data, row), host.window<std::int32_t>(signal, cells));
    }
  });
}

void allreduce(const Data& data, const Signal& signal, AllreduceMode mode) {
  pld::tensor::allreduce(data, signal, pld::ReduceOp::Sum, mode);
}

void wall(benchmark::State& state, AllreduceMode mode, std::int32_t ranks, std::int64_t bytes) {
  symrace::FunctionProgram program =
      make_program(bytes, [&](std::int32_t rank, const Data& data, const Signal& signal) {
        allreduce(data, signal, mode);  // touches the windows
        if (rank == 0) {
          for (auto _ : state) allreduce(data, signal, mode);
          return;
        }
        const auto calls = static_cast<std::int64_t>(state.max_iterations);
        for (std::int64_t i = 0; i < calls; ++i) allreduce(data, signal, mode);
      });
  run_directly(state, program, ranks, ranks == 2);
}

void modelled(benchmark::State& state, AllreduceMode mode, std::int32_t ranks, std::int64_t bytes) {
  symrace::FunctionProgram program = make_program(
      bytes,
      [&](std::int32_t, const Data& data, const Signal& signal) { allreduce(data, signal, mode); });
  emu::Options options;
  options.detect_races = false;
  options.costs = emu::CostModel::a2a3();
  auto explorer = emu::Explorer::create(program, ranks, options);
  if (!explorer.ok()) {
    state.SkipWithError(std::string(explorer.status().message()).c_str());
    return;
  }
  const auto strategy = emu::make_random_strategy();
  for (auto _ : state) {
    const emu::RunResult result = (*explorer)->run(*strategy, 0);
    if (result.outcome != emu::Outcome::kOk) state.SkipWithError("run failed");
    state.SetIterationTime(static_cast<double>(result.modelled_ps()) * 1e-12);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr std::pair<AllreduceMode, const char*> kModes[] = {
      {AllreduceMode::Mesh, "mesh"},
      {AllreduceMode::TwoPhase, "two_phase"},
      {AllreduceMode::Ring, "ring"}};
  constexpr std::int64_t kLargest = 4 << 20;
  for (const auto& [mode, name] : kModes) {
    for (const std::int32_t ranks : {2, 4, 8, 16}) {
      for (std::int64_t bytes = 64; bytes <= kLargest; bytes *= 4) {
        const std::string point = std::string(name) + "/ranks:" + std::to_string(ranks) +
                                  "/bytes:" + std::to_string(bytes);
        // More threads than cores measure the operating system: two ranks, and a few more.
        if (ranks <= 8) {
          benchmark::RegisterBenchmark(("Wall/" + point).c_str(), [mode = mode, ranks,
                                                                   bytes](benchmark::State& state) {
            wall(state, mode, ranks, bytes);
          })->UseRealTime();
        }
        benchmark::RegisterBenchmark(("Modelled/" + point).c_str(),
                                     [mode = mode, ranks, bytes](benchmark::State& state) {
                                       modelled(state, mode, ranks, bytes);
                                     })
            ->UseManualTime()
            ->Iterations(1);
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
