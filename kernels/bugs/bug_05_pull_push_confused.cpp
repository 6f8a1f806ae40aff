// Step 05, load mode, thought of as a push: "rank (r-1) is the one whose data we get".
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

template <class T, bool Fixed>
void shift_from_neighbour(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                          pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  data = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, data);
  signal = pld::tensor::barrier(signal);

  const auto peer = Fixed ? (my_rank + 1) % nranks : (my_rank + nranks - 1) % nranks;
  y = pl::store(pld::tile::remote_load(data, peer, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

template <class T>
class PullPushConfused final : public BugProgram<T> {
 public:
  explicit PullPushConfused(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, +1, shift_from_neighbour<T, false>,
                      shift_from_neighbour<T, true>) {}
};

// In no order right: the barrier makes the wrong slice certain.
const symrace::BugInfo kPullPushConfusedBug = {.document = "05",
                                               .symptom = "shift goes the wrong direction",
                                               .order_dependent = false,
                                               .needs_late_delivery = false,
                                               .ranks = 3};

}  // namespace

const symrace::ProgramInfo kBugPullPushConfused = bug_program<PullPushConfused>(
    "bug_05_pull_push_confused", "load mode reads the previous rank's slice, not the next one's",
    kPullPushConfusedBug);

}  // namespace kernels
