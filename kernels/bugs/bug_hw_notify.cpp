// PTOAS 711, pypto 1561: a notify is a write of the scalar pipe, and passed the moves that stood
// before it on the memory pipes. The data came after their signal; or a load was still on its way
// when "consumed" was signalled, and its source was overwritten under it.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row 0 of x is what an earlier use has left in the slice.
template <class T, bool Fixed>
void notify_after_store(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                        pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto next = (my_rank + 1) % nranks;
  data = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, data);
  signal = pld::tensor::barrier(signal);

  const auto local = pl::load(x, {1, 0}, {1, x.cols()});
  pld::tile::remote_store(local, data, next, {0, 0});
  if constexpr (Fixed) pld::system::fence();
  pld::system::notify(signal, next, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  y = pl::store(pl::load(data, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

// Row 0 of x is round 2's data, row 1 round 1's. y is what round 1 has loaded.
template <class T, bool Fixed>
void notify_after_load(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                       pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto next = (my_rank + 1) % nranks;
  data = pl::store(pl::load(x, {1, 0}, {1, x.cols()}), {0, 0}, data);
  signal = pld::tensor::barrier(signal);

  const auto recv = pld::tile::remote_load(data, next, {0, 0}, {1, x.cols()});
  if constexpr (Fixed) pld::system::fence();
  // "Consumed": the next rank may stage round 2.
  pld::system::notify(signal, next, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);
  data = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, data);

  y = pl::store(recv, {0, 0}, y);
}

template <class T>
class NotifyOvertakesStore final : public BugProgram<T> {
 public:
  explicit NotifyOvertakesStore(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, notify_after_store<T, false>, notify_after_store<T, true>) {
    this->add_earlier_data("old data");
  }
};

template <class T>
class ConsumedTooEarly final : public BugProgram<T> {
 public:
  explicit ConsumedTooEarly(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, +1, notify_after_load<T, false>, notify_after_load<T, true>) {
    this->add_earlier_data("round 2 data");
    this->name_input("round 1 data");
  }
};

const symrace::BugInfo kStoreBug = {
    .document = "hw",
    .symptom = "the wait returns before the data is there: the peer reads old bytes",
    .order_dependent = true,
    .needs_late_delivery = true,
    .ranks = 2,
    .model = "a2a3",
    .reference = "PTOAS 711, pypto 1561"};
const symrace::BugInfo kLoadBug = {
    .document = "hw",
    .symptom = "a load still in flight when \"consumed\" is signalled is overwritten under it",
    .order_dependent = true,
    .needs_late_delivery = true,
    .ranks = 2,
    .model = "weak",
    .reference = "PTOAS 711, pypto 1561"};

}  // namespace

const symrace::ProgramInfo kBugNotifyOvertakesStore = bug_program<NotifyOvertakesStore>(
    "bug_hw_notify_overtakes_store", "remote_store, then notify, with no fence between", kStoreBug);
const symrace::ProgramInfo kBugConsumedTooEarly = bug_program<ConsumedTooEarly>(
    "bug_hw_consumed_too_early", "\"consumed\" is signalled before the loaded tile is used",
    kLoadBug);

}  // namespace kernels
