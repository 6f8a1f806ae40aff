// PTOAS 872: a put whose staging tile was smaller than the transfer went chunk by chunk, and did
// not drain the last chunk before the notify.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

// Row 0 of x is what an earlier use has left in dst.
template <class T, bool Fixed>
void put_in_four_chunks(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
                        pld::DistributedTensor<T> dst,
                        pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(dst);
  const auto next = (my_rank + 1) % nranks;
  dst = pl::store(pl::load(x, {0, 0}, {1, x.cols()}), {0, 0}, dst);
  signal = pld::tensor::barrier(signal);
  src = pl::store(pl::load(x, {1, 0}, {1, x.cols()}), {0, 0}, src);

  pld::tensor::put(dst, next, src, pld::AtomicType::None_,
                   {.chunk_rows = 1, .chunk_cols = (x.cols() + 3) / 4});
  if constexpr (Fixed) pld::system::fence();
  pld::system::notify(signal, next, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);
  pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  y = pl::store(pl::load(dst, {0, 0}, {1, x.cols()}), {0, 0}, y);
}

template <class T>
class LastChunkUndrained final : public BugProgram<T> {
 public:
  explicit LastChunkUndrained(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, put_in_four_chunks<T, false>, put_in_four_chunks<T, true>) {
    this->add_earlier_data("old data");
  }
};

const symrace::BugInfo kLastChunkBug = {
    .document = "hw",
    .symptom = "the peer sees partial data: the last chunk is missing",
    .order_dependent = true,
    .needs_late_delivery = true,
    .ranks = 2,
    .model = "a2a3",
    .reference = "PTOAS 872"};

}  // namespace

const symrace::ProgramInfo kBugLastChunkUndrained = bug_program<LastChunkUndrained>(
    "bug_hw_last_chunk_undrained", "put in chunks, then notify, with no fence between",
    kLastChunkBug);

}  // namespace kernels
