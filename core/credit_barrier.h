// The credit barrier that every built-in collective but the ring is made of.
#ifndef SYMRACE_CORE_CREDIT_BARRIER_H_
#define SYMRACE_CORE_CREDIT_BARRIER_H_

#include <cstdint>

#include "core/rank_context.h"
#include "core/tensor.h"

namespace pld::detail {

// Throws KernelError unless `signal` has at least `rows` x `cols` cells.
void check_signal(const DistributedTensor<std::int32_t>& signal, std::int64_t rows,
                  std::int64_t cols, const symrace::Site& site);

// Barrier number g (from 1) notifies each peer's cell [me, 0] with AtomicAdd 1, then waits until
// each own cell [src, 0] is >= g: Ge, since a fast peer may already be one ahead. finish() adds -g
// to each own cell, so that all are zero when every rank has left.
class CreditBarrier {
 public:
  // Throws KernelError when `signal` has fewer rows than there are ranks.
  CreditBarrier(const DistributedTensor<std::int32_t>& signal, const symrace::Site& site);

  // Orders what this rank has read before it, in every model.
  void arrive_and_wait();
  // Orders its transfers too: they have landed at their targets before any rank leaves. Under
  // `documented` the notifies alone would order the peers after this rank's moves, but not this
  // rank's own later reads of a peer's slice after its own earlier stores there.
  void fence_and_wait();
  void finish();

 private:
  symrace::Cell cell_of(std::int32_t rank) const;

  const DistributedTensor<std::int32_t>& signal_;
  symrace::Site site_;
  symrace::RankContext& context_;
  std::int32_t generation_ = 0;
};

}  // namespace pld::detail

#endif  // SYMRACE_CORE_CREDIT_BARRIER_H_
