// One run of a program on the direct engine, from within a benchmark.
#ifndef SYMRACE_BENCH_DIRECT_RUN_H_
#define SYMRACE_BENCH_DIRECT_RUN_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "core/direct_engine.h"

// With a core for each rank where `pins_ranks`, and no time limit; `heap`, if given, is set to the
// run's before it starts. What goes wrong is an error of the benchmark.
inline void run_directly(benchmark::State& state, symrace::Program& program, std::int32_t ranks,
                         bool pins_ranks, symrace::SymmetricHeap** heap = nullptr) {
  auto engine =
      symrace::DirectEngine::create(program, ranks, {.time_limit = {}, .pins_ranks = pins_ranks});
  if (!engine.ok()) {
    state.SkipWithError(std::string(engine.status().message()).c_str());
    return;
  }
  if (heap != nullptr) *heap = &(*engine)->heap();
  const symrace::DirectResult result = (*engine)->run();
  if (result.outcome != symrace::DirectResult::Outcome::kOk) {
    state.SkipWithError(("run failed: " + result.error).c_str());
  }
}

#endif  // SYMRACE_BENCH_DIRECT_RUN_H_
