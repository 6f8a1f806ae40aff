// AclHeap: the windows of ranks on a2a3 cards, one piece of device memory a rank.
#ifndef SYMRACE_CORE_ACL_HEAP_H_
#define SYMRACE_CORE_ACL_HEAP_H_

#include <absl/status/status.h>

#include <cstdint>
#include <vector>

#include "core/acl_runtime.h"
#include "core/heap.h"

namespace symrace {

// An allocation is a promise at first: take_slice() takes the memory of all windows in one piece.
// address() is a device pointer, valid from then to the next take_slice() of that rank; the host
// never follows it.
class AclHeap final : public SymmetricHeap {
 public:
  // `acl` outlives the heap. Whoever makes it sees to it that free_slice() is called.
  AclHeap(AclRuntime& acl, std::int32_t ranks);

  // Gives the rank's slice zero-filled memory for all that is allocated. No stream uses it. On the
  // thread of the rank's device, as all below.
  absl::Status take_slice(std::int32_t rank);
  absl::Status free_slice(std::int32_t rank);

 protected:
  absl::Status back(std::uint64_t) override { return absl::OkStatus(); }
  // Throw std::runtime_error where the runtime fails.
  void write_slice(std::int32_t rank, std::uint64_t offset,
                   std::span<const std::byte> from) override;
  void read_slice(std::int32_t rank, std::uint64_t offset, std::span<std::byte> to) const override;

 private:
  AclRuntime& acl_;
  std::vector<std::uint64_t> taken_;  // bytes of each slice
};

}  // namespace symrace

#endif  // SYMRACE_CORE_ACL_HEAP_H_
