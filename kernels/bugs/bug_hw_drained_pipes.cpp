// PTOAS 744: a rank drained its pipes before it signalled, and its peer still read what had been
// there before. A drained pipe has handed its data on, which shows in what the rank itself reads;
// a peer reads memory, where they may not have arrived yet.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row 0 of x is what an earlier use has left in the slice.
template <class T, bool Fixed>
void shift_after_drain(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto next = (my_rank + 1) % nranks;
  const auto previous = (my_rank + nranks - 1) % nranks;
  const auto last = x.cols() - 1;
  data = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, data);
  signal = pld::tensor::barrier(signal);

  data = pl::store(pl::load(x, {1, 0}, {1, x.cols()}), {0, 0}, data);
  if constexpr (Fixed) {
    pld::system::fence();
  } else {
    // "Our pipes are drained when our slice reads as we wrote it": it does, landed or not.
    while (pl::read(data, {0, last}).value() != pl::read(x, {1, last}).value()) {
    }
  }
  pld::system::notify(signal, previous, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  const auto recv = pld::tile::remote_load(data, next, {0, 0}, {1, x.cols()});
  y = pl::store(recv, {0, 0}, y);
}

template <class T>
class DrainedPipes final : public BugProgram<T> {
 public:
  explicit DrainedPipes(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, +1, shift_after_drain<T, false>, shift_after_drain<T, true>) {
    this->add_earlier_data("old data");
  }
};

const symrace::BugInfo kDrainedPipesBug = {
    .document = "hw",
    .symptom = "drained from the core, not yet in memory: the peer reads old data",
    .order_dependent = true,
    .needs_late_delivery = true,
    .ranks = 2,
    .model = "weak",
    .reference = "PTOAS 744"};

}  // namespace

const symrace::ProgramInfo kBugDrainedPipes = bug_program<DrainedPipes>(
    "bug_hw_drained_pipes", "what the rank itself reads back is taken for landed",
    kDrainedPipesBug);

}  // namespace kernels
