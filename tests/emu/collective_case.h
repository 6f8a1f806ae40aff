// One collective on random data, with windows of random shapes, and what its results must be.
#ifndef SYMRACE_TESTS_EMU_COLLECTIVE_CASE_H_
#define SYMRACE_TESTS_EMU_COLLECTIVE_CASE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/pl.h"
#include "core/pld.h"
#include "core/program.h"

namespace emu::testing {

enum class Collective : std::uint8_t {
  kBarrier,
  kMesh,
  kTwoPhase,
  kRing,
  kBroadcast,
  kAllgather,
  kReduceScatter,
  kAllToAll,
  kAllToAllV,
};
inline constexpr Collective kAllCollectives[] = {
    Collective::kBarrier,       Collective::kMesh,      Collective::kTwoPhase,
    Collective::kRing,          Collective::kBroadcast, Collective::kAllgather,
    Collective::kReduceScatter, Collective::kAllToAll,  Collective::kAllToAllV};
std::string name_of(Collective collective);

struct CollectiveCase {
  std::int32_t ranks = 2;
  // Of a block: the operands have `rows` rows, or as many for each rank.
  std::int64_t rows = 1;
  std::int64_t cols = 4;
  pl::DType dtype = pl::DType::FP32;
  pld::ReduceOp op = pld::ReduceOp::Sum;
  std::int32_t root = 0;
  std::uint64_t data_seed = 0;
  // One after the other, on one signal window, and on windows that are used again.
  std::vector<Collective> calls;
  // Columns that the windows have beyond the operands, so that those are strided views.
  std::int64_t spare_cols = 0;
  // Called by each rank's kernel around all calls; to install another fabric, say.
  std::function<void(const std::function<void()>& kernel)> around = [](const auto& kernel) {
    kernel();
  };
};

// matches() when every rank's result of every call is right, bit for bit, every other element is
// untouched, and every signal cell is zero at the end.
std::unique_ptr<symrace::Program> make_collective_program(const CollectiveCase& arguments);

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_COLLECTIVE_CASE_H_
