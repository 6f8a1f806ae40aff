// The direct engine with kernels of a few lines: what it orders, how it ends, and that it can go
// on.
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/atomic_add.h"
#include "core/direct_engine.h"
#include "core/function_program.h"
#include "core/pl.h"
#include "core/pld.h"
#include "core/signal_record.h"

namespace symrace {
namespace {

using Data = pld::DistributedTensor<std::int32_t>;
using Outcome = DirectResult::Outcome;
using pld::NotifyOp;
using pld::WaitCmp;

constexpr std::int64_t kCols = 16;

// `kernel(data, signal, rank, ranks)` on every rank; both windows have a row a rank.
using Kernel = std::function<void(Data data, Data signal, std::int32_t rank, std::int32_t ranks)>;
FunctionProgram program_of(
    Kernel kernel, std::function<bool()> is_right = [] { return true; }) {
  return FunctionProgram(
      [kernel = std::move(kernel)](pld::Host& host) {
        const pl::Shape shape{host.world_size(), kCols};
        const auto data = host.alloc_window_buffer(shape, pl::DType::INT32, "data");
        const auto signal = host.alloc_window_buffer(shape, pl::DType::INT32, "signal");
        for (std::int32_t r = 0; r < host.world_size(); ++r) {
          host.dispatch(
              pld::device(r),
              [&kernel](Data d, Data s) {
                const auto ctx = pld::get_comm_ctx(d);
                kernel(d, s, ctx.rank, ctx.nranks);
              },
              host.window<std::int32_t>(data, shape), host.window<std::int32_t>(signal, shape));
        }
      },
      std::move(is_right));
}

std::unique_ptr<DirectEngine> engine_of(Program& program, std::int32_t ranks,
                                        DirectOptions options = {}) {
  auto engine = DirectEngine::create(program, ranks, std::move(options));
  REQUIRE(engine.ok());
  return *std::move(engine);
}

pl::Tile<std::int32_t> row_of(std::int32_t value) {
  return pl::full<std::int32_t>({1, kCols}, value);
}

TEST_CASE(
    "direct: a wait sees what came before the notify, on any number of ranks, run after run") {
  for (const std::int32_t ranks : {1, 2, 3, 8, 64}) {
    std::vector<std::int32_t> seen(static_cast<std::size_t>(ranks));
    FunctionProgram program =
        program_of([&](Data data, Data signal, std::int32_t me, std::int32_t n) {
          const std::int32_t next = (me + 1) % n;
          std::int32_t token = me;
          for (std::int32_t round = 1; round <= 20; ++round) {
            pld::tile::remote_store(row_of(token), data, next, {round % 2 == 0 ? 0 : n - 1, 0});
            pld::system::notify(signal, next, {0, 0}, 1, NotifyOp::AtomicAdd);
            pld::system::wait(signal, {0, 0}, round, WaitCmp::Ge);
            token = pl::read(data, {round % 2 == 0 ? 0 : n - 1, kCols - 1}).value();
            pld::tensor::barrier(Data(signal).view(0, 1, n, 1));
          }
          seen[static_cast<std::size_t>(me)] = token;
        });
    const auto engine = engine_of(program, ranks);
    for (int run = 0; run < 5; ++run) {
      seen.assign(seen.size(), -1);
      const DirectResult result = engine->run();
      REQUIRE(result.outcome == Outcome::kOk);
      for (std::int32_t r = 0; r < ranks; ++r) {
        CHECK(seen[static_cast<std::size_t>(r)] == ((r - 20) % ranks + ranks) % ranks);
      }
    }
  }
}

TEST_CASE("direct: a kernel that goes on without any op when the run is over is named") {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> goes_on{true};
  auto program = program_of([&](Data data, Data, std::int32_t me, std::int32_t) {
    if (me == 0) {
      while (!has_begun) std::this_thread::yield();
      throw std::runtime_error("enough");
    }
    pl::write(data, {0, 0}, 1);
    has_begun = true;
    while (goes_on) std::this_thread::yield();
  });
  std::string told;
  const auto engine = engine_of(program, 2,
                                {.cannot_end =
                                     [&](const std::string& error) {
                                       told = error;
                                       goes_on = false;
                                     },
                                 .patience = std::chrono::milliseconds(1)});
  CHECK(engine->run().outcome == Outcome::kError);
  CHECK(told.starts_with("test_direct.cpp:"));
  CHECK(
      told.ends_with("rank 1: the kernel goes on without any op after its write here, and the run "
                     "is over; expected one that ends"));
}

TEST_CASE("direct: windows are zero at the start of each run") {
  std::atomic<std::int32_t> dirty{0};
  FunctionProgram program = program_of([&](Data data, Data signal, std::int32_t me, std::int32_t) {
    if (pl::read(data, {me, 3}).value() != 0) ++dirty;
    pl::store(row_of(7), {me, 0}, data);
    pld::system::notify(signal, me, {0, 0}, 1, NotifyOp::AtomicAdd);
    pld::system::wait(signal, {0, 0}, 1, WaitCmp::Eq);
  });
  const auto engine = engine_of(program, 3);
  for (int run = 0; run < 3; ++run) CHECK(engine->run().outcome == Outcome::kOk);
  CHECK(dirty == 0);
}

TEST_CASE("direct: every comparison of a wait, and the last value of several Sets") {
  std::atomic<std::int32_t> passed{0};
  FunctionProgram program = program_of([&](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 0) {
      pld::system::notify(signal, 1, {0, 0}, 5, NotifyOp::Set);
      pld::system::wait(signal, {0, 1}, 0, WaitCmp::Ne);
      pld::system::notify(signal, 1, {0, 0}, -2, NotifyOp::Set);
      return;
    }
    pld::system::wait(signal, {0, 0}, 5, WaitCmp::Eq);
    pld::system::wait(signal, {0, 0}, 4, WaitCmp::Gt);
    pld::system::wait(signal, {0, 0}, 6, WaitCmp::Lt);
    pld::system::wait(signal, {0, 0}, 5, WaitCmp::Le);
    pld::system::wait(signal, {0, 0}, 5, WaitCmp::Ge);
    pld::system::notify(signal, 0, {0, 1}, 1, NotifyOp::AtomicAdd);
    pld::system::wait(signal, {0, 0}, 0, WaitCmp::Lt);
    while (!pld::system::test(signal, {0, 0}, -2, WaitCmp::Eq)) {
    }
    ++passed;
  });
  const auto engine = engine_of(program, 2);
  CHECK(engine->run().outcome == Outcome::kOk);
  CHECK(passed == 1);
}

TEST_CASE("direct: put and get between overlapping regions of own slice read before they write") {
  std::vector<std::int32_t> seen(2 * kCols);
  FunctionProgram program = program_of([&](Data data, Data, std::int32_t me, std::int32_t) {
    if (me != 0) return;
    for (std::int32_t i = 0; i < kCols; ++i) {
      pl::store(pl::full<std::int32_t>({1, 1}, i + 1), {0, i}, data);
    }
    const auto moved = [&](std::int64_t to, std::int64_t from) {
      return pld::TransferOptions{.dst_offsets = pl::Offsets{0, to},
                                  .src_offsets = pl::Offsets{0, from},
                                  .shape = pl::Shape{1, kCols - 1}};
    };
    pld::tensor::put(data, 0, data, pld::AtomicType::None_, moved(1, 0));
    for (std::int32_t i = 0; i < kCols; ++i) {
      seen[static_cast<std::size_t>(i)] = pl::read(data, {0, i}).value();
    }
    pld::tensor::get(data, 0, data, moved(0, 1));
    for (std::int32_t i = 0; i < kCols; ++i) {
      seen[static_cast<std::size_t>(kCols + i)] = pl::read(data, {0, i}).value();
    }
  });
  const auto engine = engine_of(program, 2);
  REQUIRE(engine->run().outcome == Outcome::kOk);
  CHECK(seen[0] == 1);
  for (std::size_t i = 1; i < kCols; ++i) CHECK(seen[i] == static_cast<std::int32_t>(i));
  for (std::size_t i = 0; i + 1 < kCols; ++i)
    CHECK(seen[kCols + i] == static_cast<std::int32_t>(i + 1));
}

TEST_CASE("direct: a get into private memory, of a part of a window") {
  std::int32_t got[4] = {};
  FunctionProgram program = program_of([&](Data data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 0) pl::store(row_of(7), {0, 0}, data);
    pld::tensor::barrier(Data(signal).view(0, 0, 2, 1));
    const pl::Out<pl::Tensor<std::int32_t>> out(got + 1, 1, 2);
    if (me == 1) pld::tensor::get(out, 0, pl::slice(data, {0, 3}, {1, 2}));
  });
  REQUIRE(engine_of(program, 2)->run().outcome == Outcome::kOk);
  CHECK((got[0] == 0 && got[1] == 7 && got[2] == 7 && got[3] == 0));
}

