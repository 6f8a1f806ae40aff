// Every program on the ranks of cards, which are the strict double of the ACL runtime, under many
// seeds of its streams' delays: each gives its golden, and the double has nothing to complain of.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "core/acl_engine.h"
#include "kernels/programs.h"
#include "tests/acl_double/acl_double.h"
#include "tests/emu/program_arguments.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr int kSeeds = 4;
#else
constexpr int kSeeds = 100;
#endif

// One run for each of `seeds` seeds.
void check_on_cards(const symrace::ProgramInfo& info, const symrace::Arguments& arguments,
                    int seeds) {
  const auto program = info.make(arguments);
  REQUIRE(program.ok());
  std::vector<std::int32_t> devices(static_cast<std::size_t>(arguments.ranks));
  std::iota(devices.rbegin(), devices.rend(), 0);  // rank 0 on the last
  for (int seed = 0; seed < seeds; ++seed) {
    INFO(info.name, " on ", arguments.ranks, " ranks, mode ", arguments.choice("mode"), ", seed ",
         seed);
    acl_double_reset(("ACL_DOUBLE_SEED=" + std::to_string(seed)).c_str());
    {
      const auto engine = symrace::AclEngine::create(**program, {.devices = devices});
      REQUIRE_MESSAGE(engine.ok(), engine.status().ToString());
      const symrace::DirectResult result = (*engine)->run();
      CHECK_MESSAGE(result.outcome == symrace::DirectResult::Outcome::kOk, result.error);
      CHECK((*engine)->close().ok());
    }
    for (std::size_t i = 0; i < acl_double_violations(); ++i) FAIL_CHECK(acl_double_violation(i));
  }
}

struct Double {
  Double() { setenv("SYMRACE_ACL_LIBRARY", SYMRACE_ACL_DOUBLE, 1); }
};

TEST_CASE_FIXTURE(Double, "cards: each documented program gives its golden under 100 seeds") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    check_on_cards(*info, symrace::default_arguments(*info, std::max(3, info->smallest_ranks)),
                   kSeeds);
  }
}

TEST_CASE_FIXTURE(Double, "cards: each mended bug gives its golden") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug == nullptr) continue;
    check_on_cards(*info, arguments_of(*info, std::max(3, info->bug->ranks), true),
                   std::max(2, kSeeds / 5));
  }
}

TEST_CASE_FIXTURE(Double, "cards: each mode of a program, on other rank counts") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    for (const std::int32_t ranks : {1, 2, 5}) {
      if (ranks < info->smallest_ranks) continue;
      for (const symrace::Arguments& arguments : all_modes(*info, ranks)) {
        check_on_cards(*info, arguments, std::max(1, kSeeds / 20));
      }
    }
  }
}

}  // namespace
}  // namespace emu::testing
