// simpler 1271: an atomic add was made as a plain read, add, and write back. Two ranks that added
// to one chunk both read it before either had written, and one of the two additions was lost.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Every rank adds its row to its own chunk and to the next rank's: two ranks add to each.
template <class T, bool Fixed>
void add_to_two_chunks(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto local = pl::load(x, {0, 0}, {1, x.cols()});
  for (const auto peer : {my_rank, (my_rank + 1) % nranks}) {
    if constexpr (Fixed) {
      pld::tile::remote_store(local, data, peer, {0, 0}, pld::AtomicType::Add);
    } else {
      const auto there = pld::tile::remote_load(data, peer, {0, 0}, {1, x.cols()});
      pld::tile::remote_store(pl::add(there, local), data, peer, {0, 0});
    }
  }
  signal = pld::tensor::barrier(signal);

  y = pl::store(pl::load(data, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

template <class T>
class LostUpdate final : public BugProgram<T> {
 public:
  explicit LostUpdate(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, add_to_two_chunks<T, false>, add_to_two_chunks<T, true>) {
    Matrix<T> both = this->golden();
    for (std::size_t i = 0; i < both.values.size(); ++i) {
      both.values[i] = pl::arithmetic::add(both.values[i], this->input().values[i]);
    }
    this->expect(std::move(both));
  }
};

// Not late only: both ranks may read before either writes.
const symrace::BugInfo kLostUpdateBug = {
    .document = "hw",
    .symptom = "two ranks add to one chunk, and an update is lost: one rank's row, not the sum",
    .order_dependent = true,
    .needs_late_delivery = false,
    .ranks = 2,
    .reference = "simpler 1271"};

}  // namespace

const symrace::ProgramInfo kBugLostUpdate = bug_program<LostUpdate>(
    "bug_hw_lost_update", "add to a peer's chunk by remote_load, add and remote_store",
    kLostUpdateBug);

}  // namespace kernels
