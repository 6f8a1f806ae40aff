// Step 06, put mode, in four chunks, with dst read before the signal: at once, or as soon as the
// last chunk seems to be there.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"

namespace kernels {
namespace {

enum class ReadDst { kAfterSignal, kAtOnce, kAfterPeek };

// Row 0 of x is what an earlier use has left in dst.
template <class T, ReadDst When>
void put_by_chunks(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> src,
                   pld::DistributedTensor<T> dst, pld::DistributedTensor<std::int32_t> signal) {
  const auto [my_rank, nranks] = ranks_of(dst);
  const pl::Shape slice{1, x.cols()};
  dst = pl::store(pl::load(x, {0, 0}, slice), {0, 0}, dst);
  signal = pld::tensor::barrier(signal);
  src = pl::store(pl::load(x, {1, 0}, slice), {0, 0}, src);

  const auto peer = (my_rank + 1) % nranks;
  pld::tensor::put(dst, peer, src, pld::AtomicType::None_,
                   {.chunk_rows = 1, .chunk_cols = (x.cols() + 3) / 4});
  pld::system::notify(signal, peer, {0, kHandshakeCol}, 1, pld::NotifyOp::AtomicAdd);

  bool wait = When == ReadDst::kAfterSignal;
  if constexpr (When == ReadDst::kAfterPeek) {
    // "The last chunk has come, so all have": chunks land in any order.
    const pl::Offsets last{0, x.cols() - 1};
    wait = pl::read(dst, last).value() == pl::read(x, last).value();
  }
  if (wait) pld::system::wait(signal, {0, kHandshakeCol}, 1, pld::WaitCmp::Ge);

  y = pl::store(pl::load(dst, {0, 0}, slice), {0, 0}, y);
}

template <class T, ReadDst When>
class ChunkedPut : public BugProgram<T> {
 public:
  explicit ChunkedPut(const symrace::Arguments& arguments)
      : BugProgram<T>(arguments, -1, put_by_chunks<T, When>,
                      put_by_chunks<T, ReadDst::kAfterSignal>) {
    this->add_earlier_data("old data");
  }
};
template <class T>
using ChunkedPutBeforeSignal = ChunkedPut<T, ReadDst::kAtOnce>;
template <class T>
using LastChunkPeeked = ChunkedPut<T, ReadDst::kAfterPeek>;

// Not late only: a rank may read before the put was issued, and then finds old data alone; only a
// late delivery makes it the mixture.
const symrace::BugInfo kBeforeSignalBug = {
    .document = "06",
    .symptom = "a mixture of old and new chunks in one slice",
    .order_dependent = true,
    .needs_late_delivery = false,
    .ranks = 2};
// Late only: where a put lands whole, its last element proves the others, and a rank that finds the
// old one waits for the signal.
const symrace::BugInfo kPeekBug = {.document = "06",
                                   .symptom = "a mixture of old and new chunks in one slice",
                                   .order_dependent = true,
                                   .needs_late_delivery = true,
                                   .ranks = 2};

}  // namespace

const symrace::ProgramInfo kBugChunkedPutBeforeSignal = bug_program<ChunkedPutBeforeSignal>(
    "bug_06_chunked_put_before_signal", "dst of a chunked put is read before the signal",
    kBeforeSignalBug);
const symrace::ProgramInfo kBugLastChunkPeeked = bug_program<LastChunkPeeked>(
    "bug_06_last_chunk_peeked", "the last chunk's arrival is taken for the signal", kPeekBug);

}  // namespace kernels
