// The barrier of step 04 on one row of a signal window, as the hand-rolled collectives use it: once
// a row.
#ifndef SYMRACE_KERNELS_BARRIER_BY_HAND_H_
#define SYMRACE_KERNELS_BARRIER_BY_HAND_H_

#include <cstdint>

#include "core/pld.h"

namespace kernels {

// Cell [row, src] says that rank src is here.
inline void barrier_by_hand(const pld::DistributedTensor<std::int32_t>& signal, std::int32_t row,
                            pl::Location where = pl::Location::current()) {
  const auto ctx = pld::get_comm_ctx(signal);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);
  for (std::int32_t peer = 0; peer < nranks; ++peer) {
    if (peer == my_rank) continue;
    pld::system::notify(signal, peer, {row, my_rank}, 1, pld::NotifyOp::AtomicAdd, where);
  }
  for (std::int32_t src = 0; src < nranks; ++src) {
    if (src == my_rank) continue;
    pld::system::wait(signal, {row, src}, 1, pld::WaitCmp::Ge, where);
  }
}

}  // namespace kernels

#endif  // SYMRACE_KERNELS_BARRIER_BY_HAND_H_
