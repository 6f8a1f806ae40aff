// Stuck runs, failing kernels, bad orchestration, and that nothing of a schedule survives it.
#include <atomic>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "core/function_program.h"
#include "core/rng.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

using pld::NotifyOp;
using pld::WaitCmp;

RunResult run_once(symrace::Program& program, std::int32_t ranks, const Options& options = {},
                   std::uint64_t seed = 0) {
  const auto explorer = make_explorer(program, ranks, options);
  const auto strategy = make_random_strategy();
  return explorer->run(*strategy, seed);
}

TEST_CASE("the generators give their published sequences") {
  // SplitMix64 from seed 0 (Vigna's reference implementation).
  symrace::SplitMix64 split(0);
  CHECK(split.next() == 0xe220a8397b1dcdaf);
  CHECK(split.next() == 0x6e789e6aa1b965f4);
  CHECK(split.next() == 0x06c45d188009454f);
  symrace::Xoshiro256 xoshiro(1);
  for (int i = 0; i < 10000; ++i) CHECK(xoshiro.below(7) < 7);
}

TEST_CASE("a deadlock names each stuck rank's cell, expected and actual value, and line") {
  unsigned line = 0;
  KernelProgram program([&](Data, Data signal) {
    if (my_rank() == 1) pld::system::notify(signal, 0, {1, 2}, 1, NotifyOp::AtomicAdd);
    if (my_rank() == 2) return;
    line = __LINE__ + 1;
    pld::system::wait(signal, {1, 2}, 2, WaitCmp::Ge);
  });
  for (const VehicleKind vehicle : {VehicleKind::kFiber, VehicleKind::kThread}) {
    const RunResult result = run_once(program, 3, {.vehicle = vehicle});
    REQUIRE(result.outcome == Outcome::kDeadlock);
    REQUIRE(result.stuck.size() == 2);
    CHECK(result.stuck[0].rank == 0);
    CHECK(result.stuck[0].op == symrace::OpKind::kWait);
    CHECK(result.stuck[0].window == "signal");
    CHECK(result.stuck[0].cell == 1 * kCols + 2);
    CHECK(result.stuck[0].expected == 2);
    CHECK(result.stuck[0].actual == 1);
    CHECK(result.stuck[0].where.line() == line);
    CHECK(result.stuck[1].rank == 1);
    CHECK(result.stuck[1].actual == 0);
  }
}

TEST_CASE("a polling loop ends at the step bound, with the cell it polled") {
  KernelProgram program([&](Data, Data signal) {
    while (!pld::system::test(signal, {3, 0}, 5, WaitCmp::Eq)) {
    }
  });
  const RunResult result = run_once(program, 2, {.max_steps = 1000});
  CHECK(result.outcome == Outcome::kStepBound);
  CHECK(result.decisions == 1000);
  REQUIRE(result.stuck.size() == 2);
  CHECK(result.stuck[0].cell == 3 * kCols);
  CHECK(result.stuck[0].expected == 5);
  CHECK(result.stuck[0].op == symrace::OpKind::kTest);
}

TEST_CASE("a kernel's own exception fails its rank, names it, and the next schedule is sound") {
  bool throws = true;
  KernelProgram program([&](Data data, Data signal) {
    pld::tensor::barrier(signal);
    if (throws && my_rank() == 1) throw std::runtime_error("out of cheese");
    pld::tensor::barrier(signal);
    pl::write(data, {0, 0}, 1);
  });
  for (const VehicleKind vehicle : {VehicleKind::kFiber, VehicleKind::kThread}) {
    const auto explorer = make_explorer(program, 3, {.vehicle = vehicle});
    const auto strategy = make_random_strategy();
    for (int i = 0; i < 3; ++i) {
      throws = true;
      const RunResult failed = explorer->run(*strategy, 5);
      CHECK(failed.outcome == Outcome::kError);
      CHECK(
          failed.error ==
          "test_execution.cpp:75: rank 1: the kernel threw after its barrier here: out of cheese");
      throws = false;
      CHECK(explorer->run(*strategy, 5).outcome == Outcome::kOk);
    }
  }
}

