// The ranks of cards, on the strict double of their runtime: what moves, what orders, how a run
// ends, and that everything is given back.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/acl_engine.h"
#include "core/function_program.h"
#include "core/pl.h"
#include "core/pld.h"
#include "tests/acl_double/acl_double.h"

namespace symrace {
namespace {

using Outcome = DirectResult::Outcome;
using pld::AtomicType;
using pld::NotifyOp;
using pld::WaitCmp;
using Data = pld::DistributedTensor<std::int32_t>;

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kCols = 16;

// The double with settings of its own, which must have nothing to complain of in the end.
class Cards {
 public:
  explicit Cards(const std::string& settings = "") {
    setenv("SYMRACE_ACL_LIBRARY", SYMRACE_ACL_DOUBLE, 1);
    acl_double_reset(settings.c_str());
  }
  ~Cards() {
    for (std::size_t i = 0; i < acl_double_violations(); ++i) FAIL_CHECK(acl_double_violation(i));
  }
  Cards(const Cards&) = delete;
  Cards& operator=(const Cards&) = delete;
};

std::unique_ptr<AclEngine> engine_of(Program& program, std::vector<std::int32_t> devices,
                                     DirectOptions options = {}) {
  options.devices = std::move(devices);
  auto engine = AclEngine::create(program, std::move(options));
  REQUIRE_MESSAGE(engine.ok(), engine.status().ToString());
  return *std::move(engine);
}

// `kernel(data, signal, rank, ranks)` on every rank.
template <pl::Element T>
using Kernel =
    std::function<void(pld::DistributedTensor<T>, Data, std::int32_t rank, std::int32_t ranks)>;
template <pl::Element T = std::int32_t>
FunctionProgram program_of(std::type_identity_t<Kernel<T>> kernel,
                           pl::Shape shape = {kRows, kCols}) {
  return FunctionProgram([kernel = std::move(kernel), shape](pld::Host& host) {
    const auto data = host.alloc_window_buffer(shape, pl::dtype_of<T>(), "data");
    const auto signal = host.alloc_window_buffer({8, 8}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < host.world_size(); ++r) {
      host.dispatch(
          pld::device(r),
          [&kernel](pld::DistributedTensor<T> d, Data s) {
            const auto ctx = pld::get_comm_ctx(d);
            kernel(d, s, ctx.rank, ctx.nranks);
          },
          host.window<T>(data, shape), host.window<std::int32_t>(signal, {8, 8}));
    }
  });
}

void check_ok(Program& program, std::vector<std::int32_t> devices, int seeds = 10) {
  for (int seed = 0; seed < seeds; ++seed) {
    const Cards cards("ACL_DOUBLE_SEED=" + std::to_string(seed));
    const auto engine = engine_of(program, devices);
    for (int run = 0; run < 2; ++run) {
      const DirectResult result = engine->run();
      CHECK_MESSAGE(result.outcome == Outcome::kOk, result.error);
    }
    CHECK(engine->close().ok());
  }
}

// A tile whose element (r, c) is first + 100 * r + c.
pl::Tile<std::int32_t> numbered(std::int32_t first, std::int64_t rows, std::int64_t cols,
                                std::vector<std::int32_t>& memory) {
  memory.resize(static_cast<std::size_t>(rows * cols));
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    memory[static_cast<std::size_t>(i)] =
        first + static_cast<std::int32_t>(100 * (i / cols) + i % cols);
  }
  return pl::load(pl::Tensor<std::int32_t>(memory.data(), rows, cols), {0, 0}, {rows, cols});
}

TEST_CASE("acl: regions that are not contiguous move as they are, every way") {
  std::atomic<std::int32_t> wrong{0};
  auto program = program_of<>([&](Data data, Data signal, std::int32_t me, std::int32_t n) {
    const std::int32_t next = (me + 1) % n;
    std::vector<std::int32_t> memory;
    // 2 x 5 at [1, 3] of my slice, by a store; the same at [3, 3] of the next one's, by a put of
    // it; at [1, 9] of the next one's, by a remote store.
    const auto tile = numbered(1000 * (me + 1), 2, 5, memory);
    pl::store(tile, {1, 3}, data);
    pld::tensor::put(data, next, data, AtomicType::None_,
                     {.dst_offsets = pl::Offsets{3, 3},
                      .src_offsets = pl::Offsets{1, 3},
                      .shape = pl::Shape{2, 5}});
    pld::tile::remote_store(tile, data, next, {1, 9});
    pld::tensor::barrier(signal);

    const std::int32_t mine = 1000 * (me + 1);
    const std::int32_t left = 1000 * ((me + n - 1) % n + 1);
    const auto check = [&](const pl::Tile<std::int32_t>& all) {
      const Site site{OpKind::kUse, std::source_location::current()};
      for (std::int64_t r = 0; r < kRows; ++r) {
        for (std::int64_t c = 0; c < kCols; ++c) {
          std::int32_t expected = 0;
          const auto in = [&](std::int64_t row, std::int64_t col) {
            return r >= row && r < row + 2 && c >= col && c < col + 5;
          };
          const auto value = [&](std::int32_t first, std::int64_t row, std::int64_t col) {
            return first + static_cast<std::int32_t>(100 * (r - row) + c - col);
          };
          if (in(1, 3)) expected = value(mine, 1, 3);
          if (in(3, 3)) expected = value(left, 3, 3);
          if (in(1, 9)) expected = value(left, 1, 9);
          if (all.data(site)[r * kCols + c] != expected) ++wrong;
        }
      }
    };
    check(pl::load(data, {0, 0}, {kRows, kCols}));

    // By a get of the next one's slice: into private memory with longer rows.
    std::vector<std::int32_t> pulled(static_cast<std::size_t>(kRows * (kCols + 3)), -1);
    const pl::Out<pl::Tensor<std::int32_t>> out(pulled.data(), 2, 5, kCols + 3);
    pld::tensor::get(out, next, data,
                     {.dst_offsets = pl::Offsets{0, 0},
                      .src_offsets = pl::Offsets{1, 3},
                      .shape = pl::Shape{2, 5}});
    for (std::int64_t r = 0; r < 2; ++r) {
      for (std::int64_t c = 0; c < kCols + 3; ++c) {
        const std::int32_t expected =
            c < 5 ? 1000 * (next + 1) + static_cast<std::int32_t>(100 * r + c) : -1;
        if (pulled[static_cast<std::size_t>(r * (kCols + 3) + c)] != expected) ++wrong;
      }
    }
    // A remote load of it.
    const auto loaded = pld::tile::remote_load(data, next, {2, 4}, {1, 3});
    const Site site{OpKind::kUse, std::source_location::current()};
    for (std::int32_t c = 0; c < 3; ++c) {
      if (loaded.data(site)[c] != 1000 * (next + 1) + 101 + c) ++wrong;
    }
    pld::tensor::barrier(signal);
  });
  check_ok(program, {0, 1, 2});
  CHECK(wrong == 0);
}

TEST_CASE("acl: regions of one slice that overlap, and regions of nothing") {
  std::atomic<std::int32_t> wrong{0};
  auto program = program_of<>([&](Data data, Data, std::int32_t me, std::int32_t) {
    const auto to = [](std::int64_t row, std::int64_t col) {
      return pld::TransferOptions{.dst_offsets = pl::Offsets{row, col},
                                  .src_offsets = pl::Offsets{0, 0},
                                  .shape = pl::Shape{1, 8}};
    };
    std::vector<std::int32_t> memory;
    pl::store(numbered(5, 1, 8, memory), {0, 0}, data);
    pld::tensor::put(data, me, data, AtomicType::None_, to(0, 2));
    pld::tensor::get(data, me, data, to(0, 1));
    pl::store(pl::full<std::int32_t>({0, 4}, 1), {2, 2}, data);
    pld::tile::remote_store(pl::full<std::int32_t>({3, 0}, 1), data, 0, {2, 2});
    pld::tensor::put(data, 0, data, AtomicType::Add,
                     {.dst_offsets = pl::Offsets{1, 1},
                      .src_offsets = pl::Offsets{2, 2},
                      .shape = pl::Shape{0, 0}});
    // 5..12, then moved on by two: 5 6 5 6 7 8 9 10 11 12; then its first 8 moved on by one.
    constexpr std::int32_t kExpected[] = {5, 5, 6, 5, 6, 7, 8, 9, 10, 12, 0};
    const auto row = pl::load(data, {0, 0}, {1, 11});
    const Site site{OpKind::kUse, std::source_location::current()};
    for (std::size_t i = 0; i < 11; ++i) wrong += row.data(site)[i] != kExpected[i] ? 1 : 0;
  });
  check_ok(program, {3, 1}, 5);
  CHECK(wrong == 0);
}

TEST_CASE("acl: private memory may change as soon as its put has been issued, however long it is") {
  // Longer than what is staged at a time, and no multiple of it.
  constexpr std::int64_t kLong = (3 << 20) / 4 + 7;
  std::atomic<std::int64_t> wrong{0};
  auto program = program_of<>(
      [&](Data data, Data signal, std::int32_t me, std::int32_t n) {
        std::vector<std::int32_t> memory(kLong);
        std::iota(memory.begin(), memory.end(), me);
        const pld::TransferOptions chunks{.chunk_rows = 1, .chunk_cols = 1024};
        pld::tensor::put(data, (me + 1) % n, pl::Tensor<std::int32_t>(memory.data(), 1, kLong),
                         AtomicType::None_, chunks);
        memory.assign(memory.size(), -1);
        pld::tensor::barrier(signal);
        pld::tensor::get(pl::Out<pl::Tensor<std::int32_t>>(memory.data(), 1, kLong), (me + 1) % n,
                         data, chunks);
        for (std::int64_t i = 0; i < kLong; ++i) {
          wrong += memory[static_cast<std::size_t>(i)] != me + i ? 1 : 0;
        }
        pld::tensor::barrier(signal);
      },
      {1, kLong});
  check_ok(program, {0, 1}, 3);
  CHECK(wrong == 0);
}

template <pl::Element T>
void check_atomic_add() {
  constexpr int kTimes = 4;
  std::atomic<std::int32_t> wrong{0};
  auto program = program_of<T>(
      [&](pld::DistributedTensor<T> data, Data signal, std::int32_t me, std::int32_t n) {
        const auto tile = pl::full<T>({1, 5}, me + 1);
        pl::store(pl::full<T>({1, 5}, me + 1), {1, 2}, data);
        pld::tensor::barrier(signal);
        for (int i = 0; i < kTimes; ++i) {
          pld::tile::remote_store(tile, data, i % n, {0, 3}, AtomicType::Add);
          pl::store(tile, {0, 3}, data, AtomicType::Add);
          pld::tensor::put(data, (me + i) % n, data, AtomicType::Add,
                           {.dst_offsets = pl::Offsets{0, 3},
                            .src_offsets = pl::Offsets{1, 2},
                            .shape = pl::Shape{1, 5}});
        }
        pld::tensor::barrier(signal);
        // Of remote stores, each of four ranks adds its number once to each slice; own stores, mine
        // four times; of puts, each rank's once.
        const auto row = pl::load(data, {0, 2}, {1, 7});
        const Site site{OpKind::kUse, std::source_location::current()};
        for (int i = 0; i < 7; ++i) {
          const int expected = i == 0 || i == 6 ? 0 : 2 * (1 + 2 + 3 + 4) + kTimes * (me + 1);
          if (static_cast<float>(row.data(site)[i]) != static_cast<float>(expected)) ++wrong;
        }
        pld::tensor::barrier(signal);
      });
  check_ok(program, {0, 1, 2, 3}, 4);
  CHECK_MESSAGE(wrong == 0, pl::dtype_name(pl::dtype_of<T>()));
}

TEST_CASE("acl: atomic adds lose nothing, in every element type") {
  check_atomic_add<float>();
  check_atomic_add<pl::fp16>();
  check_atomic_add<pl::bf16>();
  check_atomic_add<std::int32_t>();
  check_atomic_add<std::int16_t>();
  check_atomic_add<std::int8_t>();
}

TEST_CASE("acl: a wait sees what came before the notify, run after run, on any devices") {
  std::vector<std::int32_t> seen;
  auto program = program_of<>([&](Data data, Data signal, std::int32_t me, std::int32_t n) {
    const std::int32_t next = (me + 1) % n;
    std::int32_t token = me;
    for (std::int32_t round = 1; round <= 6; ++round) {
      pld::tile::remote_store(pl::full<std::int32_t>({1, kCols}, token), data, next,
                              {round % kRows, 0});
      pld::system::notify(signal, next, {0, 0}, 1, NotifyOp::AtomicAdd);
      pld::system::wait(signal, {0, 0}, round, WaitCmp::Ge);
      token = pl::read(data, {round % kRows, kCols - 1}).value();
    }
    seen[static_cast<std::size_t>(me)] = token;
  });
  for (const std::vector<std::int32_t>& devices :
       {std::vector<std::int32_t>{5}, {6, 2}, {7, 0, 3}}) {
    const auto n = static_cast<std::int32_t>(devices.size());
    for (int seed = 0; seed < 8; ++seed) {
      const Cards cards("ACL_DOUBLE_SEED=" + std::to_string(seed));
      const auto engine = engine_of(program, devices);
      for (int run = 0; run < 2; ++run) {
        seen.assign(devices.size(), -1);
        REQUIRE(engine->run().outcome == Outcome::kOk);
        for (std::int32_t r = 0; r < n; ++r) {
          CHECK(seen[static_cast<std::size_t>(r)] == ((r - 6) % n + n) % n);
        }
      }
    }
  }
}

TEST_CASE("acl: Set replaces, add_to_own_cell subtracts, test does not block") {
  std::atomic<std::int32_t> passed{0};
  auto program = program_of<>([&](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 0) {
      pld::system::notify(signal, 1, {0, 0}, 5, NotifyOp::Set);
      pld::system::wait(signal, {0, 1}, 0, WaitCmp::Ne);
      pld::system::notify(signal, 1, {0, 0}, -2, NotifyOp::Set);
      return;
    }
    pld::system::wait(signal, {0, 0}, 5, WaitCmp::Eq);
    if (pld::system::test(signal, {0, 0}, 6, WaitCmp::Ge)) return;
    pld::system::notify(signal, 0, {0, 1}, 1, NotifyOp::AtomicAdd);
    while (!pld::system::test(signal, {0, 0}, -2, WaitCmp::Eq)) {
    }
    pld::system::fence();
    ++passed;
  });
  check_ok(program, {0, 1}, 10);
  CHECK(passed == 20);
}

