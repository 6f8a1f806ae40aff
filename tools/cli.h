// The whole command: a2a3sim, or a program as a command of its own name.
#ifndef SYMRACE_TOOLS_CLI_H_
#define SYMRACE_TOOLS_CLI_H_

namespace tools {

// An exit status. `own_program`: the name of the program that is the command; null for a2a3sim.
int run_cli(int argc, char** argv, const char* own_program);

}  // namespace tools

#endif  // SYMRACE_TOOLS_CLI_H_
