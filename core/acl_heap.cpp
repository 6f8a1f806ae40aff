#include "core/acl_heap.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace symrace {
namespace {

void require(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

}  // namespace

AclHeap::AclHeap(AclRuntime& acl, std::int32_t ranks)
    : SymmetricHeap(ranks), acl_(acl), taken_(static_cast<std::size_t>(ranks)) {}

absl::Status AclHeap::take_slice(std::int32_t rank) {
  const auto r = static_cast<std::size_t>(rank);
  if (used_bytes() == 0) return absl::OkStatus();
  if (used_bytes() > taken_[r]) {
    if (absl::Status status = free_slice(rank); !status.ok()) return status;
    absl::StatusOr<std::byte*> slice = acl_.allocate(used_bytes());
    if (!slice.ok()) return slice.status();
    slices_[r] = *slice;
    taken_[r] = used_bytes();
  }
  return acl_.zero(slices_[r], used_bytes());
}

absl::Status AclHeap::free_slice(std::int32_t rank) {
  const auto r = static_cast<std::size_t>(rank);
  if (std::exchange(taken_[r], 0) == 0) return absl::OkStatus();
  return acl_.free(std::exchange(slices_[r], nullptr));
}

void AclHeap::write_slice(std::int32_t rank, std::uint64_t offset,
                          std::span<const std::byte> from) {
  if (from.empty()) return;
  require(acl_.copy(address(rank, offset), from.data(), from.size(), AclCopy::kHostToDevice));
}

void AclHeap::read_slice(std::int32_t rank, std::uint64_t offset, std::span<std::byte> to) const {
  if (to.empty()) return;
  require(acl_.copy(to.data(), address(rank, offset), to.size(), AclCopy::kDeviceToHost));
}

}  // namespace symrace
