// AclDevice: a card as one rank uses it, with a stream of its own and memory to stage in.
//
// All that the rank moves goes through the one stream, and so runs in program order. Bytes come
// from and go to the host by way of the rank's own card only: between two cards there are copies
// from device memory to device memory, and reductions.
#ifndef SYMRACE_CORE_ACL_DEVICE_H_
#define SYMRACE_CORE_ACL_DEVICE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/acl_runtime.h"

namespace symrace {

class AclDevice {
 public:
  // As much as one staged() gives: a whole on-core buffer, and the values of some notifies.
  static constexpr std::size_t kStagingBytes = 256 << 10;

  // `acl` outlives the device.
  AclDevice(AclRuntime& acl, std::int32_t id) : acl_(acl), id_(id) {}

  std::int32_t id() const { return id_; }

  // --- All on the rank's thread ---
  // Takes the card for the calling thread, and lets it reach `peers`, other cards.
  absl::Status open(std::span<const std::int32_t> peers);
  // Gives back what open() took, in reverse order and whatever fails; tells the first failure. The
  // stream has been synchronised.
  absl::Status close();

  // Queued on the stream.
  absl::Status copy(std::byte* to, const std::byte* from, std::size_t bytes, AclCopy kind) {
    return acl_.copy(to, from, bytes, kind, stream_);
  }
  absl::Status add(std::byte* to, const std::byte* from, std::size_t bytes, pl::DType dtype) {
    return acl_.add(to, from, bytes, dtype, stream_);
  }
  // Returns when all that was queued has run; at once where there is no stream.
  absl::Status synchronize();

  // Room for 1 to kStagingBytes bytes on the card, which nothing that is queued uses; waits for the
  // stream when all is in use.
  absl::StatusOr<std::byte*> room(std::size_t bytes);
  // The same with those bytes on their way into it: `from` may change at once.
  absl::StatusOr<std::byte*> staged(const std::byte* from, std::size_t bytes);

 private:
  static constexpr std::size_t kLineBytes = 64;  // to which the runtime wants addresses aligned
  struct alignas(kLineBytes) Line {
    std::byte bytes[kLineBytes];
  };

  absl::Status open_peer(std::int32_t peer);
  std::byte* mirror() { return mirror_.front().bytes; }

  AclRuntime& acl_;
  std::int32_t id_;
  bool is_set_ = false;
  AclStream stream_ = nullptr;
  std::byte* staging_ = nullptr;  // kStagingBytes on the card
  std::vector<Line> mirror_;      // its bytes before they are copied there
  std::size_t used_ = 0;          // of the staging, since the last synchronize()
};

}  // namespace symrace

#endif  // SYMRACE_CORE_ACL_DEVICE_H_
