// The credit barrier that every built-in collective is made of.
#ifndef SYMRACE_CORE_COLLECTIVES_H_
#define SYMRACE_CORE_COLLECTIVES_H_

#include <cstdint>

#include "core/pld.h"

namespace pld::detail {

// Barrier number g (from 1) fences, notifies each peer's cell [me, 0] with AtomicAdd 1, then waits
// until each own cell [src, 0] is >= g: Ge, since a fast peer may already be one ahead. finish()
// adds -g to each own cell, so that all are zero when every rank has left.
class CreditBarrier {
 public:
  // Throws KernelError when `signal` has fewer rows than there are ranks.
  CreditBarrier(const DistributedTensor<std::int32_t>& signal, const Site& site);
  void arrive_and_wait();
  void finish();

 private:
  symrace::Cell cell_of(std::int32_t rank) const;

  const DistributedTensor<std::int32_t>& signal_;
  Site site_;
  symrace::RankContext& context_;
  std::int32_t generation_ = 0;
};

}  // namespace pld::detail

#endif  // SYMRACE_CORE_COLLECTIVES_H_
