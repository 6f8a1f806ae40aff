#include "core/heap.h"

#include <absl/strings/str_cat.h>

#include <limits>

namespace symrace {

absl::StatusOr<std::uint64_t> SymmetricHeap::allocate(std::int64_t bytes) {
  if (bytes <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("window of ", bytes, " bytes; expected a positive size"));
  }
  constexpr std::uint64_t kMask = kWindowFloorBytes - 1;
  const std::uint64_t rounded = (static_cast<std::uint64_t>(bytes) + kMask) & ~kMask;
  const std::uint64_t end = used_ + rounded;  // both below 2^63 + 4096: no overflow
  if (end > backed_) {
    if (absl::Status status = back(end); !status.ok()) return status;
    backed_ = end;
  }
  const std::uint64_t offset = used_;
  used_ = end;
  return offset;
}

}  // namespace symrace