TEST_CASE("acl: a deadlock tells what each rank waits for, and what was signalled") {
  auto program = program_of<>([](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 2) return;
    if (me == 1) pld::system::notify(signal, 0, {0, 0}, 3, NotifyOp::AtomicAdd);
    pld::system::wait(signal, {me, 0}, 4, WaitCmp::Ge);
  });
  for (int seed = 0; seed < 8; ++seed) {
    const Cards cards("ACL_DOUBLE_SEED=" + std::to_string(seed));
    const auto engine = engine_of(program, {0, 1, 2}, {.time_limit = {}});
    const DirectResult result = engine->run();
    REQUIRE(result.outcome == Outcome::kDeadlock);
    REQUIRE(result.stuck.size() == 2);
    CHECK(result.stuck[0].cell == 0);
    CHECK(result.stuck[0].actual == 3);
    CHECK(result.stuck[1].cell == 8);
    CHECK(result.stuck[1].actual == 0);
    CHECK(result.stuck[1].expected == 4);
    REQUIRE(result.signals.size() == 1);
    CHECK(result.signals[0].from == 1);
    CHECK(result.signals[0].to == 0);
  }
}

TEST_CASE("acl: a polling loop ends at the time limit, with what it polls") {
  const Cards cards;
  auto program = program_of<>([](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 0) {
      while (!pld::system::test(signal, {0, 3}, 2, WaitCmp::Eq)) {
      }
    }
    pld::system::wait(signal, {0, 4}, 1, WaitCmp::Eq);
  });
  const auto engine = engine_of(program, {0, 1}, {.time_limit = std::chrono::milliseconds(20)});
  const DirectResult result = engine->run();
  REQUIRE(result.outcome == Outcome::kTimeLimit);
  REQUIRE(result.stuck.size() == 2);
  CHECK(result.stuck[0].op == OpKind::kTest);
  CHECK(result.stuck[0].cell == 3);
  CHECK(result.stuck[1].op == OpKind::kWait);
  CHECK(engine->run().outcome == Outcome::kTimeLimit);
}

