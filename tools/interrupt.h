// Ctrl-C: asks a run to end with what it has found so far.
#ifndef SYMRACE_TOOLS_INTERRUPT_H_
#define SYMRACE_TOOLS_INTERRUPT_H_

#include <atomic>

namespace tools {

// From now on the first SIGINT or SIGTERM sets interrupt_flag(); a second one ends the process.
void catch_interrupts();

// For emu::Options::interrupt.
std::atomic<bool>& interrupt_flag();

}  // namespace tools

#endif  // SYMRACE_TOOLS_INTERRUPT_H_
