// One side of a seeded bug, ready to run, and the symptoms that its outputs are compared with.
#ifndef SYMRACE_TESTS_EMU_BUG_RUN_H_
#define SYMRACE_TESTS_EMU_BUG_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"
#include "tests/emu/program_arguments.h"

namespace emu::testing {

struct BugRun {
  BugRun(const symrace::ProgramInfo& info, std::int32_t ranks, bool fixed, const Options& options)
      : program(*info.make(arguments_of(info, ranks, fixed))),
        explorer(make_explorer(*program, ranks, options)) {}
  std::unique_ptr<symrace::Program> program;
  std::unique_ptr<Explorer> explorer;
  std::unique_ptr<Strategy> random = make_random_strategy();
};

// Whether every wrong rank's output is what the regular expression says, in which {r}, {next} and
// {previous} stand for that rank and its neighbours.
bool all_are(const std::string& identity, const RunResult& result, std::int32_t ranks);

// Whether the regular expression matches some part of the text.
bool is_in(const std::string& expression, const std::string& text);

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_BUG_RUN_H_
