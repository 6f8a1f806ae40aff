// Golden traces: the same program, arguments, model and seed give the same trace on every compiler,
// build type, vehicle and machine, today and in a year. A golden is the trace hash of a seed. When
// a change means to alter schedules, print the new table with
//   SYMRACE_PRINT_GOLDEN_TRACES=1 emu_tests --source-file='*golden*'
#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

constexpr std::size_t kSeeds = 20;
constexpr std::int32_t kRanks = 3;

using Traces = std::array<std::uint64_t, kSeeds>;  // of seeds 0 to 19

struct Golden {
  const char* program;
  const char* model;
  Traces traces;
};
constexpr Golden kGoldens[] = {
#include "tests/emu/golden_traces.inc"
};

Traces traces_of(const symrace::ProgramInfo& info, const Model& model, VehicleKind vehicle) {
  const auto program = info.make(symrace::default_arguments(info, kRanks));
  const auto explorer = make_explorer(**program, kRanks, {.model = model, .vehicle = vehicle});
  const auto strategy = make_random_strategy();
  Traces traces{};
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    traces[seed] = explorer->record(*strategy, seed).trace_hash;
  }
  return traces;
}

const Model kModels[] = {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()};

// A line of golden_traces.inc.
void print(const symrace::ProgramInfo& info, const Model& model) {
  std::printf("{\"%s\", \"%s\", {", std::string(info.name).c_str(),
              std::string(model.name).c_str());
  const Traces traces = traces_of(info, model, VehicleKind::kFiber);
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    std::printf("%s0x%016" PRIx64, seed == 0 ? "" : ", ", traces[seed]);
  }
  std::printf("}},\n");
}

TEST_CASE("traces equal their goldens on either vehicle") {
  if (std::getenv("SYMRACE_PRINT_GOLDEN_TRACES") != nullptr) {
    for (const symrace::ProgramInfo* info : kernels::programs()) {
      for (const Model& model : kModels) print(*info, model);
    }
    return;
  }
  CHECK(std::size(kGoldens) == kernels::programs().size() * std::size(kModels));
  for (const Golden& golden : kGoldens) {
    const symrace::ProgramInfo* info = kernels::find_program(golden.program);
    REQUIRE(info != nullptr);
    const Model model = *Model::parse(golden.model);
    for (const VehicleKind vehicle : {VehicleKind::kFiber, VehicleKind::kThread}) {
      const Traces traces = traces_of(*info, model, vehicle);
      for (std::size_t seed = 0; seed < kSeeds; ++seed) {
        INFO(std::string(golden.program), " under ", std::string(golden.model), ", seed ", seed);
        CHECK(traces[seed] == golden.traces[seed]);
      }
    }
  }
}

TEST_CASE("what moves is hashed byte by byte, however its rows lie") {
  std::vector<std::byte> spread(4 * 24);
  std::vector<std::byte> packed(4 * 8);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    packed[i] = static_cast<std::byte>(i * 37 + 11);
    spread[i / 8 * 24 + i % 8] = packed[i];
  }
  const std::uint64_t hash = hash_rows(packed.data(), 8, {4, 8, 8});
  CHECK(hash_rows(spread.data(), 24, {4, 8, 24}) == hash);
  spread[24] ^= std::byte{1};
  CHECK(hash_rows(spread.data(), 24, {4, 8, 24}) != hash);
}

}  // namespace
}  // namespace emu::testing
