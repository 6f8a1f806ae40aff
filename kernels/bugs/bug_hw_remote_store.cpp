// pypto-lib guide: on one core, a notify after a put is ordered behind it; remote_store is
// non-draining, and a notify passes it. Here one notify announces the left half, which was put, and
// the right half, which was remote-stored.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

template <class T, bool Fixed>
void push_halves(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> win,
                 pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(win);
  const auto next = (my_rank + 1) % nranks;
  const auto half = x.cols() / 2;
  const pl::Shape rest{1, x.cols() - half};

  pl::at(pl::Level::CORE_GROUP, [&] {
    pld::tensor::put(pl::slice(win, {0, 0}, {1, half}), next, pl::slice(x, {0, 0}, {1, half}),
                     pld::AtomicType::None_);
    const auto right = pl::slice(x, {0, half}, rest);
    if constexpr (Fixed) {
      pld::tensor::put(pl::slice(win, {0, half}, rest), next, right, pld::AtomicType::None_);
    } else {
      pld::tensor::remote_store(right, win, next, {0, half});
    }
    pld::system::notify(signal, next, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  });
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  y = pl::store(pl::load(win, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

template <class T>
class RemoteStoreForPut final : public BugProgram<T> {
 public:
  explicit RemoteStoreForPut(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, push_halves<T, false>, push_halves<T, true>) {}
};

const symrace::BugInfo kRemoteStoreBug = {
    .document = "hw",
    .symptom = "notify is ordered behind a put, not behind a remote_store: zeros where it stored",
    .order_dependent = true,
    .needs_late_delivery = true,
    .ranks = 2,
    .model = "a2a3",
    .reference = "pypto-lib guide"};

}  // namespace

const symrace::ProgramInfo kBugRemoteStoreForPut = bug_program<RemoteStoreForPut>(
    "bug_hw_remote_store_for_put", "half a row by put, half by remote_store, and one notify",
    kRemoteStoreBug);

}  // namespace kernels
