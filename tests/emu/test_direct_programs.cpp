// The direct engine against the emulator: every documented program gives its golden on both, bit
// for bit, and a rank that hangs is told of in the same words.
#include <algorithm>
#include <cstring>

#include "core/direct_engine.h"
#include "core/function_program.h"
#include "emu/diagnosis.h"
#include "emu/stuck.h"
#include "kernels/programs.h"
#include "tests/emu/bug_run.h"
#include "tests/emu/kernel_program.h"
#include "tests/emu/program_arguments.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::int32_t kRankCounts[] = {2, 5};
constexpr pl::DType kDTypesOfProcesses[] = {pl::DType::FP16};
#else
constexpr std::int32_t kRankCounts[] = {1, 2, 3, 5, 8};
constexpr auto& kDTypesOfProcesses = pl::kAllDTypes;
#endif

using DirectOutcome = symrace::DirectResult::Outcome;

void check_passes_directly(const symrace::ProgramInfo& info, const symrace::Arguments& arguments,
                           int runs = 3, symrace::RanksAs ranks_as = symrace::RanksAs::kThreads) {
  const auto program = info.make(arguments);
  REQUIRE(program.ok());
  const auto engine =
      symrace::DirectEngine::create(**program, arguments.ranks, {.ranks_as = ranks_as});
  REQUIRE(engine.ok());
  INFO(info.name, " ranks ", arguments.ranks, " ", pl::dtype_name(arguments.dtype), " mode ",
       arguments.choice("mode"));
  for (int run = 0; run < runs; ++run) {
    const symrace::DirectResult result = (*engine)->run();
    CHECK_MESSAGE(result.outcome == DirectOutcome::kOk, result.error);
  }
}

TEST_CASE("direct: each documented program, flag, dtype and rank count gives its golden") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    for (const std::int32_t ranks : kRankCounts) {
      if (ranks < info->smallest_ranks) continue;
      for (symrace::Arguments arguments : all_modes(*info, ranks)) {
        for (const pl::DType dtype : pl::kAllDTypes) {
          arguments.dtype = dtype;
          check_passes_directly(*info, arguments);
        }
      }
    }
  }
}

// The rest is the same code, whatever a rank is.
TEST_CASE(
    "direct: each documented program, flag and dtype gives its golden, with a process a rank") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    for (symrace::Arguments arguments : all_modes(*info, 3)) {
      for (const pl::DType dtype : kDTypesOfProcesses) {
        arguments.dtype = dtype;
        check_passes_directly(*info, arguments, 1, symrace::RanksAs::kProcesses);
      }
    }
  }
}

TEST_CASE("direct: each mended bug gives its golden") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug == nullptr) continue;
    check_passes_directly(*info, arguments_of(*info, std::max(3, info->bug->ranks), true), 10);
  }
}

TEST_CASE("direct: chunked and pipelined moves, and 64 ranks") {
  const symrace::ProgramInfo& info = *kernels::find_program("06_put_get");
  for (const char* mode : {"put", "get"}) {
    symrace::Arguments arguments = symrace::default_arguments(info, 3);
    arguments.size = 1000;
    arguments.flags["mode"] = mode;
    arguments.flags["chunk-rows"] = "1";
    arguments.flags["chunk-cols"] = "48";
    arguments.flags["pipeline"] = "true";
    check_passes_directly(info, arguments);
    check_passes_directly(info, symrace::default_arguments(info, 64));
  }
}

// A sum whose order is the kernel's own, in every rank's own words: the emulator's bits.
TEST_CASE("direct: sums of floats in a fixed order are the emulator's, bit for bit") {
  constexpr std::int32_t kRanks = 5;
  std::vector<float> sums(kRanks * kCols);
  symrace::FunctionProgram program([&](pld::Host& host) {
    const auto buffer = host.alloc_window_buffer({1, kCols}, pl::DType::FP32, "data");
    const auto signals = host.alloc_window_buffer({kRanks, 1}, pl::DType::INT32, "signal");
    const auto data = host.window<float>(buffer, {1, kCols});
    const auto signal = host.window<std::int32_t>(signals, {kRanks, 1});
    for (std::int32_t r = 0; r < kRanks; ++r) {
      host.dispatch(pld::device(r), [&, r, data, signal] {
        const float mine = 0.1F * static_cast<float>(r + 1) * 1e3F;
        pl::store(pl::full<float>({1, kCols}, mine), {0, 0}, data);
        pld::tensor::barrier(signal);
        auto sum = pl::load(data, {0, 0}, {1, kCols});
        for (std::int32_t k = 1; k < kRanks; ++k) {
          sum = pl::add(pl::mul(sum, 0.7F),
                        pld::tile::remote_load(data, (r + k) % kRanks, {0, 0}, {1, kCols}));
        }
        pl::store(sum, {0, 0}, pl::Out<pl::Tensor<float>>(sums.data() + r * kCols, 1, kCols));
      });
    }
  });
  const auto explorer = make_explorer(program, kRanks);
  REQUIRE(explorer->run(*make_random_strategy(), 0).outcome == Outcome::kOk);
  const std::vector<float> emulated = sums;
  const auto engine = symrace::DirectEngine::create(program, kRanks);
  REQUIRE(engine.ok());
  for (int run = 0; run < 10; ++run) {
    sums.assign(sums.size(), 0.0F);
    REQUIRE((*engine)->run().outcome == DirectOutcome::kOk);
    CHECK(std::memcmp(sums.data(), emulated.data(), sums.size() * sizeof(float)) == 0);
  }
}