TEST_CASE("direct: a deadlock is seen at once, with what each rank waits for and what was sent") {
  FunctionProgram program = program_of([&](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 2) return;
    if (me == 0) {
      pld::system::notify(signal, 1, {0, 1}, 3, NotifyOp::AtomicAdd);
      pld::system::notify(signal, 1, {0, 1}, 3, NotifyOp::AtomicAdd);
    }
    pld::system::wait(signal, {me, 2}, 4, WaitCmp::Ge);
  });
  const auto engine = engine_of(program, 3, {.time_limit = {}});
  for (int run = 0; run < 200; ++run) {
    const DirectResult result = engine->run();
    REQUIRE(result.outcome == Outcome::kDeadlock);
    REQUIRE(result.stuck.size() == 2);
    CHECK(result.stuck[1].rank == 1);
    CHECK(result.stuck[1].op == OpKind::kWait);
    CHECK(result.stuck[1].window == "signal");
    CHECK(result.stuck[1].cell == kCols + 2);
    CHECK(result.stuck[1].expected == 4);
    CHECK(result.stuck[1].actual == 0);
    CHECK(result.stuck[1].cmp == WaitCmp::Ge);
    CHECK_FALSE(result.stuck[1].count_lost);
    REQUIRE(result.signals.size() == 2);
    CHECK(result.signals[0].to == 1);
    CHECK(result.signals[0].cell == 1);
    CHECK(result.has_all_signals);
  }
}

