// The built-in collectives against a golden that is computed on the host, apart from them.
#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "emu/explore.h"
#include "emu/strategies.h"
#include "tests/emu/collective_case.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kCases = 150;
#else
constexpr std::uint64_t kCases = 3000;
#endif

const Model kModels[] = {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()};

std::string text(const CollectiveCase& c) {
  std::string calls;
  for (const Collective collective : c.calls) calls += name_of(collective) + " ";
  return calls + "ranks " + std::to_string(c.ranks) + " [" + std::to_string(c.rows) + ", " +
         std::to_string(c.cols) + "]+" + std::to_string(c.spare_cols) + " " +
         std::string(pl::dtype_name(c.dtype)) + " op " + std::to_string(static_cast<int>(c.op)) +
         " seed " + std::to_string(c.data_seed);
}

void check(const CollectiveCase& c, const Model& model, std::uint64_t schedules,
           std::int64_t burst_bytes = 0) {
  const auto program = make_collective_program(c);
  const auto explorer =
      make_explorer(*program, c.ranks, {.model = model, .burst_bytes = burst_bytes});
  const auto strategy = make_random_strategy();
  const Exploration sum = explorer->explore(*strategy, {c.data_seed, schedules});
  CHECK_MESSAGE(sum.failed == 0, text(c), " model ", model.name, ": ", sum.racy, " racy, ",
                sum.mismatches, " wrong, ", sum.deadlocks, " stuck ",
                sum.first_failure ? sum.first_failure->error : "");
  CHECK(sum.schedules == schedules);
}

TEST_CASE("random shapes, dtypes, ops, rank counts, seeds, and calls of any kinds in any order") {
  symrace::SplitMix64 random(2024);
  const auto below = [&](std::uint64_t n) { return random.next() % n; };
  for (std::uint64_t i = 0; i < kCases; ++i) {
    CollectiveCase c;
    c.ranks = static_cast<std::int32_t>(1 + below(6));
    c.rows = static_cast<std::int64_t>(1 + below(3));
    c.cols = static_cast<std::int64_t>(below(9));  // 0, fewer than ranks, not divisible by them
    c.spare_cols = static_cast<std::int64_t>(below(3));
    c.dtype = pl::kAllDTypes[below(6)];
    c.op = static_cast<pld::ReduceOp>(below(4));
    c.root = static_cast<std::int32_t>(below(static_cast<std::uint64_t>(c.ranks)));
    c.data_seed = i;
    const std::uint64_t calls = 1 + below(4);
    for (std::uint64_t call = 0; call < calls; ++call) {
      c.calls.push_back(kAllCollectives[below(std::size(kAllCollectives))]);
    }
    check(c, kModels[below(4)], 3, below(4) == 0 ? 4 : 0);
  }
}

TEST_CASE("every collective, op and dtype, at one and at several ranks") {
  for (const Collective collective : kAllCollectives) {
    for (const pl::DType dtype : pl::kAllDTypes) {
      for (const pld::ReduceOp op :
           {pld::ReduceOp::Sum, pld::ReduceOp::Max, pld::ReduceOp::Min, pld::ReduceOp::Prod}) {
        for (const std::int32_t ranks : {1, 4}) {
          check({.ranks = ranks,
                 .rows = 2,
                 .cols = 5,
                 .dtype = dtype,
                 .op = op,
                 .root = ranks - 1,
                 .calls = {collective, collective}},
                Model::documented(), 2);
        }
      }
    }
  }
}

TEST_CASE("operands that need many tiles, and rows that are longer than one") {
  for (const Collective collective : kAllCollectives) {
    if (collective == Collective::kBarrier) continue;  // its push is one tile
    for (const auto& [rows, cols] : {std::pair{3, 30000}, std::pair{700, 61}}) {
      // Small enough to stage a row at a time, which is one tile.
      for (const Model& model : {Model::documented(), Model::a2a3()}) {
        check({.ranks = 2,
               .rows = rows,
               .cols = cols,
               .dtype = pl::DType::FP32,
               .calls = {collective, collective}},
              model, 1);
      }
    }
  }
}

// Runs `call` on 3 ranks of windows a and b [3, 4] and signal [3, 1], and returns its error.
std::string error_of(
    const std::function<void(pld::DistributedTensor<float> a, pld::DistributedTensor<float> b,
                             Data signal)>& call) {
  class Program final : public symrace::Program {
   public:
    explicit Program(decltype(call) run) : run_(run) {}
    void orchestrate(pld::Host& host) override {
      const pl::Shape shape{3, 4};
      const auto a = host.alloc_window_buffer(shape, pl::DType::FP32, "a");
      const auto b = host.alloc_window_buffer(shape, pl::DType::FP32, "b");
      const auto s = host.alloc_window_buffer({3, 1}, pl::DType::INT32, "signal");
      for (std::int32_t r = 0; r < 3; ++r) {
        host.dispatch(
            pld::device(r),
            [this](pld::DistributedTensor<float> first, pld::DistributedTensor<float> second,
                   Data signal) { run_(first, second, signal); },
            host.window<float>(a, shape), host.window<float>(b, shape),
            host.window<std::int32_t>(s, {3, 1}));
      }
    }
    bool matches() const override { return true; }
    std::vector<symrace::Mismatch> mismatches() const override { return {}; }

   private:
    decltype(call) run_;
  } program(call);
  const auto strategy = make_random_strategy();
  const RunResult result = make_explorer(program, 3)->run(*strategy, 0);
  CHECK(result.outcome == Outcome::kError);
  return result.error;
}

void check_error(const std::string& error, const std::string& expected) {
  CHECK_MESSAGE(error.find(expected) != std::string::npos, "got: ", error,
                "\nexpected: ", expected);
}

TEST_CASE("misuse names the window, what was wrong, and what was expected") {
  using Window = pld::DistributedTensor<float>;
  check_error(error_of([](Window a, Window, Data s) {
                pld::tensor::allreduce(a, s, pld::ReduceOp::Sum, pld::AllreduceMode::Ring);
              }),
              "allreduce: signal window 'signal' of shape [3, 1] is too small; expected at least "
              "[4, 3] for 3 ranks");
  check_error(
      error_of([](Window a, Window, Data s) { pld::tensor::allreduce(a, s.view(0, 0, 2, 1)); }),
      "allreduce: signal window 'signal' of shape [2, 1] is too small; expected at least "
      "[3, 1] for 3 ranks");
  check_error(error_of([](Window a, Window b, Data s) {
                pld::tensor::allgather(a.view(0, 0, 1, 4), b.view(0, 0, 2, 4), s);
              }),
              "allgather: data window 'b' of shape [2, 4]; expected 3 rows, for 3 ranks");
  check_error(error_of([](Window a, Window b, Data s) {
                pld::tensor::allgather(a.view(0, 0, 1, 3), b, s);
              }),
              "allgather: windows 'a' and 'b' have 3 and 4 columns; expected as many");
  check_error(error_of([](Window a, Window, Data s) { pld::tensor::all_to_all(a, a, s); }),
              "all_to_all: operands stage and data are both window 'a'; expected windows of their "
              "own: allocate another");
  check_error(
      error_of(
          [](Window a, Window, Data s) { pld::tensor::reduce_scatter(a.view(0, 0, 2, 4), s); }),
      "reduce_scatter: data window 'a' of shape [2, 4]; expected as many rows for each of 3 "
      "ranks");
  check_error(error_of([](Window a, Window, Data s) { pld::tensor::broadcast(a, s, 3); }),
              "broadcast: peer 3 does not exist; expected a rank in [0, 3)");
}

}  // namespace
}  // namespace emu::testing
