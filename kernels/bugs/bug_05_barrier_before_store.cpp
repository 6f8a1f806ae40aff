// Step 05, store mode, with the barrier before the store.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row 0 of x is what an earlier use has left in the slice.
template <class T, bool Fixed>
void shift_by_early_barrier(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y,
                            pld::DistributedTensor<T> data,
                            pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  data = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, data);

  // Orders the old data before the new; the new before the load is another barrier's work.
  signal = pld::tensor::barrier(signal);
  const auto local = pl::load(x, {1, 0}, {1, x.cols()});
  pld::tile::remote_store(local, data, (my_rank + 1) % nranks, {0, 0});
  if constexpr (Fixed) signal = pld::tensor::barrier(signal);

  const auto back = pl::load(data, {0, 0}, {1, x.cols()});
  y = pl::store(back, {0, 0}, y);
}

template <class T>
class BarrierBeforeStore final : public BugProgram<T> {
 public:
  explicit BarrierBeforeStore(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, shift_by_early_barrier<T, false>,
                      shift_by_early_barrier<T, true>) {
    this->add_earlier_data("old data");
  }
};

// Not late only: a rank may load its slice before the previous rank has run its store.
const symrace::BugInfo kBarrierBeforeStoreBug = {
    .document = "05",
    .symptom = "a rank reads stale data from its own slice",
    .order_dependent = true,
    .needs_late_delivery = false,
    .ranks = 2};

}  // namespace

const symrace::ProgramInfo kBugBarrierBeforeStore = bug_program<BarrierBeforeStore>(
    "bug_05_barrier_before_store", "store mode with the barrier before the store",
    kBarrierBeforeStoreBug);

}  // namespace kernels
