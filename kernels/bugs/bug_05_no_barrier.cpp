// Step 05, load mode, with nothing between the staging and the remote_load.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

template <class T, bool Fixed>
void shift_without_barrier(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y,
                           pld::DistributedTensor<T> data,
                           pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  data = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, data);

  if constexpr (Fixed) signal = pld::tensor::barrier(signal);

  const auto recv = pld::tile::remote_load(data, (my_rank + 1) % nranks, {0, 0}, {1, x.cols()});
  y = pl::store(recv, {0, 0}, y);
}

template <class T>
class NoBarrier final : public BugProgram<T> {
 public:
  explicit NoBarrier(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, +1, shift_without_barrier<T, false>,
                      shift_without_barrier<T, true>) {}
};

// Not late only: a rank may load before its peer has run at all.
const symrace::BugInfo kNoBarrierBug = {.document = "05",
                                        .symptom = "remote read returns zeros",
                                        .order_dependent = true,
                                        .needs_late_delivery = false,
                                        .ranks = 2};

}  // namespace

const symrace::ProgramInfo kBugNoBarrier = bug_program<NoBarrier>(
    "bug_05_no_barrier", "remote_load with no barrier after the staging", kNoBarrierBug);

}  // namespace kernels