TEST_CASE("direct: a Set over a count is told") {
  FunctionProgram program = program_of([&](Data, Data signal, std::int32_t me, std::int32_t) {
    pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
    pld::tensor::barrier(Data(signal).view(0, 1, 2, 1));
    if (me == 1) pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::Set);
    if (me == 0) pld::system::wait(signal, {0, 0}, 3, WaitCmp::Ge);
  });
  const auto engine = engine_of(program, 2);
  const DirectResult result = engine->run();
  REQUIRE(result.outcome == Outcome::kDeadlock);
  REQUIRE(result.stuck.size() == 1);
  CHECK(result.stuck[0].count_lost);
}

#ifndef __SANITIZE_THREAD__  // it is a race, and would be told
TEST_CASE("direct: data written over a cell end a wait too") {
  FunctionProgram program = program_of([&](Data, Data signal, std::int32_t me, std::int32_t) {
    // The notify comes first, so that rank 0 may block in its wait before the cell is overwritten.
    if (me == 0) {
      pld::system::notify(signal, 1, {0, 0}, 1, NotifyOp::AtomicAdd);
      pld::system::wait(signal, {0, 2}, 7, WaitCmp::Eq);
      return;
    }
    pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    pld::tile::remote_store(row_of(7), signal, 0, {0, 0});
  });
  const auto engine = engine_of(program, 2);
  for (int run = 0; run < 20; ++run) CHECK(engine->run().outcome == Outcome::kOk);
}
#endif

TEST_CASE("direct: a polling loop ends at the time limit, with what it polls") {
  FunctionProgram program = program_of([&](Data data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 0) {
      while (!pld::system::test(signal, {0, 3}, 2, WaitCmp::Eq)) {
      }
    }
    if (me == 1) {
      while (pl::read(data, {0, 0}).value() == 0) {
      }
    }
    pld::system::wait(signal, {0, 4}, 1, WaitCmp::Eq);
  });
  const auto engine = engine_of(program, 3, {.time_limit = std::chrono::milliseconds(5)});
  const DirectResult result = engine->run();
  REQUIRE(result.outcome == Outcome::kTimeLimit);
  REQUIRE(result.stuck.size() == 3);
  CHECK(result.stuck[0].op == OpKind::kTest);
  CHECK(result.stuck[0].on_cell);
  CHECK(result.stuck[0].cell == 3);
  CHECK(result.stuck[1].op == OpKind::kRead);
  CHECK_FALSE(result.stuck[1].on_cell);
  CHECK(result.stuck[2].op == OpKind::kWait);
}

