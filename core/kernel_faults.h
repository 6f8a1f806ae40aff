// Faults of kernels that no exception tells of: a stack without end, a wild pointer, an integer
// divided by zero, an abort, an exit, a kernel that never comes to its next op, and memory that
// runs out. Each ends the process with status 2 and one line that names the rank and its latest op.
//
// A build with AddressSanitizer leaves wild pointers and stacks to it, and adds that line.
#ifndef SYMRACE_CORE_KERNEL_FAULTS_H_
#define SYMRACE_CORE_KERNEL_FAULTS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace symrace {

// A signal stack of the calling thread, for as long as this lives: a rank that has used up its own
// can be told of nowhere else. Of every thread that runs ranks.
class FaultStack {
 public:
  FaultStack();
  ~FaultStack();
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;  // null: the thread has one
};

struct KernelLimits {
  // Longest time from one op of a rank to its next, of ranks on the calling thread; 0: none.
  std::chrono::seconds hang_after{0};
  // Resident bytes of the process; 0: none.
  std::uint64_t memory_bytes = 0;
};

// From now on faults in kernels are told of, in lines that begin with `command`, which outlives the
// process's kernels. `limits` are looked at ten times a second, by SIGALRM on the calling thread.
void watch_kernels(const char* command, const KernelLimits& limits);

// Ends such a process with status 2 and this line, where other threads of it go on.
[[noreturn]] void end_watched_process(const std::string& error);

// In a fork of such a process, whose parent tells how it ends. The limit of memory is then one of
// the fork's private memory, and past it allocations throw.
void unwatch_kernels();

}  // namespace symrace

#endif  // SYMRACE_CORE_KERNEL_FAULTS_H_
