// One side of a seeded bug, ready to run, and the symptoms that its outputs are compared with.
#ifndef SYMRACE_TESTS_EMU_BUG_RUN_H_
#define SYMRACE_TESTS_EMU_BUG_RUN_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <regex>
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

// `pattern` with {r}, {next} and {previous} replaced by ranks.
inline std::string filled_in(std::string pattern, std::int32_t rank, std::int32_t ranks) {
  const std::pair<std::string, std::int32_t> names[] = {
      {"{r}", rank}, {"{next}", (rank + 1) % ranks}, {"{previous}", (rank + ranks - 1) % ranks}};
  for (const auto& [name, value] : names) {
    for (std::size_t at = 0; (at = pattern.find(name)) != pattern.npos;) {
      pattern.replace(at, name.size(), std::to_string(value));
    }
  }
  return pattern;
}

// Whether every wrong rank's output is what the regular expression says.
inline bool all_are(const std::string& identity, const RunResult& result, std::int32_t ranks) {
  return std::all_of(result.mismatches.begin(), result.mismatches.end(),
                     [&](const symrace::Mismatch& mismatch) {
                       const std::regex expected(filled_in(identity, mismatch.rank, ranks));
                       return std::regex_match(mismatch.identity, expected);
                     });
}

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_BUG_RUN_H_
