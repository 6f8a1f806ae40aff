// Golden traces: the same program, arguments, model and seed give the same trace on every compiler,
// build type, vehicle and machine, today and in a year. A golden is XXH3 over the traces of seeds 0
// to
// 19. When a change means to alter schedules, print the new table with
//   SYMRACE_PRINT_GOLDEN_TRACES=1 emu_tests --source-file='*golden*'
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

struct Golden {
  const char* program;
  const char* model;
  std::uint64_t trace;
};
constexpr Golden kGoldens[] = {
#include "tests/emu/golden_traces.inc"
};

std::uint64_t trace_of(const symrace::ProgramInfo& info, const Model& model, VehicleKind vehicle) {
  const std::int32_t ranks = 3;
  const auto program = info.make(symrace::default_arguments(info, ranks));
  const auto explorer = make_explorer(**program, ranks, {.model = model, .vehicle = vehicle});
  const auto strategy = make_random_strategy();
  std::vector<std::uint64_t> traces;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    traces.push_back(explorer->record(*strategy, seed).trace_hash);
  }
  return hash_bytes(reinterpret_cast<const std::byte*>(traces.data()),
                    static_cast<std::int64_t>(traces.size() * sizeof(traces[0])));
}

const Model kModels[] = {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()};

TEST_CASE("traces equal their goldens on either vehicle") {
  if (std::getenv("SYMRACE_PRINT_GOLDEN_TRACES") != nullptr) {
    for (const symrace::ProgramInfo* info : kernels::programs()) {
      for (const Model& model : kModels) {
        std::printf("{\"%s\", \"%s\", 0x%016" PRIx64 "},\n", std::string(info->name).c_str(),
                    std::string(model.name).c_str(), trace_of(*info, model, VehicleKind::kFiber));
      }
    }
    return;
  }
  CHECK(std::size(kGoldens) == kernels::programs().size() * std::size(kModels));
  for (const Golden& golden : kGoldens) {
    INFO(std::string(golden.program), " under ", std::string(golden.model));
    const symrace::ProgramInfo* info = kernels::find_program(golden.program);
    REQUIRE(info != nullptr);
    const Model model = *Model::parse(golden.model);
    CHECK(trace_of(*info, model, VehicleKind::kFiber) == golden.trace);
    CHECK(trace_of(*info, model, VehicleKind::kThread) == golden.trace);
  }
}

}  // namespace
}  // namespace emu::testing
