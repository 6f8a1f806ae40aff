#include "core/kernel_faults.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "core/address_sanitizer.h"
#include "core/rank_context.h"

#ifdef SYMRACE_HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace symrace {
namespace {

constexpr std::size_t kSignalStackBytes = 64 * 1024;
constexpr int kTicksASecond = 10;

// A signal handler can reach nothing but globals.
const char* command = "";
long hang_ticks = 0;
std::uint64_t memory_limit = 0;

// In the only way that a handler may write.
[[gnu::format(printf, 1, 2)]] void write_line(const char* format, ...) {
  char text[1024];
  std::va_list arguments;
  va_start(arguments, format);
  const int count = std::vsnprintf(text, sizeof(text) - 1, format, arguments);
  va_end(arguments);
  if (count < 0) return;
  std::size_t size = std::min(static_cast<std::size_t>(count), sizeof(text) - 2);
  text[size++] = '\n';
  const ssize_t written = write(STDERR_FILENO, text, size);
  static_cast<void>(written);  // there is nobody else to tell
}

[[noreturn]] void end_with(const char* what, const char* expected) {
  write_line("%s: %s; expected %s", command,
             between_ops(*internal::current_rank_pointer, what).data(), expected);
  _exit(2);
}

#ifndef SYMRACE_HAS_ASAN
constexpr std::uintptr_t kNear = 64 * 1024;  // of frames that are not touched in their order

std::uintptr_t stack_pointer([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return static_cast<std::uintptr_t>(registers[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  return 0;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (internal::current_rank_pointer == nullptr) {  // no kernel's
    ::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  switch (signal) {
    case SIGFPE:
      end_with("divided an integer by zero, or out of its range (SIGFPE)",
               "a divisor that is looked at first");
    case SIGILL:
      end_with("ran into a trap (SIGILL)", "no such instruction");
    case SIGABRT:
      end_with("called abort (SIGABRT)", "an exception, which the run would tell of");
    default:
      break;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t stack = stack_pointer(context);
  if (stack != 0 && address + kNear > stack && address < stack + kNear) {
    end_with("used up its stack (stack overflow)",
             "recursion with an end, or a larger --stack-size (of a thread, ulimit -s)");
  }
  end_with(signal == SIGBUS ? "touched memory that is not there (SIGBUS)"
                            : "touched memory that is not there (SIGSEGV)",
           "a pointer into an object that lives; a build with -DSYMRACE_SANITIZE=ON says which");
}

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void watch_faults() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int number : kFaults) sigaction(number, &action, nullptr);
}
void unwatch_faults() {
  for (const int number : kFaults) ::signal(number, SIG_DFL);
}
#else
void name_rank() {
  const RankContext* rank = internal::current_rank_pointer;
  if (rank == nullptr) return;
  write_line("%s: %s; AddressSanitizer's report is above", command,
             between_ops(*rank, "was ended").data());
}
void watch_faults() { __sanitizer_set_death_callback(name_rank); }
void unwatch_faults() { __sanitizer_set_death_callback(nullptr); }
#endif

bool exits_are_watched = false;

void on_exit() {
  if (exits_are_watched && internal::current_rank_pointer != nullptr) {
    end_with("called exit", "a return, for the other ranks have not ended");
  }
}

// Of the process; 0 when it cannot be told.
std::uint64_t resident_bytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t count = read(file, text, sizeof(text) - 1);
  close(file);
  text[count > 0 ? count : 0] = 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  if (std::sscanf(text, "%llu %llu", &total, &resident) != 2) return 0;
  return resident * static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}

void on_tick(int /*signal*/) {
  static const RankContext* seen = nullptr;
  static std::uint32_t seen_ops = 0;
  static long unchanged = 0;
  const int kept_errno = errno;
  const RankContext* rank = internal::current_rank_pointer;
  unchanged = rank != nullptr && rank == seen && rank->ops == seen_ops ? unchanged + 1 : 0;
  seen = rank;
  seen_ops = rank == nullptr ? 0 : rank->ops;
  if (hang_ticks != 0 && unchanged >= hang_ticks) {
    end_with("has not come to its next op for as long as --hang-after allows",
             "one that ends, or a larger --hang-after");
  }
  if (memory_limit != 0 && resident_bytes() > memory_limit) {
    if (rank != nullptr) {
      end_with("ran when the process had more memory than --memory-limit allows",
               "allocations with an end, or a larger --memory-limit");
    }
    write_line(
        "%s: the process has more memory than --memory-limit allows; expected a smaller "
        "run, or a larger --memory-limit",
        command);
    _exit(2);
  }
  errno = kept_errno;
}

}  // namespace

FaultStack::FaultStack() {
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
  memory_ = std::make_unique<std::byte[]>(kSignalStackBytes);
  const stack_t stack{.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = kSignalStackBytes};
  sigaltstack(&stack, nullptr);
}

FaultStack::~FaultStack() {
  if (memory_ == nullptr) return;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

void watch_kernels(const char* name, const KernelLimits& limits) {
  command = name;
  hang_ticks = static_cast<long>(limits.hang_after.count()) * kTicksASecond;
  memory_limit = limits.memory_bytes;
  watch_faults();
  exits_are_watched = true;
  std::atexit(on_exit);
  std::at_quick_exit(on_exit);
  if (hang_ticks == 0 && memory_limit == 0) return;
  struct sigaction action {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  const timeval tick{.tv_sec = 0, .tv_usec = 1'000'000 / kTicksASecond};
  const itimerval timer{.it_interval = tick, .it_value = tick};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void end_watched_process(const std::string& error) {
  write_line("%s: %s", command, error.c_str());
  _exit(2);
}

void unwatch_kernels() {
  unwatch_faults();
  exits_are_watched = false;  // nor has a fork the timer of its parent
#ifndef SYMRACE_HAS_ASAN      // its shadow memory would count
  if (memory_limit != 0) {
    const rlimit limit{.rlim_cur = memory_limit, .rlim_max = memory_limit};
    setrlimit(RLIMIT_DATA, &limit);
  }
#endif
}

}  // namespace symrace
