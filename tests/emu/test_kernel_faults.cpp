// Kernels that fail as no exception tells: each in a process of its own, which is to end with
// status 2 and one line that names the rank and its latest op.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include "core/address_sanitizer.h"
#include "core/kernel_faults.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

struct Ended {
  int status = -1;  // of exit; -1: by a signal
  std::string err;
};

// Runs `kernel` on two ranks in a child, with its faults watched.
Ended run_in_child(const std::function<void(Data)>& kernel, symrace::KernelLimits limits = {},
                   VehicleKind vehicle = VehicleKind::kFiber) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    const symrace::FaultStack fault_stack;
    symrace::watch_kernels("a2a3sim", limits);
    KernelProgram program([&](Data data, Data) { kernel(data); });
    const RunResult result =
        make_explorer(program, 2, {.vehicle = vehicle})->run(*make_random_strategy(), 0);
    std::fprintf(stderr, "%s\n", result.error.c_str());
    _exit(result.outcome == Outcome::kError ? 2 : 0);
  }
  close(ends[1]);
  Ended ended;
  char part[4096];
  for (ssize_t count = 0; (count = read(ends[0], part, sizeof(part))) > 0;) {
    ended.err.append(part, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

std::string here(int lines_back,
                 const std::source_location& where = std::source_location::current()) {
  return "test_kernel_faults.cpp:" + std::to_string(static_cast<int>(where.line()) - lines_back);
}

// Rank 1 fails in `fault` after its store at the line that `failed` names.
void check_line(const std::function<void()>& fault, const std::string& what,
                symrace::KernelLimits limits = {}, VehicleKind vehicle = VehicleKind::kFiber) {
  std::string place;
  const auto kernel = [&](Data data) {
    if (my_rank() != 1) return;
    pl::write(data, {0, 0}, 1);
    fault();
  };
  place = here(3);
  const Ended ended = run_in_child(kernel, limits, vehicle);
  CHECK(ended.status == 2);
  CHECK(ended.err == "a2a3sim: " + place + ": rank 1: the kernel " + what + "\n");
}

#ifndef SYMRACE_HAS_ASAN
// Neither inlined nor turned into a loop.
[[gnu::noinline]] std::uint64_t deep(std::uint64_t depth) {
  if (depth == 0) return 0;
  volatile char frame[512];
  frame[depth % sizeof(frame)] = 1;
  return deep(depth - 1) + static_cast<std::uint64_t>(frame[0]);
}

TEST_CASE("a stack that is used up is named, on either vehicle") {
  for (const VehicleKind vehicle : {VehicleKind::kFiber, VehicleKind::kThread}) {
    check_line(
        [] { deep(~std::uint64_t{0}); },
        "used up its stack (stack overflow) after its write here; expected recursion with an "
        "end, or a larger --stack-size (of a thread, ulimit -s)",
        {}, vehicle);
  }
}

TEST_CASE("a pointer to nowhere, an abort and an exit are named") {
  check_line(
      [] {
        volatile std::uintptr_t nowhere = 64;
        *reinterpret_cast<volatile int*>(nowhere) = 1;  // NOLINT
      },
      "touched memory that is not there (SIGSEGV) after its write here; expected a pointer into an "
      "object that lives; a build with -DSYMRACE_SANITIZE=ON says which");
  check_line([] { std::abort(); },
             "called abort (SIGABRT) after its write here; expected an exception, which the run "
             "would tell of");
}

#if defined(__x86_64__)
TEST_CASE("a division of integers by zero is named") {
  check_line(
      [] {
        volatile int zero = 0;
        volatile int one = 1;
        one = one / zero;
      },
      "divided an integer by zero, or out of its range (SIGFPE) after its write here; expected a "
      "divisor that is looked at first");
}
#endif
#else
TEST_CASE("AddressSanitizer's end of a kernel names the rank: a write past the end of a tile") {
  const Ended ended = run_in_child([](Data data) {
    if (my_rank() != 1) return;
    const auto tile = pl::load(data, {0, 0}, {1, 8});
    const volatile std::byte past = tile.block()->bytes()[32];
    static_cast<void>(past);
  });
  CHECK(ended.status != 0);
  CHECK(ended.err.find("AddressSanitizer: use-after-poison") != std::string::npos);
  CHECK(ended.err.find("test_kernel_faults.cpp:") != std::string::npos);
  INFO(ended.err);
  CHECK(ended.err.find("rank 1: the kernel was ended after its load here") != std::string::npos);
}
#endif

TEST_CASE("an exit is named") {
  check_line([] { std::exit(0); },  // NOLINT(concurrency-mt-unsafe)
             "called exit after its write here; expected a return, for the other ranks have not "
             "ended");
  check_line([] { std::quick_exit(0); },
             "called exit after its write here; expected a return, for the other ranks have not "
             "ended");
}

TEST_CASE("a kernel that never comes to its next op is named") {
  check_line(
      [] {
        volatile bool goes_on = true;
        while (goes_on) continue;
      },
      "has not come to its next op for as long as --hang-after allows after its write here; "
      "expected one that ends, or a larger --hang-after",
      {.hang_after = std::chrono::seconds(1)});
}

TEST_CASE("memory without end is named: by its limit, and where none is left to allocate") {
  check_line(
      [] {
        std::vector<std::vector<char>> held;
        while (true) held.emplace_back(std::size_t{1} << 20, 'x');
      },
      "ran when the process had more memory than --memory-limit allows after its write here; "
      "expected allocations with an end, or a larger --memory-limit",
      {.memory_bytes = std::uint64_t{1} << 30});
  const Ended ended = run_in_child([](Data data) {
    pl::write(data, {0, 0}, 1);
    throw std::bad_alloc();
  });
  CHECK(ended.status == 2);
  CHECK(ended.err == here(4) + ": rank 0: the kernel threw after its write here: std::bad_alloc\n");
}

TEST_CASE("index math names the line of a division by zero") {
  const Ended ended = run_in_child([](Data data) {
    const auto ranks = pld::nranks(pld::get_comm_ctx(data));
    pl::write(data, {0, 0}, 1);
    const auto peer = ranks / (ranks - 2);
    pl::write(data, {0, peer}, 1);
  });
  const std::string place = here(4);
  CHECK(ended.status == 2);
  CHECK(ended.err == place +
                         ": rank 0: the kernel divided a scalar by zero in index math after "
                         "its write here; check the divisor first\n");
}

}  // namespace
}  // namespace emu::testing
