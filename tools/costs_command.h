// `a2a3sim costs`: the parameters of a preset cost table, and its times against the published ones.
#ifndef SYMRACE_TOOLS_COSTS_COMMAND_H_
#define SYMRACE_TOOLS_COSTS_COMMAND_H_

#include <ostream>

namespace tools {

void print_costs(std::ostream& out);

}  // namespace tools

#endif  // SYMRACE_TOOLS_COSTS_COMMAND_H_
