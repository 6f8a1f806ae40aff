#include "core/acl_device.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

namespace symrace {

absl::Status AclDevice::open(std::span<const std::int32_t> peers) {
  if (absl::Status status = acl_.set_device(id_); !status.ok()) return status;
  is_set_ = true;
  absl::StatusOr<AclStream> stream = acl_.create_stream();
  if (!stream.ok()) return stream.status();
  stream_ = *stream;
  absl::StatusOr<std::byte*> staging = acl_.allocate(kStagingBytes);
  if (!staging.ok()) return staging.status();
  staging_ = *staging;
  mirror_.resize(kStagingBytes / kLineBytes);
  for (const std::int32_t peer : peers) {
    if (absl::Status status = open_peer(peer); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AclDevice::open_peer(std::int32_t peer) {
  const absl::StatusOr<bool> can_access = acl_.can_access_peer(id_, peer);
  if (!can_access.ok()) return can_access.status();
  if (!*can_access) {
    return absl::FailedPreconditionError(
        absl::StrCat("device ", id_, " cannot access device ", peer,
                     "; expected devices with access to one another, as 'a2a3sim devices' tells"));
  }
  return acl_.enable_peer_access(peer);
}

absl::Status AclDevice::close() {
  absl::Status first;
  if (staging_ != nullptr) first.Update(acl_.free(std::exchange(staging_, nullptr)));
  if (stream_ != nullptr) first.Update(acl_.destroy_stream(std::exchange(stream_, nullptr)));
  if (std::exchange(is_set_, false)) first.Update(acl_.reset_device(id_));
  return first;
}

absl::Status AclDevice::synchronize() {
  if (stream_ == nullptr) return absl::OkStatus();
  used_ = 0;
  return acl_.synchronize(stream_);
}

absl::StatusOr<std::byte*> AclDevice::room(std::size_t bytes) {
  if (bytes > kStagingBytes - used_) {
    if (absl::Status status = synchronize(); !status.ok()) return status;
  }
  std::byte* taken = staging_ + used_;
  used_ += (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  return taken;
}

absl::StatusOr<std::byte*> AclDevice::staged(const std::byte* from, std::size_t bytes) {
  absl::StatusOr<std::byte*> taken = room(bytes);
  if (!taken.ok()) return taken;
  std::byte* source = mirror() + (*taken - staging_);
  std::memcpy(source, from, bytes);
  if (absl::Status status = copy(*taken, source, bytes, AclCopy::kHostToDevice); !status.ok()) {
    return status;
  }
  return taken;
}

}  // namespace symrace
