// a2a3sim.
#include "tools/cli.h"

int main(int argc, char** argv) { return tools::run_cli(argc, argv, nullptr); }