TEST_CASE("direct: a kernel that throws ends the others, and the engine goes on") {
  std::atomic<int> mode{0};
  std::atomic<int> unwound{0};
  struct Unwound {
    std::atomic<int>& count;
    ~Unwound() { ++count; }
  };
  FunctionProgram program =
      program_of([&](Data data, Data signal, std::int32_t me, std::int32_t n) {
        const Unwound guard{unwound};
        if (me == n - 1) {
          if (mode == 1) throw std::runtime_error("no more");
          if (mode == 2) throw 5;
          if (mode == 3) pl::load(data, {0, 0}, {1, kCols + 1});
        }
        if (mode == 4) {  // swallows whatever ends it
          try {
            pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
          } catch (...) {
            throw std::runtime_error("swallowed");
          }
        }
        if (mode != 0) pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
      });
  for (const std::int32_t ranks : {2, 9}) {
    const auto engine = engine_of(program, ranks);
    const std::string last = "rank " + std::to_string(ranks - 1) + ": ";
    const auto run = [&](int which) {
      mode = which;
      unwound = 0;
      DirectResult result = engine->run();
      CHECK(unwound == ranks);
      return result;
    };
    for (int again = 0; again < 3; ++again) {
      CHECK(run(0).outcome == Outcome::kOk);
      CHECK(run(1).error.ends_with(last + "the kernel threw after what it did here: no more"));
      CHECK(run(2).error.ends_with(last + "the kernel threw after what it did here"));
      const DirectResult misuse = run(3);
      CHECK(misuse.outcome == Outcome::kError);
      CHECK(misuse.error.find(last + "load: region of shape") != std::string::npos);
      CHECK(run(4).outcome == Outcome::kDeadlock);
    }
  }
}

TEST_CASE("direct: an interrupt ends ranks that poll, and ranks that wait") {
  std::atomic<bool> interrupt{false};
  FunctionProgram program = program_of([&](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me != 0) pld::system::wait(signal, {0, 0}, 1, WaitCmp::Eq);
    interrupt = true;
    while (!pld::system::test(signal, {0, 0}, 1, WaitCmp::Eq)) {
    }
  });
  const auto engine = engine_of(program, 3, {.time_limit = {}, .interrupt = &interrupt});
  CHECK(engine->run().outcome == Outcome::kInterrupted);
}

TEST_CASE("direct: bad orchestrations and wrong outputs") {
  FunctionProgram lazy([](pld::Host&) {});
  const DirectResult nobody = engine_of(lazy, 2)->run();
  CHECK(nobody.outcome == Outcome::kError);
  CHECK(nobody.error.find("0 dispatches for 2 ranks") != std::string::npos);
  FunctionProgram wrong =
      program_of([](Data, Data, std::int32_t, std::int32_t) {}, [] { return false; });
  const DirectResult mismatch = engine_of(wrong, 2)->run();
  CHECK(mismatch.outcome == Outcome::kMismatch);
  CHECK(mismatch.mismatches.size() == 1);
  CHECK_FALSE(DirectEngine::create(wrong, 0).ok());
}

// Threads add at the same time to elements next to each other; every sum is exact in every dtype.
TEST_CASE("direct: atomic adds lose nothing, in each dtype, and wrap") {
  for (const pl::DType dtype : pl::kAllDTypes) {
    pl::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      constexpr int kThreads = 4;
      constexpr std::size_t kElements = 5;
      // Of floats, a bf16 still tells 128 from 129.
      const int adds = pl::FloatingElement<T> ? 32 : 20'000;
      alignas(8) T sums[kElements] = {};
      T ones[kElements];
      for (T& one : ones) one = static_cast<T>(1.0F);
      std::atomic<int> ready{0};
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&] {
          for (++ready; ready < kThreads;) {
          }
          for (int i = 0; i < adds; ++i) {
            atomic_add(reinterpret_cast<std::byte*>(sums), reinterpret_cast<const std::byte*>(ones),
                       sizeof(sums), dtype);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      T expected{};
      for (int i = 0; i < kThreads * adds; ++i) {
        expected = pl::arithmetic::add(expected, static_cast<T>(1.0F));
      }
      for (const T& sum : sums) CHECK(std::memcmp(&sum, &expected, sizeof(T)) == 0);
    });
  }
}

TEST_CASE(
    "direct: one atomic add gives the bits of arithmetic::add, also of NaN, -0 and overflow") {
  for (const pl::DType dtype : pl::kAllDTypes) {
    pl::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      std::vector<T> values = {static_cast<T>(0.0F), static_cast<T>(1.0F), static_cast<T>(-3.0F),
                               std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
      if constexpr (pl::FloatingElement<T>) {
        values.push_back(static_cast<T>(-0.0F));
        values.push_back(std::numeric_limits<T>::infinity());
        values.push_back(std::numeric_limits<T>::quiet_NaN());
        values.push_back(static_cast<T>(0.1F));
      }
      for (const T& a : values) {
        for (const T& b : values) {
          alignas(8) T sum = a;
          atomic_add(reinterpret_cast<std::byte*>(&sum), reinterpret_cast<const std::byte*>(&b),
                     sizeof(T), dtype);
          const T expected = pl::arithmetic::add(a, b);
          CHECK(std::memcmp(&sum, &expected, sizeof(T)) == 0);
        }
      }
    });
  }
}

