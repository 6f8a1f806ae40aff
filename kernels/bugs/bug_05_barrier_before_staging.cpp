// Step 05, load mode, over two rounds, with the barrier before the staging.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row k of x is round k + 1's data.
template <class T, bool Fixed>
void shift_twice(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                 pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto peer = (my_rank + 1) % nranks;

  for (std::int32_t round = 0; round < 2; ++round) {
    // Keeps round two's staging away from a peer that still loads round one's.
    signal = pld::tensor::barrier(signal);
    data = pl::store(pl::load(x, {round, 0}, {1, x.cols()}), {0, 0}, data);
    if constexpr (Fixed) signal = pld::tensor::barrier(signal);

    const auto recv = pld::tile::remote_load(data, peer, {0, 0}, {1, x.cols()});
    y = pl::store(recv, {0, 0}, y);
  }
}

template <class T>
class BarrierBeforeStaging final : public BugProgram<T> {
 public:
  explicit BarrierBeforeStaging(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, +1, shift_twice<T, false>, shift_twice<T, true>) {
    this->add_rounds();
  }
};

// Not late only: past the second barrier a rank may load before its peer has staged again.
const symrace::BugInfo kBarrierBeforeStagingBug = {
    .document = "05",
    .symptom = "one rank reads the previous round's stale data",
    .order_dependent = true,
    .needs_late_delivery = false,
    .ranks = 2};

}  // namespace

const symrace::ProgramInfo kBugBarrierBeforeStaging = bug_program<BarrierBeforeStaging>(
    "bug_05_barrier_before_staging", "two rounds of load mode, the barrier before the staging",
    kBarrierBeforeStagingBug);

}  // namespace kernels
