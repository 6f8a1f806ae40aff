// The arguments by which tests run the documented programs and the bugs.
#ifndef SYMRACE_TESTS_EMU_PROGRAM_ARGUMENTS_H_
#define SYMRACE_TESTS_EMU_PROGRAM_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/programs.h"

namespace emu::testing {

// Every choice of each flag of a program, with all others': its modes. Numbers stay as they are.
inline std::vector<symrace::Arguments> all_modes(const symrace::ProgramInfo& info,
                                                 std::int32_t ranks) {
  std::vector<symrace::Arguments> all = {symrace::default_arguments(info, ranks)};
  for (const symrace::Flag& flag : info.flags) {
    const std::size_t before = all.size();
    for (const std::string_view choice : flag.choices) {
      if (choice == flag.default_value) continue;
      for (std::size_t i = 0; i < before; ++i) {
        all.push_back(all[i]);
        all.back().flags[std::string(flag.name)] = std::string(choice);
      }
    }
    if (flag.kind != symrace::Flag::Kind::kSwitch || flag.name == "pipeline") continue;
    for (std::size_t i = 0; i < before; ++i) {
      all.push_back(all[i]);
      all.back().flags[std::string(flag.name)] = "true";
    }
  }
  return all;
}

inline symrace::Arguments arguments_of(const symrace::ProgramInfo& info, std::int32_t ranks,
                                       bool fixed) {
  symrace::Arguments arguments = symrace::default_arguments(info, ranks);
  arguments.flags["fixed"] = fixed ? "true" : "";
  return arguments;
}

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_PROGRAM_ARGUMENTS_H_
