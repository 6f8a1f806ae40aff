// The front door for tests: results as values, the report as their text, the matchers.
#include "emu/doctest.h"

namespace emu::testing {
namespace {

// Two ranks exchange one element; `barrier` says whether they do it right.
symrace::FunctionProgram exchange(std::vector<std::int32_t>& y, bool barrier) {
  return symrace::FunctionProgram(
      [&y, barrier](pld::Host& host) {
        const std::int32_t ranks = host.world_size();
        y.assign(static_cast<std::size_t>(ranks), 0);
        const auto data = host.window<std::int32_t>(
            host.alloc_window_buffer({1, 1}, pl::DType::INT32, "data"), {1, 1});
        const auto signal = host.window<std::int32_t>(
            host.alloc_window_buffer({ranks, 1}, pl::DType::INT32, "signal"), {ranks, 1});
        for (std::int32_t r = 0; r < ranks; ++r) {
          host.dispatch(
              pld::device(r),
              [&y, barrier, ranks](pld::DistributedTensor<std::int32_t> d,
                                   pld::DistributedTensor<std::int32_t> s, std::int32_t me) {
                pl::write(d, {0, 0}, me + 1);
                if (barrier) pld::tensor::barrier(s);
                y[static_cast<std::size_t>(me)] =
                    *pld::remote_load(d, (me + 1) % ranks, {0, 0}, {1, 1}).data({});
              },
              data, signal, r);
        }
      },
      [&y] {
        const auto ranks = static_cast<std::int32_t>(y.size());
        for (std::int32_t r = 0; r < ranks; ++r) {
          if (y[static_cast<std::size_t>(r)] != (r + 1) % ranks + 1) return false;
        }
        return true;
      });
}

TEST_CASE("a right program passes by every strategy, and is verified by one") {
  std::vector<std::int32_t> y;
  auto program = exchange(y, true);
  CHECK(explore(program) == passes());
  CHECK(explore(program, {.ranks = 3, .model = Model::weak(), .strategy = Pct{3}}) == passes());
  CHECK(explore(program, {.strategy = Uniform{}, .schedules = 50}) == passes());
  CHECK(explore(program, {.strategy = RoundRobin{}, .schedules = 5}) == passes());
  const ExploreResult proof = explore(program, {.ranks = 3, .strategy = Exhaustive{}});
  CHECK(proof == is_verified());
  CHECK(proof.text() == "program, 3 ranks, model documented: verified: all 1 executions\n");
  CHECK_FALSE(explore(program) == is_verified());
}

TEST_CASE("a wrong one gives findings as values, a report, and a token that repeats it") {
  std::vector<std::int32_t> y;
  auto program = exchange(y, false);
  const ExploreResult result = explore(program, {.schedules = 200, .name = "exchange"});
  CHECK_FALSE(result.ok());
  CHECK(result == finds("zeros"));
  CHECK(result == finds("race"));
  CHECK_FALSE(result == finds("deadlock"));
  CHECK_FALSE(result == passes());
  CHECK(result.exploration.racy == 200);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].places[0].window == "data");
  CHECK(result.findings[0].count == 400);
  const std::string text = result.text();
  CHECK(text.find("exchange, 2 ranks, model documented: 200 of 200 schedules failed\n") == 0);
  CHECK(text.find("race: remote read returns zeros (400 times)\n") != std::string::npos);
  CHECK(text.find("test_symrace.cpp:") != std::string::npos);
  CHECK(text.find("replay token: sr1.") != std::string::npos);
  CHECK(std::string(doctest::toString(result).c_str()) == "\n" + text);

  const ExploreResult again =
      explore(program, {.strategy = Replay{result.replay_token}, .name = "exchange"});
  CHECK(again.run->trace_hash == result.run->trace_hash);
  CHECK(again == finds("zeros"));
  const ExploreResult refused =
      explore(program, {.ranks = 3, .strategy = Replay{result.replay_token}, .name = "exchange"});
  CHECK_FALSE(refused.ok());
  CHECK(refused.error.find("Replay: a token of another program") == 0);

  const ExploreResult bounded =
      explore(program, {.strategy = Exhaustive{.max_executions = 1}, .detect_races = false});
  CHECK_FALSE(bounded.verified());
  CHECK(bounded.exploration.end == Exploration::End::kMaxExecutions);
}

TEST_CASE("bad options and kernel errors are told in the result") {
  std::vector<std::int32_t> y;
  auto program = exchange(y, true);
  CHECK(explore(program, {.ranks = 0}).error == "a heap for 0 ranks; expected at least 1");
  CHECK(explore(program, {.strategy = Pct{0}}).error == "Pct: depth 0; expected at least 1");
  symrace::FunctionProgram throws([](pld::Host& host) {
    for (std::int32_t r = 0; r < host.world_size(); ++r) {
      host.dispatch(pld::device(r), [] { throw std::runtime_error("on purpose"); });
    }
  });
  const ExploreResult result = explore(throws, {.schedules = 3});
  CHECK_FALSE(result.ok());
  CHECK(result.error == "rank 0: the kernel threw before its first op: on purpose");
}

}  // namespace
}  // namespace emu::testing
