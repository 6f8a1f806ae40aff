// Step 06 with a peer computed wrong: in put, in get, and in the handshake of get. With two ranks
// next and previous are one, and nothing shows.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

template <class T, bool Fixed>
void put_to_neighbour(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
                      pld::DistributedTensor<T> dst, pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(src);
  src = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, src);

  const auto peer = Fixed ? (my_rank + 1) % nranks : (my_rank + nranks - 1) % nranks;
  pld::tensor::put(dst, peer, src, pld::AtomicType::None_);
  pld::system::notify(signal, peer, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  y = pl::store(pl::load(dst, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

enum class Wrong { kNothing, kSource, kHandshake };

// Row 0 of x is what an earlier use has left in src.
template <class T, Wrong Peer>
void get_from_neighbour(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
                        pld::DistributedTensor<T> dst,
                        pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(src);
  src = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, src);
  signal = pld::tensor::barrier(signal);
  src = pl::store(pl::load(x, {1, 0}, {1, x.cols()}), {0, 0}, src);

  const auto next = (my_rank + 1) % nranks;
  const auto previous = (my_rank + nranks - 1) % nranks;
  const auto reader = Peer == Wrong::kHandshake ? next : previous;
  pld::system::notify(signal, reader, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);
  pld::tensor::get(dst, Peer == Wrong::kSource ? previous : next, src);

  const auto recv = pl::load(dst, {0, 0}, {1, x.cols()});
  y = pl::store(recv, {0, 0}, y);
}

template <class T>
class WrongPeerPut final : public BugProgram<T> {
 public:
  explicit WrongPeerPut(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, put_to_neighbour<T, false>, put_to_neighbour<T, true>) {}
};

template <class T, Wrong Peer>
class WrongPeerOfGet : public BugProgram<T> {
 public:
  explicit WrongPeerOfGet(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, +1, get_from_neighbour<T, Peer>,
                      get_from_neighbour<T, Wrong::kNothing>) {
    this->add_earlier_data("old data");
  }
};
template <class T>
using WrongPeerGet = WrongPeerOfGet<T, Wrong::kSource>;
template <class T>
using WrongPeerHandshake = WrongPeerOfGet<T, Wrong::kHandshake>;

// In no order right: the signal goes where the data goes, so the wrong rank's data is certain.
const symrace::BugInfo kPutBug = {.document = "06",
                                  .symptom = "data lands in the wrong rank",
                                  .order_dependent = false,
                                  .needs_late_delivery = false,
                                  .ranks = 3};
// In no order right: the data are the wrong rank's, new or (the handshake covers another) old.
const symrace::BugInfo kGetBug = {.document = "06",
                                  .symptom = "the wrong rank's data",
                                  .order_dependent = false,
                                  .needs_late_delivery = false,
                                  .ranks = 3};
// Not late only: the previous rank's notify lets a rank get from the next one, which may not have
// staged yet.
const symrace::BugInfo kHandshakeBug = {.document = "06",
                                        .symptom = "stale data",
                                        .order_dependent = true,
                                        .needs_late_delivery = false,
                                        .ranks = 3};

}  // namespace

const symrace::ProgramInfo kBugWrongPeerPut = bug_program<WrongPeerPut>(
    "bug_06_wrong_peer_put", "put writes to the previous rank, not the next", kPutBug);
const symrace::ProgramInfo kBugWrongPeerGet = bug_program<WrongPeerGet>(
    "bug_06_wrong_peer_get", "get reads from the previous rank, not the next", kGetBug);
const symrace::ProgramInfo kBugWrongPeerHandshake = bug_program<WrongPeerHandshake>(
    "bug_06_wrong_peer_handshake",
    "get mode notifies the next rank, not the one that reads from us", kHandshakeBug);

}  // namespace kernels