// The text of the emulator's deadlock, under some schedule, and of the direct engine's.
void check_same_report(symrace::Program& program, std::int32_t ranks) {
  const auto explorer = make_explorer(program, ranks, {.detect_races = false});
  const RecordedRun run = explorer->record(*make_random_strategy(), 0);
  REQUIRE(run.result.outcome == Outcome::kDeadlock);
  const auto engine = symrace::DirectEngine::create(program, ranks);
  REQUIRE(engine.ok());
  for (int again = 0; again < 10; ++again) {
    const symrace::DirectResult result = (*engine)->run();
    REQUIRE(result.outcome == DirectOutcome::kDeadlock);
    CHECK(finding_text(explain_stuck(Finding::Kind::kDeadlock, result.stuck, result.signals)) ==
          finding_text(explain_stuck(run)));
  }
}

TEST_CASE("direct: a deadlock is told as the emulator tells it") {
  const symrace::ProgramInfo& info = *kernels::find_program("bug_hw_wait_before_send");
  for (const std::int32_t ranks : {2, 3, 20}) {
    const auto program = info.make(arguments_of(info, ranks, false));
    REQUIRE(program.ok());
    check_same_report(**program, ranks);
  }

  KernelProgram wrong_cell([](Data, Data signal) {
    const std::int32_t next = (my_rank() + 1) % 3;
    pld::system::notify(signal, next, {0, 1}, 1, pld::NotifyOp::AtomicAdd);
    pld::system::wait(signal, {1, 0}, 1, pld::WaitCmp::Ge);
  });
  check_same_report(wrong_cell, 3);

  KernelProgram too_few([](Data, Data signal) {
    if (my_rank() == 0) {
      pld::system::wait(signal, {2, 2}, 5, pld::WaitCmp::Eq);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      pld::system::notify(signal, 0, {2, 2}, 1, pld::NotifyOp::AtomicAdd);
    }
  });
  check_same_report(too_few, 2);

  KernelProgram set_over_count([](Data, Data signal) {
    if (my_rank() == 0) {
      pld::system::wait(signal, {0, 0}, 3, pld::WaitCmp::Ge);
      return;
    }
    pld::system::notify(signal, 0, {0, 0}, 2, pld::NotifyOp::AtomicAdd);
    pld::system::notify(signal, 0, {0, 0}, 1, pld::NotifyOp::Set);
  });
  check_same_report(set_over_count, 2);

  KernelProgram left_out([](Data, Data signal) {
    if (my_rank() != 1) pld::tensor::barrier(signal);
  });
  check_same_report(left_out, 2);
}

TEST_CASE("direct: a kernel's error is the emulator's line") {
  for (const char* name : {"bug_06_transfer_too_large", "bug_06_pipeline_without_chunks",
                           "bug_06_region_past_slice"}) {
    const symrace::ProgramInfo& info = *kernels::find_program(name);
    const auto program = info.make(symrace::default_arguments(info, 3));
    REQUIRE(program.ok());
    const std::string emulated = make_explorer(**program, 3)->run(*make_random_strategy(), 0).error;
    const auto engine = symrace::DirectEngine::create(**program, 3);
    REQUIRE(engine.ok());
    const symrace::DirectResult result = (*engine)->run();
    CHECK(result.outcome == DirectOutcome::kError);
    // Which rank's is chance on both.
    const auto without_rank = [](std::string text) {
      const std::size_t at = text.find("rank ");
      return text.erase(at, text.find(':', at) - at);
    };
    CHECK(without_rank(result.error) == without_rank(emulated));
  }
}

}  // namespace
}  // namespace emu::testing