TEST_CASE("direct: ranks add to one region at the same time") {
  std::vector<std::int32_t> sums(kCols);
  FunctionProgram program =
      program_of([&](Data data, Data signal, std::int32_t me, std::int32_t n) {
        for (int i = 0; i < 500; ++i) {
          pld::tile::remote_store(row_of(1), data, 0, {0, 0}, pld::AtomicType::Add);
          if (me == 0) pl::store(row_of(1), {0, 0}, data, pld::AtomicType::Add);
        }
        pl::store(row_of(1), {n - 1, 0}, data);
        pld::tensor::barrier(signal);
        pld::tensor::put(data.view(0, 0, 1, kCols), 0, data.view(n - 1, 0, 1, kCols),
                         pld::AtomicType::Add);
        pld::tensor::barrier(signal);
        if (me != 0) return;
        for (std::int32_t i = 0; i < kCols; ++i) {
          sums[static_cast<std::size_t>(i)] = pl::read(data, {0, i}).value();
        }
      });
  const auto engine = engine_of(program, 4);
  REQUIRE(engine->run().outcome == Outcome::kOk);
  for (const std::int32_t sum : sums) CHECK(sum == 500 * 5 + 4);
}

TEST_CASE("direct: 64 ranks all-reduce 64 KiB") {
  constexpr std::int64_t kElements = 16 * 1024;
  constexpr std::int32_t kRanks = 64;
  std::vector<float> first(kRanks);
  FunctionProgram program([&](pld::Host& host) {
    const auto data_buffer = host.alloc_window_buffer({1, kElements}, pl::DType::FP32, "data");
    const auto signal_buffer = host.alloc_window_buffer({kRanks, 1}, pl::DType::INT32, "signal");
    const auto data = host.window<float>(data_buffer, {1, kElements});
    const auto signal = host.window<std::int32_t>(signal_buffer, {kRanks, 1});
    for (std::int32_t r = 0; r < kRanks; ++r) {
      host.dispatch(pld::device(r), [&, r, data, signal] {
        pl::store(pl::full<float>({1, kElements}, 1.0F), {0, 0}, data);
        pld::tensor::barrier(signal);
        auto sum = pl::load(data, {0, 0}, {1, kElements});
        for (std::int32_t k = 1; k < kRanks; ++k) {
          sum =
              pl::add(sum, pld::tile::remote_load(data, (r + k) % kRanks, {0, 0}, {1, kElements}));
        }
        pld::tensor::barrier(signal);
        pl::store(sum, {0, 0}, data);
        first[static_cast<std::size_t>(r)] = pl::read(data, {0, kElements - 1}).value();
      });
    }
  });
  const auto engine = engine_of(program, kRanks);
  for (int run = 0; run < 3; ++run) REQUIRE(engine->run().outcome == Outcome::kOk);
  for (const float sum : first) CHECK(sum == 64.0F);
}

TEST_CASE("signal record: distinct signals in order, counted, emptied by a new run, and bounded") {
  SignalRecord record;
  const Window window{0, 1 << 20, 0, "signal"};
  const auto here = std::source_location::current();
  record.begin();
  for (int again = 0; again < 3; ++again) {
    for (std::int32_t target = 0; target < 100; ++target) {
      record.sent(target, {&window, 64}, NotifyOp::AtomicAdd, here);
    }
  }
  record.sent(7, {&window, 64}, NotifyOp::Set, here);
  auto entries = record.entries();
  REQUIRE(entries.size() == 101);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(entries[i].target == static_cast<std::int32_t>(i));
    CHECK(entries[i].count == 3);
    CHECK(entries[i].op == NotifyOp::AtomicAdd);
  }
  CHECK(entries[100].op == NotifyOp::Set);
  CHECK(record.is_complete());
  record.begin();
  CHECK(record.entries().empty());
  for (std::uint64_t cell = 0; cell < 20'000; ++cell) {
    record.sent(0, {&window, 4 * cell}, NotifyOp::AtomicAdd, here);
  }
  entries = record.entries();
  CHECK_FALSE(record.is_complete());
  REQUIRE(entries.size() == 4096);
  for (std::size_t i = 0; i < entries.size(); ++i) CHECK(entries[i].offset == 4 * i);
}

}  // namespace
}  // namespace symrace