TEST_CASE("acl: an interrupt ends ranks that wait") {
  const Cards cards;
  const std::atomic<bool> interrupt{true};
  auto program = program_of<>([](Data, Data signal, std::int32_t, std::int32_t) {
    while (!pld::system::test(signal, {0, 0}, 1, WaitCmp::Ge)) {
    }
  });
  const auto engine = engine_of(program, {0, 1}, {.time_limit = {}, .interrupt = &interrupt});
  CHECK(engine->run().outcome == Outcome::kInterrupted);
}

TEST_CASE("acl: a call that fails under a kernel names itself, its rank and its place") {
  auto program = program_of<>([](Data data, Data signal, std::int32_t me, std::int32_t n) {
    pld::tile::remote_store(pl::full<std::int32_t>({1, kCols}, 1), data, (me + 1) % n, {0, 0});
    pld::tensor::barrier(signal);
  });
  const Cards cards("ACL_DOUBLE_FAIL=aclrtReduceAsync:1:507011");
  const auto engine = engine_of(program, {4, 5});
  const DirectResult result = engine->run();
  REQUIRE(result.outcome == Outcome::kError);
  INFO(result.error);
  CHECK(result.error.find("test_acl.cpp:") == 0);
  CHECK(result.error.find(": barrier: aclrtReduceAsync(to 0x") != std::string::npos);
  CHECK(result.error.find(", 4 bytes, kind 10, type 3) failed with 507011: ") != std::string::npos);
  CHECK(result.error.find('\n') == std::string::npos);
  CHECK(engine->close().ok());
  CHECK(engine->close().ok());
}

