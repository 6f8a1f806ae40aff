// Every documented program: each flag, dtype, rank count and model gives the golden, which the
// program computes on the host, apart from its kernels.
#include <cstring>

#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

// All combinations of the program's choices and switches.
std::vector<symrace::Arguments> all_flags(const symrace::ProgramInfo& info,
                                          const symrace::Arguments& base) {
  std::vector<symrace::Arguments> all = {base};
  for (const symrace::Flag& flag : info.flags) {
    std::vector<std::string> values;
    if (flag.kind == symrace::Flag::Kind::kSwitch && flag.name != "pipeline") {
      values = {"", "true"};
    }
    for (const std::string_view choice : flag.choices) values.emplace_back(choice);
    std::vector<symrace::Arguments> next;
    for (const symrace::Arguments& arguments : all) {
      for (const std::string& value : values) {
        next.push_back(arguments);
        next.back().flags[std::string(flag.name)] = value;
      }
    }
    if (!values.empty()) all = std::move(next);
  }
  return all;
}

// Hand-made notify / wait is only as strong as the model's last column; these use no more than what
// a2a3 releases, or built-in barriers only.
bool right_under(const symrace::ProgramInfo& info, const symrace::Arguments& arguments,
                 const Model& model) {
  const std::string_view mode = arguments.choice("mode");
  if (model.name == "a2a3") return mode != "push";  // remote_store + notify
  if (model.name == "weak") {
    const std::string_view step = info.name.substr(0, 2);
    return step < "05" || step == "11" || step == "16" || mode == "builtin" || mode == "load" ||
           mode == "store";
  }
  return true;
}

void check_passes(const symrace::ProgramInfo& info, const symrace::Arguments& arguments,
                  const Options& options, std::uint64_t schedules) {
  const auto program = info.make(arguments);
  REQUIRE(program.ok());
  const auto explorer = make_explorer(**program, arguments.ranks, options);
  const auto strategy = make_random_strategy();
  const Exploration sum = explorer->explore(*strategy, {0, schedules});
  INFO(info.name, " ranks ", arguments.ranks, " ", pl::dtype_name(arguments.dtype), " mode ",
       arguments.choice("mode"), " model ", options.model.name);
  CHECK(sum.schedules == schedules);
  CHECK(sum.failures() == 0);
  if (sum.first_failure) MESSAGE(sum.first_failure->error, " seed ", sum.first_failure->seed);
}

TEST_CASE("each program, flag, dtype and rank count gives its golden under documented") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    for (const std::int32_t ranks : {1, 2, 3, 5}) {
      if (ranks < info->smallest_ranks) continue;
      for (symrace::Arguments arguments :
           all_flags(*info, symrace::default_arguments(*info, ranks))) {
        for (const pl::DType dtype : pl::kAllDTypes) {
          arguments.dtype = dtype;
          check_passes(*info, arguments, {}, 40);
        }
      }
    }
  }
}

TEST_CASE(
    "each program gives its golden under every model that its signals are strong enough for") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    for (const Model& model : {Model::sc(), Model::a2a3(), Model::weak()}) {
      for (const auto& arguments : all_flags(*info, symrace::default_arguments(*info, 3))) {
        if (!right_under(*info, arguments, model)) continue;
        check_passes(*info, arguments, {.model = model}, 300);
        check_passes(*info, arguments, {.model = model, .burst_bytes = 12}, 100);
      }
    }
  }
}

TEST_CASE("step 06 chunked and pipelined moves the same, at sizes that do and do not divide") {
  const symrace::ProgramInfo& info = *kernels::find_program("06_put_get");
  for (const char* mode : {"put", "get"}) {
    for (const std::int64_t size : {1, 63, 64, 1000}) {
      for (const char* pipeline : {"", "true"}) {
        symrace::Arguments arguments = symrace::default_arguments(info, 3);
        arguments.size = size;
        arguments.flags["mode"] = mode;
        arguments.flags["chunk-rows"] = "1";
        arguments.flags["chunk-cols"] = "48";
        arguments.flags["pipeline"] = pipeline;
        check_passes(info, arguments, {}, 50);
      }
    }
  }
}

TEST_CASE("sizes 1 to 70 and large ranks") {
  for (const char* name : {"03_window_buffer", "05_remote_load_store", "07_dynamic_rank_count"}) {
    const symrace::ProgramInfo& info = *kernels::find_program(name);
    for (std::int64_t size = 1; size < 70; size += 9) {
      symrace::Arguments arguments = symrace::default_arguments(info, 2);
      arguments.size = size;
      check_passes(info, arguments, {}, 10);
    }
    check_passes(info, symrace::default_arguments(info, 64), {}, 2);
  }
}

// A program whose golden no output can equal tells what its outputs are; here the shift direction
// and the factor are checked against the input itself, by a seed whose first element is known.
TEST_CASE("a wrong golden names the data that the output really is") {
  const symrace::ProgramInfo& info = *kernels::find_program("bug_06_golden_other_direction");
  const auto program = info.make(symrace::default_arguments(info, 3));
  REQUIRE(program.ok());
  const auto explorer = make_explorer(**program, 3);
  const auto strategy = make_random_strategy();
  const RecordedRun run = explorer->record(*strategy, 0);
  CHECK(run.result.outcome == Outcome::kMismatch);
  REQUIRE(run.result.mismatches.size() == 3);
  for (std::int32_t r = 0; r < 3; ++r) {
    const symrace::Mismatch& mismatch = run.result.mismatches[static_cast<std::size_t>(r)];
    CHECK(mismatch.rank == r);
    CHECK(mismatch.differing == mismatch.total);
    CHECK(mismatch.identity.find("rank " + std::to_string((r + 2) % 3) + "'s input") == 0);
  }
}

}  // namespace
}  // namespace emu::testing
