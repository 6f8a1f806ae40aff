#include "emu/cost_model.h"

namespace emu {

// The published points are of one get each. Through UB they were staged in tiles of 4 KiB, so that
// they tell a chunk's whole time, 738.5 ns, and not what it is made of. The split is an assumption:
// bytes stream through UB at the rate of the asynchronous path, on either side; what is left is
// start-up, the same for the load and for the store.
CostModel CostModel::a2a3() {
  constexpr Picoseconds kPerKib = 48'810;
  constexpr Picoseconds kStart = 174'000;
  return {.name = "a2a3",
          .path = Path::kStaged,
          .staged = {.start = kStart, .remote_per_kib = kPerKib, .local_per_kib = kPerKib},
          .async = {.start = 2'495'000, .per_kib = kPerKib},
          .signal_latency = 2 * kStart,
          .issue = 20'000};
}

CostModel CostModel::a2a3_async() {
  CostModel model = a2a3();
  model.name = "a2a3-async";
  model.path = Path::kAsync;
  return model;
}

std::optional<CostModel> CostModel::parse(std::string_view name) {
  for (const CostModel& model : {a2a3(), a2a3_async()}) {
    if (model.name == name) return model;
  }
  return std::nullopt;
}

}  // namespace emu