TEST_CASE("acl: a kernel's own error ends the others, and another run succeeds") {
  const Cards cards;
  bool fails = true;
  auto program = program_of<>([&](Data, Data signal, std::int32_t me, std::int32_t) {
    if (me == 1 && fails) throw std::runtime_error("enough");
    if (fails) pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
  });
  const auto engine = engine_of(program, {0, 1, 2});
  const DirectResult result = engine->run();
  CHECK(result.outcome == Outcome::kError);
  CHECK(result.error.ends_with(": rank 1: the kernel threw after what it did here: enough"));
  fails = false;
  CHECK(engine->run().outcome == Outcome::kOk);
}

TEST_CASE("acl: devices that are not there, that cannot reach one another, or have no memory") {
  auto program = program_of<>([](Data, Data, std::int32_t, std::int32_t) {});
  const auto error_of = [&](std::vector<std::int32_t> devices) {
    DirectOptions options;
    options.devices = std::move(devices);
    auto engine = AclEngine::create(program, options);
    if (!engine.ok()) return std::string(engine.status().message());
    return (*engine)->run().error;
  };
  {
    const Cards cards("ACL_DOUBLE_DEVICES=2");
    CHECK(error_of({1, 2}) ==
          "-d: device 2 does not exist; the ACL runtime has 2 devices, from 0 to 1");
  }
  {
    const Cards cards("ACL_DOUBLE_NO_PEER=2-5");
    CHECK(error_of({1, 5, 2}) ==
          "rank 1 on device 5: device 5 cannot access device 2; expected devices with access to "
          "one another, as 'a2a3sim devices' tells");
  }
  {
    const Cards cards("ACL_DOUBLE_MEMORY=266240");  // 4 KiB beside what is staged in
    CHECK(error_of({0, 1}).find("rank 0 on device 0: aclrtMalloc(8192 bytes) failed with 207001: "
                                "aclrtMalloc: 8192 bytes on device 0") == 0);
  }
}

