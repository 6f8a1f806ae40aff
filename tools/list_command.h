// `a2a3sim list`: the programs, then the seeded bugs with the symptoms they must show.
#ifndef SYMRACE_TOOLS_LIST_COMMAND_H_
#define SYMRACE_TOOLS_LIST_COMMAND_H_

#include <ostream>

namespace tools {

void list_programs(std::ostream& out);

}  // namespace tools

#endif  // SYMRACE_TOOLS_LIST_COMMAND_H_
