// Step 06, put mode, over two rounds, with Add where an overwrite is meant.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row k of x is round k + 1's data.
template <class T, bool Fixed>
void put_twice(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
               pld::DistributedTensor<T> dst, pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(src);
  const auto peer = (my_rank + 1) % nranks;

  for (std::int32_t round = 0; round < 2; ++round) {
    src = pl::store(pl::load(x, {round, 0}, {1, x.cols()}), {0, 0}, src);
    pld::tensor::put(dst, peer, src, Fixed ? pld::AtomicType::None_ : pld::AtomicType::Add);
    pld::system::notify(signal, peer, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
    pld::system::wait(signal, {0, kHandshakeCol}, round + 1, pld::WaitCmp::Ge);
    y = pl::store(pl::load(dst, {0, 0}, {1, x.cols()}), {0, 0}, y);
    // Keeps round two's put away from a peer that still reads round one's dst.
    signal = pld::tensor::barrier(signal);
  }
}

template <class T>
class AddTwoRounds final : public BugProgram<T> {
 public:
  explicit AddTwoRounds(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, put_twice<T, false>, put_twice<T, true>) {
    this->add_rounds();
  }
};

// In no order right: both rounds are ordered, and both are added.
const symrace::BugInfo kAddTwoRoundsBug = {.document = "06",
                                           .symptom = "the sum of both rounds",
                                           .order_dependent = false,
                                           .needs_late_delivery = false,
                                           .ranks = 2};

}  // namespace

const symrace::ProgramInfo kBugAddTwoRounds = bug_program<AddTwoRounds>(
    "bug_06_add_two_rounds", "put with Add where an overwrite is meant, over two rounds",
    kAddTwoRoundsBug);

}  // namespace kernels
