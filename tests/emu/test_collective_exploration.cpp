// The collective programs, by hand and built in: all executions at two ranks (and three, where that
// ends soon), and many random and PCT schedules at five and eight.
#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kSchedules = 100;
constexpr bool kAtThree = false;
#else
constexpr std::uint64_t kSchedules = 5000;  // of each strategy
constexpr bool kAtThree = true;
#endif

struct Variant {
  const char* program;
  std::vector<std::pair<const char*, const char*>> flags;
  bool at_three = true;  // all executions at three ranks: ends soon
  // Float adds of two experts do not commute in an exploration, so that there are many executions.
  pl::DType dtype = pl::DType::FP32;
};

const Variant kVariants[] = {
    {"04_barrier", {{"use-builtin", "true"}}},
    {"08_allreduce_mesh", {}},
    {"09_allreduce_two_phase", {}},
    {"10_allreduce_ring", {}},
    {"11_allreduce_reveal", {{"mode", "mesh"}}},
    {"11_allreduce_reveal", {{"mode", "two_phase"}}},
    {"11_allreduce_reveal", {{"mode", "ring"}}},
    {"12_broadcast", {{"mode", "hand"}}},
    {"12_broadcast", {{"mode", "builtin"}}},
    {"13_allgather", {{"mode", "hand"}}},
    {"13_allgather", {{"mode", "builtin"}}},
    {"14_reduce_scatter", {{"mode", "hand"}}},
    {"14_reduce_scatter", {{"mode", "builtin"}}},
    {"15_all_to_all", {{"mode", "hand"}}},
    {"15_all_to_all", {{"mode", "builtin"}}},
    {"15_all_to_all", {{"mode", "hand"}, {"counts", "true"}}},
    {"15_all_to_all", {{"mode", "builtin"}, {"counts", "true"}}},
    {"16_putting_it_together", {}, false},
    {"17_moe_dispatch_combine", {}, true, pl::DType::INT32},
    {"17_moe_dispatch_combine", {{"tokens", "1"}}, false},
};

symrace::Arguments arguments_of(const Variant& variant, std::int32_t ranks, std::int64_t size) {
  const symrace::ProgramInfo* info = kernels::find_program(variant.program);
  REQUIRE(info != nullptr);
  symrace::Arguments arguments = symrace::default_arguments(*info, ranks);
  arguments.size = size;
  arguments.dtype = variant.dtype;
  for (const auto& [flag, value] : variant.flags) arguments.flags[flag] = value;
  return arguments;
}

std::string text(const Variant& variant) {
  std::string text = variant.program;
  for (const auto& [flag, value] : variant.flags) text += std::string(" --") + flag + " " + value;
  return text;
}

void check_all_executions(const Variant& variant, std::int32_t ranks, const Model& model) {
  const symrace::Arguments arguments = arguments_of(variant, ranks, 4);
  const auto program = kernels::find_program(variant.program)->make(arguments);
  REQUIRE(program.ok());
  const auto explorer = make_explorer(**program, ranks, {.model = model});
  const Exploration sum = explorer->exhaust({.max_executions = 200000, .counts_naive = false});
  CHECK_MESSAGE(sum.failed == 0, text(variant), " ranks ", ranks, " ", model.name);
  CHECK_MESSAGE(sum.end == Exploration::End::kComplete, text(variant), " ranks ", ranks, " ",
                model.name, ": ", sum.schedules);
}

TEST_CASE("all executions of two ranks, and of three where they are few") {
  for (const Variant& variant : kVariants) {
    for (const Model& model : {Model::documented(), Model::a2a3()}) {
      check_all_executions(variant, 2, model);
      if (kAtThree && variant.at_three) check_all_executions(variant, 3, model);
    }
  }
}

TEST_CASE("random and PCT schedules of five and eight ranks") {
  for (const Variant& variant : kVariants) {
    for (const std::int32_t ranks : {5, 8}) {
      const symrace::Arguments arguments = arguments_of(variant, ranks, 11);
      const auto program = kernels::find_program(variant.program)->make(arguments);
      REQUIRE(program.ok());
      for (const char* name : {"random", "pct:3"}) {
        const auto strategy = make_strategy(name);
        REQUIRE(strategy.ok());
        for (const Model& model : {Model::documented(), Model::a2a3()}) {
          const std::uint64_t count = model.name == "documented" ? kSchedules : kSchedules / 10;
          const auto explorer = make_explorer(**program, ranks, {.model = model});
          const Exploration sum = explorer->explore(**strategy, {0, count});
          CHECK_MESSAGE(sum.failed == 0, text(variant), " ranks ", ranks, " ", name, " ",
                        model.name, " seed ", sum.first_failure ? sum.first_failure->seed : 0);
          CHECK(sum.schedules == count);
        }
      }
    }
  }
}

}  // namespace
}  // namespace emu::testing
