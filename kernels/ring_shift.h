// The ring shift behind a barrier that steps 04 (with the built-in barrier) and 05 share.
#ifndef SYMRACE_KERNELS_RING_SHIFT_H_
#define SYMRACE_KERNELS_RING_SHIFT_H_

#include <cstdint>

#include "core/pl.h"
#include "core/pld.h"

namespace kernels {

template <class T>
void shift_by_load(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pld::DistributedTensor<T> data,
                   pld::DistributedTensor<std::int32_t> signal) {
  const auto ctx = pld::get_comm_ctx(data);
  const auto my_rank = pld::rank(ctx);
  const auto nranks = pld::nranks(ctx);

  const auto local = pl::load(x, {0, 0}, {1, x.cols()});
  data = pl::store(local, {0, 0}, data);

  signal = pld::tensor::barrier(signal);

  const auto peer = (my_rank + 1) % nranks;
  const auto recv = pld::tile::remote_load(data, peer, {0, 0}, {1, x.cols()});
  y = pl::store(recv, {0, 0}, y);
}

}  // namespace kernels

#endif  // SYMRACE_KERNELS_RING_SHIFT_H_
