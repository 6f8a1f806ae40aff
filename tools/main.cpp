// a2a3sim, and each program as a command of its own name: a link to it, told by how it was called.
#include <string>

#include "kernels/programs.h"
#include "tools/cli.h"

int main(int argc, char** argv) {
  const std::string path = argc > 0 ? argv[0] : "";
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool is_program = kernels::find_program(name) != nullptr;
  return tools::run_cli(argc, argv, is_program ? name.c_str() : nullptr);
}
