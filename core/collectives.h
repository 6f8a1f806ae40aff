// The built-in collectives. Every rank of the domain calls the same one with operands of the same
// windows, shapes, and options.
//
// Ordering, in every memory model: no rank's slice is touched on behalf of a call before that rank
// has entered it, nor after that rank has left it, and what a rank wrote to its own operands before
// the call is seen by it. All but the ring begin with a barrier that fences, as
// pld::tensor::barrier does, so that transfers which any rank issued before the call come first.
// The ring orders neighbours only: a rank's slice must hold its data when that rank calls. A result
// that a collective left in own slice is posted, as pl::store's are, where a peer is to read it
// without another collective.
//
// Signals clear themselves: a window that is all zero before a call is all zero when every rank has
// left it, so that one window serves calls back to back, in loops, and of different kinds.
//
// Arithmetic order is fixed, so that results are the same bits in every run, and on every rank:
// ((x[0] op x[1]) op x[2]) ... in rank order, in the element type; but mode Ring folds block b of N
// from rank b on: ((x[b] op x[b+1]) op ...) op x[b-1], ranks modulo N. Blocks of `count` elements
// are [b * count / N, (b + 1) * count / N).
//
// Misuse throws KernelError before anything moves: a signal window too small for the mode, operands
// whose shapes do not match, operands of one window.
#ifndef SYMRACE_CORE_COLLECTIVES_H_
#define SYMRACE_CORE_COLLECTIVES_H_

#include <cstdint>
#include <source_location>

#include "core/rank_context.h"
#include "core/reduce.h"
#include "core/tensor.h"

namespace pld {

// How an all-reduce of N ranks and S bytes goes, and the signal window that it needs at least.
enum class AllreduceMode : std::uint8_t {
  Mesh,      // everyone reads everyone: (N-1) S bytes a rank, 2 barriers; [N, 1]
  TwoPhase,  // reduce-scatter, then push: 2 (N-1)/N S bytes a rank, 2 barriers; [N, 1]
  Ring,      // 2 (N-1) rounds of S/N bytes from the left neighbour; [2 (N-1), N]
};

namespace detail {

// A window operand without its element type.
struct Operand {
  symrace::WindowRegion region;  // all of it
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  template <pl::Element T>
  explicit Operand(const DistributedTensor<T>& tensor)
      : region(tensor.region(0, 0, tensor.rows(), tensor.cols())),
        rows(tensor.rows()),
        cols(tensor.cols()) {}
};
using Signal = DistributedTensor<std::int32_t>;

void allreduce(const Operand& data, const Signal& signal, ReduceOp op, AllreduceMode mode,
               std::source_location where);
void broadcast(const Operand& data, const Signal& signal, std::int64_t root,
               std::source_location where);
void allgather(const Operand& stage, const Operand& data, const Signal& signal,
               std::source_location where);
void reduce_scatter(const Operand& data, const Signal& signal, ReduceOp op,
                    std::source_location where);
void all_to_all(const Operand& stage, const Operand& data, const Signal& signal,
                std::source_location where);
void all_to_all_v(const Operand& input, const Operand& target, const Signal& signal,
                  const Operand& send_counts, const Signal& recv_counts,
                  std::source_location where);

}  // namespace detail

namespace tensor {

using Location = std::source_location;

// No rank leaves before every rank has entered, and all transfers issued before it by any rank have
// landed: it orders loads and stores under every memory model. `signal` is [N, 1].
DistributedTensor<std::int32_t> barrier(const DistributedTensor<std::int32_t>& signal,
                                        Location where = Location::current());

// Reduces `data`, of any shape, over all ranks, in place: every rank's slice holds the result.
template <pl::Element T>
DistributedTensor<T> allreduce(const DistributedTensor<T>& data,
                               const DistributedTensor<std::int32_t>& signal,
                               ReduceOp op = ReduceOp::Sum,
                               AllreduceMode mode = AllreduceMode::Mesh,
                               Location where = Location::current()) {
  detail::allreduce(detail::Operand(data), signal, op, mode, where);
  return data;
}

// Copies root's `data` over every rank's. `signal` is [N, 1].
template <pl::Element T>
DistributedTensor<T> broadcast(const DistributedTensor<T>& data,
                               const DistributedTensor<std::int32_t>& signal, pl::Index root = 0,
                               Location where = Location::current()) {
  detail::broadcast(detail::Operand(data), signal, root.value(), where);
  return data;
}

// Pushes own `stage` [R, C] into block `me` of every rank's `data` [N * R, C]. `signal` is [N, 1].
template <pl::Element T>
DistributedTensor<T> allgather(const DistributedTensor<T>& stage, const DistributedTensor<T>& data,
                               const DistributedTensor<std::int32_t>& signal,
                               Location where = Location::current()) {
  detail::allgather(detail::Operand(stage), detail::Operand(data), signal, where);
  return data;
}

// Reduces block `me` of `data` [N * R, C] over all ranks, into own block `me`; own other blocks
// keep what was staged. `signal` is [N, 1].
template <pl::Element T>
DistributedTensor<T> reduce_scatter(const DistributedTensor<T>& data,
                                    const DistributedTensor<std::int32_t>& signal,
                                    ReduceOp op = ReduceOp::Sum,
                                    Location where = Location::current()) {
  detail::reduce_scatter(detail::Operand(data), signal, op, where);
  return data;
}

// Pushes block `d` of own `stage` into block `me` of rank d's `data`; both are [N * R, C]. `signal`
// is [N, 1].
template <pl::Element T>
DistributedTensor<T> all_to_all(const DistributedTensor<T>& stage, const DistributedTensor<T>& data,
                                const DistributedTensor<std::int32_t>& signal,
                                Location where = Location::current()) {
  detail::all_to_all(detail::Operand(stage), detail::Operand(data), signal, where);
  return data;
}

// The same with counts: the first send_counts[d] rows of block d move, and the receiver's
// recv_counts[me] says how many. `input` and `target` are [N * MAX_RECV, C], the counts are windows
// of [N, 1]; a count above MAX_RECV moves MAX_RECV rows, and a negative one is an error. Rows
// beyond a count keep what they held. `signal` is [N, 1].
template <pl::Element T>
DistributedTensor<T> all_to_all_v(const DistributedTensor<T>& input,
                                  const DistributedTensor<T>& target,
                                  const DistributedTensor<std::int32_t>& signal,
                                  const DistributedTensor<std::int32_t>& send_counts,
                                  const DistributedTensor<std::int32_t>& recv_counts,
                                  Location where = Location::current()) {
  detail::all_to_all_v(detail::Operand(input), detail::Operand(target), signal,
                       detail::Operand(send_counts), recv_counts, where);
  return target;
}

}  // namespace tensor
}  // namespace pld

#endif  // SYMRACE_CORE_COLLECTIVES_H_
