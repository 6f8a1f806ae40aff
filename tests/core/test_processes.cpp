// The direct engine with a process a rank: the results of threads, and a rank that dies in
// whichever way is named, and ends the others.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/address_sanitizer.h"
#include "core/direct_engine.h"
#include "core/error.h"
#include "core/function_program.h"
#include "core/kernel_faults.h"
#include "core/pl.h"
#include "core/pld.h"
#include "core/rank_context.h"
#include "core/rank_mutex.h"

namespace symrace {
namespace {

using Data = pld::DistributedTensor<std::int32_t>;
using Row = pl::Tensor<std::int32_t>;
using OutRow = pl::Out<pl::Tensor<std::int32_t>>;
using Outcome = DirectResult::Outcome;
using pld::NotifyOp;
using pld::WaitCmp;

constexpr std::int64_t kCols = 16;

// `kernel(y, data, signal, what)` on every rank: y is the rank's row of an output of kCols columns,
// both windows have a row a rank.
struct Case {
  using Kernel = void (*)(OutRow y, Data data, Data signal, std::int32_t what);
  Kernel kernel;
  std::int32_t ranks;
  std::int32_t what = 0;
  std::vector<std::int32_t> y = {};
  FunctionProgram program{[this](pld::Host& host) {
    const pl::Shape shape{ranks, kCols};
    const auto data = host.alloc_window_buffer(shape, pl::DType::INT32, "data");
    const auto signal = host.alloc_window_buffer(shape, pl::DType::INT32, "signal");
    y.assign(static_cast<std::size_t>(ranks * kCols), -1);
    for (std::int32_t r = 0; r < ranks; ++r) {
      host.dispatch(pld::device(r), kernel, OutRow(y.data() + r * kCols, 1, kCols),
                    host.window<std::int32_t>(data, shape),
                    host.window<std::int32_t>(signal, shape), what);
    }
  }};
};

std::unique_ptr<DirectEngine> engine_of(Program& program, std::int32_t ranks,
                                        DirectOptions options = {}) {
  options.ranks_as = RanksAs::kProcesses;
  auto engine = DirectEngine::create(program, ranks, std::move(options));
  REQUIRE_MESSAGE(engine.ok(), engine.status().ToString());
  return *std::move(engine);
}

constexpr std::uint32_t kRankLine = __LINE__ + 1;
std::int32_t my_rank(const Data& data) { return pld::rank(pld::get_comm_ctx(data)); }
std::int32_t rank_count(const Data& data) { return pld::nranks(pld::get_comm_ctx(data)); }

pl::Tile<std::int32_t> row_of(std::int32_t value) {
  return pl::full<std::int32_t>({1, kCols}, value);
}

// Whether this process has a child left, running or not yet waited for.
bool has_children() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// "<before>PID<after>" with the pid taken out.
std::string without_pid(std::string text) {
  constexpr std::string_view kProcess = "process ";
  const std::size_t at = text.find(kProcess);
  if (at == std::string::npos) return text;
  const std::size_t begin = at + kProcess.size();
  return text.erase(begin, text.find_first_not_of("0123456789", begin) - begin);
}

void pass_token(OutRow y, Data data, Data signal, std::int32_t) {
  const std::int32_t me = my_rank(data);
  const std::int32_t n = rank_count(data);
  const std::int32_t next = (me + 1) % n;
  std::int32_t token = me;
  for (std::int32_t round = 1; round <= 20; ++round) {
    pld::tile::remote_store(row_of(token), data, next, {round % 2 == 0 ? 0 : n - 1, 0});
    pld::system::notify(signal, next, {0, 0}, 1, NotifyOp::AtomicAdd);
    pld::system::wait(signal, {0, 0}, round, WaitCmp::Ge);
    token = pl::read(data, {round % 2 == 0 ? 0 : n - 1, kCols - 1}).value();
    pld::tensor::barrier(Data(signal).view(0, 1, n, 1));
  }
  pl::store(row_of(token), {0, 0}, y);
}

TEST_CASE("processes: a wait sees what came before the notify, and outputs come back, run by run") {
  for (const std::int32_t ranks : {1, 2, 3, 8, 24}) {
    Case tokens{pass_token, ranks};
    const auto engine = engine_of(tokens.program, ranks);
    for (int run = 0; run < 3; ++run) {
      const DirectResult result = engine->run();
      REQUIRE_MESSAGE(result.outcome == Outcome::kOk, result.error);
      for (std::int32_t r = 0; r < ranks; ++r) {
        for (std::int64_t i = 0; i < kCols; ++i) {
          CHECK(tokens.y[static_cast<std::size_t>(r * kCols + i)] ==
                ((r - 20) % ranks + ranks) % ranks);
        }
      }
      CHECK_FALSE(has_children());
    }
  }
}

TEST_CASE("processes: a wait misses no signal, however often two ranks take turns") {
  Case turns{[](OutRow y, Data data, Data signal, std::int32_t rounds) {
               const std::int32_t me = my_rank(data);
               for (std::int32_t round = 1; round <= rounds; ++round) {
                 if (me == 1) pld::system::wait(signal, {0, 0}, round, WaitCmp::Eq);
                 pld::system::notify(signal, 1 - me, {0, 0}, round, NotifyOp::Set);
                 if (me == 0) pld::system::wait(signal, {0, 0}, round, WaitCmp::Eq);
               }
               pl::write(y, {0, 0}, rounds);
             },
             2, 20'000};
  const auto engine = engine_of(turns.program, 2, {.time_limit = {}});
  REQUIRE(engine->run().outcome == Outcome::kOk);
  CHECK(turns.y[0] == 20'000);
  CHECK(turns.y[kCols] == 20'000);
}

TEST_CASE(
    "processes: of an output that ranks share, each one's part comes back; get writes it too") {
  std::vector<std::int32_t> shared;
  FunctionProgram program([&](pld::Host& host) {
    const auto buffer = host.alloc_window_buffer({1, 4}, pl::DType::INT32, "data");
    const auto signals = host.alloc_window_buffer({3, 1}, pl::DType::INT32, "signal");
    shared.assign(24, -1);
    for (std::int32_t r = 0; r < 3; ++r) {
      // Two rows of four, eight apart; rank 2 writes nothing.
      host.dispatch(
          pld::device(r),
          [](OutRow y, Data data, Data signal) {
            const std::int32_t me = my_rank(data);
            pl::store(pl::full<std::int32_t>({1, 4}, 10 + me), {0, 0}, data);
            pld::tensor::barrier(signal);
            if (me == 2) return;
            pl::store(pl::full<std::int32_t>({1, 2}, me), {0, 2 * me}, y);
            pld::tensor::get(pl::slice(y, {1, 2 * me}, {1, 2}), 2, data,
                             {.dst_offsets = pl::Offsets{0, 0},
                              .src_offsets = pl::Offsets{0, 1},
                              .shape = pl::Shape{1, 2}});
          },
          OutRow(shared.data(), 2, 4, 8), host.window<std::int32_t>(buffer, {1, 4}),
          host.window<std::int32_t>(signals, {3, 1}));
    }
  });
  const DirectResult result = engine_of(program, 3)->run();
  REQUIRE_MESSAGE(result.outcome == Outcome::kOk, result.error);
  CHECK(shared == std::vector<std::int32_t>{0,  0,  1,  1,  -1, -1, -1, -1, 12, 12, 12, 12,
                                            -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
}

TEST_CASE("processes: a program whose results would stay in its processes is refused") {
  std::int32_t seen = 0;
  const auto run = [](auto&& dispatch) {
    FunctionProgram program([&](pld::Host& host) { dispatch(host); });
    const DirectResult result = engine_of(program, 1)->run();
    CHECK(result.outcome == Outcome::kError);
    return result.error;
  };
  const std::string refusal =
      "host: the kernel of device 0 captures variables or gets a pointer to one, and what it "
      "writes there stays in its process; pass outputs as pl::Out arguments of a kernel without "
      "captures, or run the ranks as threads";
  CHECK(run([&](pld::Host& host) { host.dispatch(pld::device(0), [&] { seen = 1; }); }) == refusal);
  CHECK(run([&](pld::Host& host) {
          host.dispatch(
              pld::device(0), [](std::int32_t* to) { *to = 1; }, &seen);
        }) == refusal);
  CHECK(run([&](pld::Host& host) {
          host.dispatch(
              pld::device(0), [](std::int32_t& to) { to = 1; }, std::ref(seen));
        }) == refusal);
  CHECK(seen == 0);
  FunctionProgram reads([&](pld::Host& host) {
    host.dispatch(
        pld::device(0), [](const std::int32_t*) {}, static_cast<const std::int32_t*>(&seen));
  });
  CHECK(engine_of(reads, 1)->run().outcome == Outcome::kOk);
}

// --- Deaths --------------------------------------------------------------------------------------

struct Death {
  std::function<void()> die;
  std::string how;
};

// By default, whatever a sanitizer has made of it.
void die_of(int signal_number) {
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

const std::vector<Death>& deaths() {
  static const std::vector<Death> all = {
      {[] { _exit(3); }, "exited with status 3"},
      {[] { _exit(0); }, "exited with status 0"},
      {[] { std::exit(7); }, "exited with status 7"},
      {[] { die_of(SIGSEGV); }, "was ended by SIGSEGV"},
      {[] { die_of(SIGKILL); }, "was ended by SIGKILL"},
      {[] { die_of(SIGABRT); }, "was ended by SIGABRT"},
  };
  return all;
}

constexpr std::int32_t kEarly = 100;  // added to a death's number: before any op
constexpr std::uint32_t kDeathLine = __LINE__ + 7;
// The rank before the last dies of `what`, once every other rank waits or is about to.
void die_behind_a_notify(OutRow, Data data, Data signal, std::int32_t what) {
  const RankContext& me = *internal::current_rank_pointer;  // to ask for one's rank is an op
  const std::int32_t n = me.world_size;
  if (me.rank == n - 2) {
    if (what >= kEarly) deaths()[static_cast<std::size_t>(what - kEarly)].die();
    pld::system::notify(signal, n - 1, {0, 0}, 1, NotifyOp::AtomicAdd);
    deaths()[static_cast<std::size_t>(what)].die();
  }
  if (my_rank(data) == 0) {
    while (!pld::system::test(signal, {0, 1}, 1, WaitCmp::Ge)) {
    }
  }
  pld::system::wait(signal, {0, 0}, 2, WaitCmp::Ge);
}

TEST_CASE("processes: each kind of death is named with the last op and its line; the others end") {
  for (const std::int32_t ranks : {3, 7}) {
    const std::string rank = "rank " + std::to_string(ranks - 2) + ": the kernel ";
    Case dying{die_behind_a_notify, ranks};
    const auto engine = engine_of(dying.program, ranks, {.time_limit = {}});
    for (std::size_t which = 0; which < deaths().size(); ++which) {
      dying.what = static_cast<std::int32_t>(which);
      const DirectResult late = engine->run();
      CHECK(late.outcome == Outcome::kError);
      CHECK(without_pid(late.error) ==
            "test_processes.cpp:" + std::to_string(kDeathLine) + ": " + rank + deaths()[which].how +
                " in process  after its notify here; expected it to return");
      dying.what += kEarly;
      const DirectResult early = engine->run();
      CHECK(early.outcome == Outcome::kError);
      CHECK(without_pid(early.error) ==
            rank + deaths()[which].how + " in process  before its first op; expected it to return");
      CHECK_FALSE(has_children());
    }
  }
}

TEST_CASE("processes: an op on private memory is named too, and a collective by its own name") {
  Case in_private{[](OutRow y, Data data, Data, std::int32_t) {
                    if (my_rank(data) == 1) {
                      pl::store(row_of(1), {0, 0}, y);
                      _exit(1);
                    }
                  },
                  2};
  CHECK(engine_of(in_private.program, 2)->run().error.find(" after its store here;") !=
        std::string::npos);
  Case in_barrier{[](OutRow, Data, Data signal, std::int32_t) {
                    pld::tensor::barrier(Data(signal).view(0, 0, 2, 1));
                    if (internal::current_rank_pointer->rank == 0) _exit(1);
                  },
                  2};
  CHECK(engine_of(in_barrier.program, 2)->run().error.find(" after its barrier here;") !=
        std::string::npos);
}

TEST_CASE("processes: a rank that computes for ever is killed when another dies, or time is up") {
  Case looping{[](OutRow, Data data, Data, std::int32_t what) {
                 const std::int32_t me = my_rank(data);
                 if (me == 1 && what == 0) _exit(9);
                 if (what == 2) pld::system::fence();
                 if (me == 0 || what != 0) {
                   for (volatile bool forever = true; forever;) {
                   }
                 }
               },
               2};
  const auto engine = engine_of(looping.program, 2, {.time_limit = std::chrono::milliseconds(50)});
  const DirectResult death = engine->run();
  CHECK(death.outcome == Outcome::kError);
  CHECK(death.error.find("exited with status 9") != std::string::npos);
  looping.what = 1;
  const DirectResult opless = engine->run();
  CHECK(opless.outcome == Outcome::kError);
  CHECK(opless.error == "test_processes.cpp:" + std::to_string(kRankLine) +
                            ": rank 0: the kernel goes on without any op after what it did here, "
                            "and the run is over; expected one that ends");
  looping.what = 2;
  const DirectResult late = engine->run();
  REQUIRE(late.outcome == Outcome::kTimeLimit);
  REQUIRE(late.stuck.size() == 2);
  CHECK(late.stuck[0].op == OpKind::kFence);
  CHECK_FALSE(has_children());
}

// --- The other ends ------------------------------------------------------------------------------

// What an engine tells of a run, in one string.
std::string told(const DirectResult& result) {
  std::string text = std::to_string(static_cast<int>(result.outcome)) + " " + result.error;
  for (const StuckRank& stuck : result.stuck) {
    text += "\n" + std::to_string(stuck.rank) + " " + std::string(op_name(stuck.op)) + " " +
            short_location(stuck.where) + " " + stuck.window + " " + std::to_string(stuck.cell) +
            " " + std::to_string(stuck.expected) + " " + std::to_string(stuck.actual) + " " +
            std::to_string(static_cast<int>(stuck.cmp)) + (stuck.on_cell ? " cell" : "") +
            (stuck.count_lost ? " lost" : "");
  }
  for (const SentSignal& sent : result.signals) {
    text += "\n" + std::to_string(sent.from) + " -> " + std::to_string(sent.to) + " " +
            sent.window + " " + std::to_string(sent.cell) + " " + short_location(sent.where) +
            " x" + std::to_string(sent.count);
  }
  return text + (result.has_all_signals ? "" : " and more");
}

void end_in_some_way(OutRow, Data data, Data signal, std::int32_t what) {
  const std::int32_t me = my_rank(data);
  const std::int32_t n = rank_count(data);
  switch (what) {
    case 0:  // a deadlock, of some
      if (me == 2) return;
      pld::system::notify(signal, 1, {0, 1}, 3, NotifyOp::AtomicAdd);
      pld::system::wait(signal, {me, 2}, 4, WaitCmp::Ge);
      return;
    case 1:  // a deadlock in a barrier that one leaves out
      if (me != 1) pld::tensor::barrier(Data(signal).view(0, 0, n, 1));
      return;
    case 2:  // a Set over a count
      pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
      pld::tensor::barrier(Data(signal).view(0, 1, n, 1));
      if (me == 1) pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::Set);
      if (me == 0) pld::system::wait(signal, {0, 0}, 99, WaitCmp::Ge);
      return;
    case 3:
      if (me == 1) throw std::runtime_error("no more");
      break;
    case 4:
      if (me == 1) throw 5;
      break;
    case 5:
      if (me == 1) pl::load(data, {0, 0}, {1, kCols + 1});
      break;
    default:  // polls for ever, all of them
      while (!pld::system::test(signal, {0, 3}, 2, WaitCmp::Eq)) {
      }
  }
  pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
}

TEST_CASE("processes: deadlocks, live-locks and errors are told as of threads") {
  for (const std::int32_t ranks : {3, 9}) {
    Case ending{end_in_some_way, ranks};
    const auto run = [&](RanksAs ranks_as, DirectOptions options) {
      options.ranks_as = ranks_as;
      const auto engine = DirectEngine::create(ending.program, ranks, std::move(options));
      REQUIRE(engine.ok());
      std::string text = told((*engine)->run());
      CHECK(told((*engine)->run()) == text);
      return text;
    };
    for (ending.what = 0; ending.what <= 5; ++ending.what) {
      const std::string of_threads = run(RanksAs::kThreads, {.time_limit = {}});
      CHECK(run(RanksAs::kProcesses, {.time_limit = {}}) == of_threads);
    }
    const auto limit = std::chrono::milliseconds(5);
    const std::string of_threads = run(RanksAs::kThreads, {.time_limit = limit});
    CHECK(run(RanksAs::kProcesses, {.time_limit = limit}) == of_threads);
  }
}

TEST_CASE("processes: an interrupt ends ranks that poll, and ranks that wait") {
  const std::atomic<bool> interrupt{true};
  Case polling{end_in_some_way, 3, 6};
  const auto engine = engine_of(polling.program, 3, {.time_limit = {}, .interrupt = &interrupt});
  CHECK(engine->run().outcome == Outcome::kInterrupted);
  CHECK_FALSE(has_children());
}

TEST_CASE("processes: windows are zero at the start of each run") {
  Case dirty{[](OutRow y, Data data, Data, std::int32_t) {
               pl::write(y, {0, 0}, pl::read(data, {my_rank(data), 3}));
               pl::store(row_of(7), {my_rank(data), 0}, data);
             },
             3};
  const auto engine = engine_of(dirty.program, 3);
  for (int run = 0; run < 3; ++run) {
    CHECK(engine->run().outcome == Outcome::kOk);
    for (std::size_t r = 0; r < 3; ++r) CHECK(dirty.y[r * kCols] == 0);
  }
}

TEST_CASE("processes: what cannot be started is told, and leaves nothing") {
  Case tokens{pass_token, 64};
  const auto engine = engine_of(tokens.program, 64);
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit few{40, limit.rlim_max};  // open files, of which each process is one
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  const DirectResult result = engine->run();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(result.outcome == Outcome::kError);
  CHECK(result.error.starts_with("cannot start a process for each of 64 ranks, only for "));
  CHECK(
      result.error.ends_with(" of them: Too many open files; use fewer ranks, or raise the limit "
                             "of processes (ulimit -u) or open files (-n)"));
  CHECK_FALSE(has_children());
}

TEST_CASE("rank mutex: a process that dies with it gives it up; one that lives keeps it") {
  const RanksAs processes = RanksAs::kProcesses;
  const SharedArray<RankMutex> mutex(1, processes);
  const pid_t dying = fork();
  if (dying == 0) {
    mutex[0].lock();
    _exit(0);
  }
  REQUIRE(waitpid(dying, nullptr, 0) == dying);
  CHECK(mutex[0].try_lock_for(std::chrono::milliseconds(0)));
  const pid_t other = fork();
  if (other == 0) _exit(mutex[0].try_lock_for(std::chrono::milliseconds(1)) ? 1 : 0);
  int status = -1;
  REQUIRE(waitpid(other, &status, 0) == other);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  mutex[0].unlock();
  CHECK(mutex[0].try_lock_for(std::chrono::milliseconds(0)));
  mutex[0].unlock();
}

#ifndef SYMRACE_HAS_ASAN
std::string here(int lines_back,
                 const std::source_location& where = std::source_location::current()) {
  return "test_processes.cpp:" + std::to_string(static_cast<int>(where.line()) - lines_back);
}

TEST_CASE("processes: a rank that allocates without end throws at the limit of memory") {
  Case greedy{[](OutRow, Data data, Data, std::int32_t) {
                if (my_rank(data) != 1) return;
                pl::write(data, {0, 0}, 1);
                std::vector<std::vector<char>> held;
                while (true) held.emplace_back(std::size_t{1} << 20, 'x');
              },
              2};
  const std::string place = here(5);
  const pid_t child = fork();  // faults are watched for as long as a process lasts
  if (child == 0) {
    watch_kernels("core_tests", {.memory_bytes = std::uint64_t{256} << 20});
    const std::string error = engine_of(greedy.program, 2)->run().error;
    std::fprintf(stderr, "%s\n", error.c_str());
    _exit(error == place + ": rank 1: the kernel threw after its write here: std::bad_alloc" ? 0
                                                                                             : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif

}  // namespace
}  // namespace symrace
