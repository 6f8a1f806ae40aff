// Replay tokens: round trips, refusals with the reason, and bit-for-bit repetition.
#include "emu/replay.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

std::string refusal(std::string_view token, std::uint64_t hash) {
  const auto decoded = decode(token, hash);
  REQUIRE_FALSE(decoded.ok());
  return std::string(decoded.status().message());
}

TEST_CASE("a token holds every decision") {
  ReplayToken token{program_hash("p"),
                    {{0, 0}, {1, 1}, {5, 0}, {300, 100000}, {65535, 4294967295U}}};
  const auto decoded = decode(encode(token), token.program_hash);
  REQUIRE(decoded.ok());
  CHECK(decoded->decisions == token.decisions);
  CHECK(encode(token).substr(0, 4) == "sr1.");
}

TEST_CASE("a token is refused with the reason") {
  const std::string token = encode({program_hash("p"), {{0, 0}, {1, 0}}});
  CHECK(refusal("hello", 0).find("not a replay token") == 0);
  CHECK(refusal("sr2." + token.substr(4), program_hash("p")).find("a token of version 'sr2'") == 0);
  CHECK(refusal(token.substr(0, token.size() - 2), program_hash("p")).find("a damaged") == 0);
  CHECK(refusal(token, program_hash("q")).find("a token of another program") == 0);
  for (std::size_t i = 4; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    CHECK_FALSE(decode(changed, program_hash("p")).ok());
  }
  // One whose number 1 is written in two bytes.
  CHECK(refusal("sr1.NBIAAAAAAAAAAAAAB4EA09BLUg", 0x1234).find("a damaged") == 0);
  CHECK(refusal("sr2\nx.", 0).find("not a replay token") == 0);
  CHECK(refusal("sr123456789.", 0).find("not a replay token") == 0);
  CHECK(refusal("sr1", 0).find("not a replay token") == 0);
  CHECK_FALSE(decode("", 0).ok());
  CHECK_FALSE(decode("sr1.", 0).ok());
}

TEST_CASE("a replayed schedule is the same, bit for bit, on either vehicle") {
  KernelProgram program([&](Data data, Data signal) {
    pld::remote_store(tile_of(my_rank(), 4), data, (my_rank() + 1) % 3, {0, 0});
    pld::tensor::barrier(signal);
    pld::tensor::get(data, (my_rank() + 1) % 3, data,
                     {.dst_offsets = pl::Offsets{1, 0},
                      .src_offsets = pl::Offsets{0, 0},
                      .shape = pl::Shape{1, 4},
                      .chunk_cols = 2});
  });
  const auto fibers = make_explorer(program, 3);
  const auto threads = make_explorer(program, 3, {.vehicle = VehicleKind::kThread});
  const auto random = make_random_strategy();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RecordedRun original = fibers->record(*random, seed);
    const auto token = decode(encode({1, original.decisions}), 1);
    REQUIRE(token.ok());
    const auto replay = make_replay_strategy(token->decisions);
    CHECK(fibers->record(*replay, 99).trace_hash == original.trace_hash);
    CHECK(threads->record(*replay, 98).trace_hash == original.trace_hash);
  }
}

TEST_CASE("a schedule that no longer fits its program ends as an error") {
  KernelProgram program([](Data, Data signal) { pld::tensor::barrier(signal); });
  const auto explorer = make_explorer(program, 2);
  const auto replay = make_replay_strategy({{1, 77}});
  const RunResult result = explorer->run(*replay, 0);
  CHECK(result.outcome == Outcome::kError);
  CHECK(result.error.find("decision 1 is not enabled") != std::string::npos);
}

}  // namespace
}  // namespace emu::testing
