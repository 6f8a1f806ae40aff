// A program made of one kernel, for tests: a data and a signal window, results in plain variables.
#ifndef SYMRACE_TESTS_EMU_KERNEL_PROGRAM_H_
#define SYMRACE_TESTS_EMU_KERNEL_PROGRAM_H_

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/pl.h"
#include "core/pld.h"
#include "core/program.h"
#include "emu/explore.h"
#include "emu/strategies.h"

namespace emu::testing {

using Data = pld::DistributedTensor<std::int32_t>;
inline constexpr std::int64_t kRows = 8;
inline constexpr std::int64_t kCols = 8;

// Runs `kernel(data, signal)` on every rank; both windows are [8, 8] int32 (signal has a row a rank
// when there are more). `end` is called when a schedule has ended well.
class KernelProgram final : public symrace::Program {
 public:
  using Kernel = std::function<void(Data data, Data signal)>;
  explicit KernelProgram(
      Kernel kernel, std::function<bool()> end = [] { return true; })
      : kernel_(std::move(kernel)), end_(std::move(end)) {}

  void orchestrate(pld::Host& host) override {
    const std::int64_t signal_rows = std::max<std::int64_t>(kRows, host.world_size());
    const auto data = host.alloc_window_buffer({kRows, kCols}, pl::DType::INT32, "data");
    const auto signal = host.alloc_window_buffer({signal_rows, kCols}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < host.world_size(); ++r) {
      host.dispatch(
          pld::device(r), [this](Data d, Data s) { kernel_(d, s); },
          host.window<std::int32_t>(data, {kRows, kCols}),
          host.window<std::int32_t>(signal, {signal_rows, kCols}));
    }
  }
  bool matches() const override { return end_(); }
  std::vector<symrace::Mismatch> mismatches() const override { return {}; }

 private:
  Kernel kernel_;
  std::function<bool()> end_;
};

inline std::unique_ptr<Explorer> make_explorer(symrace::Program& program, std::int32_t ranks,
                                               const Options& options = {}) {
  auto explorer = Explorer::create(program, ranks, options);
  REQUIRE(explorer.ok());
  return *std::move(explorer);
}

inline std::int32_t my_rank() { return symrace::internal::current_rank_pointer->rank; }

inline pl::Tile<std::int32_t> tile_of(std::int32_t value, std::int64_t cols = 1) {
  return pl::full<std::int32_t>({1, cols}, value);
}

// What `observe` (set by the kernel) was over many random schedules.
inline std::set<std::vector<std::int32_t>> outcomes(const Model& model, std::int32_t ranks,
                                                    std::vector<std::int32_t>& observed,
                                                    const KernelProgram::Kernel& kernel,
                                                    std::int64_t burst_bytes = 0,
                                                    std::uint64_t schedules = 3000) {
  std::set<std::vector<std::int32_t>> seen;
  KernelProgram program(kernel, [&] {
    seen.insert(observed);
    return true;
  });
  auto explorer = make_explorer(
      program, ranks, {.model = model, .burst_bytes = burst_bytes, .detect_races = false});
  const auto strategy = make_random_strategy();
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    const RunResult result = explorer->run(*strategy, seed);
    REQUIRE_MESSAGE(result.outcome == Outcome::kOk, result.error);
  }
  return seen;
}

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_KERNEL_PROGRAM_H_
