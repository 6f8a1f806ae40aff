// A program as a command of its own name: a2a3sim without the word PROGRAM.
#include "tools/cli.h"

int main(int argc, char** argv) { return tools::run_cli(argc, argv, PROGRAM_NAME); }
