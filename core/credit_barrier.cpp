#include "core/credit_barrier.h"

#include <absl/strings/str_cat.h>

#include "core/checks.h"

namespace pld::detail {

void check_signal(const DistributedTensor<std::int32_t>& signal, std::int64_t rows,
                  std::int64_t cols, const symrace::Site& site) {
  if (signal.rows() >= rows && signal.cols() >= cols) return;
  symrace::checks::fail(
      site, absl::StrCat("signal window '", signal.window()->name, "' of shape [", signal.rows(),
                         ", ", signal.cols(), "] is too small; expected at least [", rows, ", ",
                         cols, "] for ", symrace::current_rank(site).world_size, " ranks"));
}

CreditBarrier::CreditBarrier(const DistributedTensor<std::int32_t>& signal,
                             const symrace::Site& site)
    : signal_(signal), site_(site), context_(symrace::current_rank(site)) {
  check_signal(signal, context_.world_size, 1, site);
}

symrace::Cell CreditBarrier::cell_of(std::int32_t rank) const {
  return {signal_.window(), signal_.region(rank, 0, 1, 1).offset};
}

void CreditBarrier::arrive_and_wait() {
  ++generation_;
  symrace::Fabric& fabric = *context_.fabric;
  for (std::int32_t step = 1; step < context_.world_size; ++step) {
    const std::int32_t peer = (context_.rank + step) % context_.world_size;
    fabric.notify(peer, cell_of(context_.rank), 1, NotifyOp::AtomicAdd, site_);
  }
  for (std::int32_t step = 1; step < context_.world_size; ++step) {
    const std::int32_t peer = (context_.rank + step) % context_.world_size;
    fabric.wait(cell_of(peer), generation_, WaitCmp::Ge, site_);
  }
}

void CreditBarrier::fence_and_wait() {
  context_.fabric->fence(site_);
  arrive_and_wait();
}

void CreditBarrier::finish() {
  for (std::int32_t step = 1; step < context_.world_size; ++step) {
    const std::int32_t peer = (context_.rank + step) % context_.world_size;
    context_.fabric->add_to_own_cell(cell_of(peer), -generation_, site_);
  }
}

}  // namespace pld::detail
