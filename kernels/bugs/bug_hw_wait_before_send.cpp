// pypto 2397: the compiler scheduled a rank's wait before that rank's own send. The program as
// written has no cycle of waits; as scheduled, every rank waited for a peer that waited itself.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

template <class T, bool Fixed>
void send_and_wait(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                   pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(data);
  const auto next = (my_rank + 1) % nranks;

  if constexpr (!Fixed) pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);
  pld::tile::remote_store(pl::load(x, {0, 0}, {1, x.cols()}), data, next, {0, 0});
  pld::system::fence();
  pld::system::notify(signal, next, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  if constexpr (Fixed) pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  y = pl::store(pl::load(data, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

template <class T>
class WaitBeforeSend final : public BugProgram<T> {
 public:
  explicit WaitBeforeSend(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, send_and_wait<T, false>, send_and_wait<T, true>) {}
};

// In no order right: nobody sends.
const symrace::BugInfo kWaitBeforeSendBug = {.document = "hw",
                                             .symptom = "every rank hangs in its wait: a deadlock",
                                             .order_dependent = false,
                                             .needs_late_delivery = false,
                                             .ranks = 2,
                                             .reference = "pypto 2397"};

}  // namespace

const symrace::ProgramInfo kBugWaitBeforeSend = bug_program<WaitBeforeSend>(
    "bug_hw_wait_before_send", "the wait for the previous rank stands before the own send",
    kWaitBeforeSendBug);

}  // namespace kernels
