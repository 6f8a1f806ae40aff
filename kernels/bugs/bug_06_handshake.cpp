// Step 06, put mode, with each part of its handshake left out or misplaced: the fatal pitfall
// (no signal at all), the notify before the move, and no wait.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

enum class Handshake { kWhole, kNone, kNotifyFirst, kNoWait };

// Row 0 of x is what an earlier use has left in dst.
template <class T, Handshake Kind>
void put_with_handshake(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
                        pld::DistributedTensor<T> dst,
                        pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(src);
  const auto peer = (my_rank + 1) % nranks;
  dst = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, dst);
  signal = pld::tensor::barrier(signal);
  src = pl::store(pl::load(x, {1, 0}, {1, x.cols()}), {0, 0}, src);

  if constexpr (Kind == Handshake::kNotifyFirst) {
    pld::system::notify(signal, peer, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  }
  pld::tensor::put(dst, peer, src, pld::AtomicType::None_);
  if constexpr (Kind == Handshake::kWhole || Kind == Handshake::kNoWait) {
    pld::system::notify(signal, peer, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  }
  if constexpr (Kind == Handshake::kWhole || Kind == Handshake::kNotifyFirst) {
    pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);
  }

  const auto recv = pl::load(dst, {0, 0}, {1, x.cols()});
  y = pl::store(recv, {0, 0}, y);
}

template <class T, Handshake Kind>
class HandshakeBug : public BugProgram<T> {
 public:
  explicit HandshakeBug(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, put_with_handshake<T, Kind>,
                      put_with_handshake<T, Handshake::kWhole>) {
    this->add_earlier_data("old data");
  }
};
template <class T>
using PutWithoutSignal = HandshakeBug<T, Handshake::kNone>;
template <class T>
using NotifyBeforePut = HandshakeBug<T, Handshake::kNotifyFirst>;
template <class T>
using WaitLeftOut = HandshakeBug<T, Handshake::kNoWait>;

// None is late only: the receiver may read before the sender has reached its put, and where the
// notify comes first, between the two.
const symrace::BugInfo kPutOrderBug = {.document = "06",
                                       .symptom = "receiver reads stale dst",
                                       .order_dependent = true,
                                       .needs_late_delivery = false,
                                       .ranks = 2};

}  // namespace

const symrace::ProgramInfo kBugPutWithoutSignal = bug_program<PutWithoutSignal>(
    "bug_06_put_without_signal", "put with neither notify nor wait before dst is read",
    kPutOrderBug);
const symrace::ProgramInfo kBugNotifyBeforePut = bug_program<NotifyBeforePut>(
    "bug_06_notify_before_put", "the notify is issued before the put that it announces",
    kPutOrderBug);
const symrace::ProgramInfo kBugWaitLeftOut = bug_program<WaitLeftOut>(
    "bug_06_wait_left_out", "dst is read without a wait for the sender's notify", kPutOrderBug);

}  // namespace kernels