TEST_CASE(
    "an op's error names place, rank, op, window and range, and comes before anything moves") {
  KernelProgram program([&](Data data, Data) {
    if (my_rank() == 1) pl::load(data, {0, 6}, {1, 3});
  });
  const RunResult result = run_once(program, 2);
  CHECK(result.outcome == Outcome::kError);
  CHECK(result.error.find("test_execution.cpp:") == 0);
  CHECK(result.error.find("rank 1: load: region of shape [1, 3] at [0, 6] lies outside window "
                          "'data' of shape [8, 8]") != std::string::npos);
}

TEST_CASE("a rank may park inside a catch block while others throw and catch") {
  KernelProgram program([&](Data, Data signal) {
    const std::string mine = "rank " + std::to_string(my_rank());
    for (int round = 0; round < 3; ++round) {
      try {
        throw std::runtime_error(mine);
      } catch (const std::runtime_error& error) {
        pld::tensor::barrier(signal);
        CHECK(error.what() == mine);
        try {
          std::rethrow_exception(std::current_exception());
        } catch (const std::runtime_error& again) {
          pld::tensor::barrier(signal);
          CHECK(again.what() == mine);
        }
      }
    }
    CHECK(std::current_exception() == nullptr);
  });
  const auto explorer = make_explorer(program, 3);
  const auto strategy = make_random_strategy();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CHECK(explorer->run(*strategy, seed).outcome == Outcome::kOk);
  }
  CHECK(std::current_exception() == nullptr);
}

TEST_CASE("a rank that throws while others have not started") {
  KernelProgram program([&](Data, Data signal) {
    if (my_rank() == 0) throw std::runtime_error("early");
    pld::tensor::barrier(signal);
  });
  CHECK(run_once(program, 4).error == "rank 0: the kernel threw before its first op: early");
}

TEST_CASE("windows are zero again for every schedule, whatever the last one wrote") {
  KernelProgram program([&](Data data, Data signal) {
    const auto before = pl::load(data, {0, 0}, {7, kCols});  // a peer writes row 7
    for (int i = 0; i < 7 * kCols; ++i) CHECK(before.data({})[i] == 0);
    pl::store(pl::full<std::int32_t>({3, 5}, my_rank() + 1), {2, 1}, data);
    pld::remote_store(tile_of(4, 8), data, (my_rank() + 1) % 2, {7, 0});
    pld::system::notify(signal, 1 - my_rank(), {7, 7}, 3, NotifyOp::Set);
  });
  const auto explorer = make_explorer(program, 2);
  const auto strategy = make_random_strategy();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    REQUIRE(explorer->run(*strategy, seed).outcome == Outcome::kOk);
  }
}

TEST_CASE("the same seed gives the same trace on both vehicles, and another seed another one") {
  KernelProgram program([&](Data data, Data signal) {
    for (std::int32_t round = 0; round < 3; ++round) {
      pld::remote_store(tile_of(round, 4), data, (my_rank() + 1) % 4, {round, 0});
      pld::tensor::barrier(signal);
    }
  });
  for (const Model& model : {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()}) {
    const auto fibers = make_explorer(program, 4, {.model = model});
    const auto threads =
        make_explorer(program, 4, {.model = model, .vehicle = VehicleKind::kThread});
    const auto strategy = make_random_strategy();
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const RecordedRun a = fibers->record(*strategy, seed);
      const RecordedRun b = threads->record(*strategy, seed);
      CHECK(a.trace_hash == b.trace_hash);
      CHECK(a.decisions == b.decisions);
      CHECK(fibers->record(*strategy, seed).trace_hash == a.trace_hash);
      CHECK(fibers->run(*strategy, seed).decisions == a.decisions.size());
      hashes.insert(a.trace_hash);
    }
    CHECK(hashes.size() == 20);
  }
}

