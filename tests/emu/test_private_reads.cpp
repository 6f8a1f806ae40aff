// Gets into private memory under race detection: under `weak` they read as late as at the first use
// of that memory, and only that use or a fence orders them before a notify.
#include <doctest/doctest.h>

#include <cstdint>

#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

enum class Then { kNothing, kUse, kFence };

// Rank 1 gets from rank 0, says that it has, and rank 0 overwrites what it got. Of 200 seeds, how
// many show a race.
int racy_seeds(const Model& model, Then then) {
  std::int32_t memory[2] = {0, 0};
  KernelProgram program([&](Data data, Data signal) {
    if (my_rank() == 1) {
      const pl::Out<pl::Tensor<std::int32_t>> out(memory, 1, 2);
      pld::tensor::get(out, 0, pl::slice(data, {0, 0}, {1, 2}));
      if (then == Then::kUse) pl::load(out, {0, 0}, {1, 2});
      if (then == Then::kFence) pld::system::fence();
      pld::system::notify(signal, 0, {0, 0}, 1, pld::NotifyOp::Set);
    } else {
      pld::system::wait(signal, {0, 0}, 1, pld::WaitCmp::Eq);
      pl::write(data, {0, 0}, 9);
    }
  });
  const auto explorer = make_explorer(program, 2, {.model = model});
  const auto strategy = make_random_strategy();
  int racy = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RunResult result = explorer->run(*strategy, seed);
    CHECK(result.outcome == Outcome::kOk);
    racy += result.races.empty() ? 0 : 1;
  }
  return racy;
}

TEST_CASE("a get into private memory races with what comes after the notify, unless it was used") {
  for (const Model& model : {Model::sc(), Model::documented(), Model::a2a3()}) {
    CHECK(racy_seeds(model, Then::kNothing) == 0);
    CHECK(racy_seeds(model, Then::kUse) == 0);
  }
  CHECK(racy_seeds(Model::weak(), Then::kNothing) == 200);
  CHECK(racy_seeds(Model::weak(), Then::kUse) == 0);
  CHECK(racy_seeds(Model::weak(), Then::kFence) == 0);
}

}  // namespace
}  // namespace emu::testing
