// pypto 2279: an all-reduce that writes its result back in place, with one barrier. It was not
// enough on hardware: a fast rank stored its sum into the slice that a slow one still read.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row k of x is call k + 1's data.
template <class T, bool Fixed>
void reduce_twice(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                  pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);

  for (std::int32_t call = 0; call < 2; ++call) {
    data = pl::store(pl::load(x, {call, 0}, {1, x.cols()}), {0, 0}, data);
    signal = pld::tensor::barrier(signal);

    // In one order on every rank: a floating sum depends on it.
    auto sum = pld::tile::remote_load(data, 0, {0, 0}, {1, x.cols()});
    for (std::int32_t src = 1; src < nranks; ++src) {
      sum = pl::add(sum, pld::tile::remote_load(data, src, {0, 0}, {1, x.cols()}));
    }
    if constexpr (Fixed) signal = pld::tensor::barrier(signal);
    data = pl::store(sum, {0, 0}, data);
  }
  y = pl::store(pl::load(data, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

template <class T>
class NoSecondBarrier final : public BugProgram<T> {
 public:
  explicit NoSecondBarrier(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, 0, reduce_twice<T, false>, reduce_twice<T, true>) {
    this->add_rounds();
    this->expect(sums());
    this->name_data("result", sums());
  }

 private:
  Matrix<T> sums() const {
    Matrix<T> sums(this->ranks(), this->size());
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      std::copy_n(this->input().row(0), this->size(), sums.row(r));
      for (std::int64_t src = 1; src < this->ranks(); ++src) {
        for (std::int64_t i = 0; i < this->size(); ++i) {
          sums.row(r)[i] = pl::arithmetic::add(sums.row(r)[i], this->input().row(src)[i]);
        }
      }
    }
    return sums;
  }
};

// Not late only: a rank may run on to its store while a peer is still before its loads.
const symrace::BugInfo kSecondBarrierBug = {
    .document = "hw",
    .symptom =
        "a fast rank overwrites what a slow one still reads: the sum of an input and a result",
    .order_dependent = true,
    .needs_late_delivery = false,
    .ranks = 2,
    .reference = "pypto 2279"};

}  // namespace

const symrace::ProgramInfo kBugNoSecondBarrier = bug_program<NoSecondBarrier>(
    "bug_hw_no_second_barrier", "two all-reduces in place, with no barrier before the write-back",
    kSecondBarrierBug);

}  // namespace kernels