TEST_CASE("acl: a heap's windows are zero, and have one offset in every slice") {
  const Cards cards;
  auto acl = AclRuntime::load();
  REQUIRE(acl.ok());
  REQUIRE((*acl)->set_device(0).ok());
  AclHeap heap(**acl, 1);
  CHECK(*heap.allocate(1) == 0);
  CHECK(*heap.allocate(5000) == 4096);
  CHECK(heap.used_bytes() == 12288);
  for (int time = 0; time < 2; ++time) {
    REQUIRE(heap.take_slice(0).ok());
    std::vector<std::int32_t> all(12288 / 4, -1);
    heap.copy_out(0, 0, std::span(all));
    CHECK(all == std::vector<std::int32_t>(12288 / 4, 0));
    all.assign(all.size(), 7);
    heap.copy_in(0, 0, std::span<const std::int32_t>(all));
  }
  REQUIRE(heap.allocate(1).ok());
  REQUIRE(heap.take_slice(0).ok());
  std::vector<std::int32_t> cell(1, -1);
  heap.copy_out(0, 12288, std::span(cell));
  CHECK(cell[0] == 0);
  CHECK_THROWS_AS(heap.copy_out(0, 1ULL << 40, std::span(cell)), std::runtime_error);
  CHECK(acl_double_violations() == 1);  // that one
  REQUIRE(heap.free_slice(0).ok());
  REQUIRE((*acl)->reset_device(0).ok());
  CHECK((*acl)->finalize().ok());
  acl_double_reset("");
}

TEST_CASE("acl: a runtime that is missing, or is none") {
  setenv("SYMRACE_ACL_LIBRARY", "/nowhere/libascendcl.so", 1);
  const auto missing = AclRuntime::load();
  CHECK(std::string(missing.status().message()).find("the ACL runtime cannot be loaded: ") == 0);
  setenv("SYMRACE_ACL_LIBRARY", "libm.so.6", 1);
  const auto other = AclRuntime::load();
  CHECK(std::string(other.status().message()) ==
        "the ACL runtime libm.so.6 has no aclInit; expected a newer CANN");
}

}  // namespace
}  // namespace symrace