TEST_CASE("an interrupt ends a run that would go on") {
  std::atomic<bool> interrupt{true};
  KernelProgram program([&](Data, Data signal) {
    while (!pld::system::test(signal, {0, 0}, 1, WaitCmp::Eq)) {
    }
  });
  CHECK(run_once(program, 2, {.interrupt = &interrupt}).outcome == Outcome::kInterrupted);
}

TEST_CASE("orchestration mistakes are errors that say so") {
  class BadHost final : public symrace::Program {
   public:
    explicit BadHost(std::vector<int> devices) : devices_(std::move(devices)) {}
    void orchestrate(pld::Host& host) override {
      for (const int device : devices_) host.dispatch(pld::device(device), [] {});
    }
    bool matches() const override { return true; }
    std::vector<symrace::Mismatch> mismatches() const override { return {}; }

   private:
    std::vector<int> devices_;
  };
  BadHost fewer({0});
  CHECK(run_once(fewer, 2).error ==
        "host: 1 dispatches for 2 ranks: device 1 has none; dispatch each device in [0, 2) exactly "
        "once");
  BadHost more({0, 1, 1});
  CHECK(run_once(more, 2).error ==
        "host: 3 dispatches for 2 ranks: device 1 was dispatched more than once; dispatch each "
        "device in [0, 2) exactly once");
  BadHost unknown({0, 1, 2});
  CHECK(run_once(unknown, 2).error ==
        "host: 3 dispatches for 2 ranks: device 2 does not exist; dispatch each device in [0, 2) "
        "exactly once");
}

TEST_CASE("round-robin finishes what random finishes") {
  KernelProgram program([&](Data data, Data signal) {
    pld::remote_store(tile_of(1, 4), data, (my_rank() + 1) % 3, {0, 0});
    pld::tensor::barrier(signal);
  });
  const auto explorer = make_explorer(program, 3);
  const auto strategy = make_round_robin_strategy();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CHECK(explorer->run(*strategy, seed).outcome == Outcome::kOk);
  }
}

TEST_CASE("a run of no transfers that fits a step: one rank, nothing to decide") {
  KernelProgram program([](Data, Data) {});
  const RunResult result = run_once(program, 1);
  CHECK(result.outcome == Outcome::kOk);
  CHECK(result.decisions == 0);
}

TEST_CASE("all_to_all_v: a negative count of rows is an error of its rank, and names the peer") {
  symrace::FunctionProgram program([](pld::Host& host) {
    const auto window = [&](const char* name, std::int64_t cols) {
      return host.window<std::int32_t>(host.alloc_window_buffer({2, cols}, pl::DType::INT32, name),
                                       {2, cols});
    };
    const Data input = window("input", 1), target = window("target", 1);
    const Data signal = window("signal", 2), send = window("send", 1), recv = window("recv", 1);
    for (std::int32_t r = 0; r < 2; ++r) {
      host.dispatch(
          pld::device(r),
          [](Data in, Data to, Data cells, Data out_counts, Data in_counts) {
            if (my_rank() == 1) pl::write(out_counts, {0, 0}, -3);
            pld::tensor::all_to_all_v(in, to, cells, out_counts, in_counts);
          },
          input, target, signal, send, recv);
    }
  });
  const std::string error = run_once(program, 2).error;
  INFO(error);
  CHECK(error.find("rank 1: all_to_all_v: send_counts[0] = -3; expected 0 or more rows") !=
        std::string::npos);
}

TEST_CASE("pl::store takes a whole tensor too") {
  std::vector<std::int32_t> seen;
  KernelProgram program([&](Data data, Data) {
    if (my_rank() != 0) return;
    std::int32_t memory[6] = {1, 2, 3, 4, 5, 6};
    pl::store(pl::Tensor<std::int32_t>(memory, 2, 3), {1, 2}, data);
    const auto got = pl::load(data, {0, 0}, {4, 6});
    seen.assign(got.data({}), got.data({}) + 24);
  });
  CHECK(run_once(program, 2).outcome == Outcome::kOk);
  CHECK(seen == std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0,
                                          0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace emu::testing
