// The help texts around the list of flags.
#ifndef SYMRACE_TOOLS_HELP_H_
#define SYMRACE_TOOLS_HELP_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "core/program.h"

namespace tools {

// What stands above the flags: of a2a3sim as a whole, of one program, or of `a2a3sim heap`.
std::string general_introduction();
std::string program_introduction(const symrace::ProgramInfo& info, bool is_own_command);
std::string heap_introduction();
// All there is to tell of list, explain, costs and devices; "" of other words.
std::string command_help(std::string_view command);
// What stands below them.
std::string exit_statuses();

// Introduction, flags group by group, footer.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace tools

#endif  // SYMRACE_TOOLS_HELP_H_
