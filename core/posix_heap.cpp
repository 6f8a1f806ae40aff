#include "core/posix_heap.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include <cstring>
#include <utility>

namespace symrace {
namespace {

namespace ipc = boost::interprocess;

constexpr const char* kSharedMemory = "/dev/shm";

std::uint64_t free_shared_memory() {
  struct statvfs info {};
  if (statvfs(kSharedMemory, &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PosixHeap>> PosixHeap::create(std::int32_t ranks) {
  if (ranks < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a heap for ", ranks, " ranks; expected at least 1"));
  }
  const std::uint64_t free_bytes = free_shared_memory();
  const std::uint64_t stride =
      free_bytes / static_cast<std::uint64_t>(ranks) / kWindowFloorBytes * kWindowFloorBytes;
  if (stride == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kSharedMemory, " has ", free_bytes, " bytes free, too little for ", ranks,
                     " ranks of at least one 4 KiB window; free some, or mount it larger"));
  }
  try {
    UnnamedObject object(kSharedMemory, stride * static_cast<std::uint64_t>(ranks));
    ipc::mapped_region region(object, ipc::read_write);
    return std::unique_ptr<PosixHeap>(
        new PosixHeap(ranks, stride, std::move(object), std::move(region)));
  } catch (const ipc::interprocess_exception& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot make a shared-memory object in ", kSharedMemory, ": ", error.what()));
  }
}

PosixHeap::PosixHeap(std::int32_t ranks, std::uint64_t slice_stride, UnnamedObject object,
                     ipc::mapped_region region)
    : SymmetricHeap(ranks), object_(std::move(object)), region_(std::move(region)) {
  base_ = static_cast<std::byte*>(region_.get_address());
  slice_stride_ = slice_stride;
}

absl::Status PosixHeap::back(std::uint64_t slice_bytes) {
  const auto full = [&](std::uint64_t free_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("windows of ", slice_bytes, " bytes on each of ", ranks(),
                     " ranks do not fit ", kSharedMemory, ", which has ", free_bytes,
                     " bytes free beside the ", slice_backed_ * static_cast<std::uint64_t>(ranks()),
                     " in use; make the windows smaller, use fewer ranks, or mount it larger"));
  };
  const std::uint64_t free_bytes = free_shared_memory();
  const std::uint64_t missing = slice_bytes - slice_backed_;
  if (slice_bytes > slice_stride_ || missing > free_bytes / static_cast<std::uint64_t>(ranks())) {
    return full(free_bytes);
  }
  const int descriptor = object_.get_mapping_handle().handle;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t begin = static_cast<std::uint64_t>(rank) * slice_stride_ + slice_backed_;
    const int error =
        posix_fallocate(descriptor, static_cast<off_t>(begin), static_cast<off_t>(missing));
    if (error != 0) return full(free_shared_memory());
  }
  slice_backed_ = slice_bytes;
  return absl::OkStatus();
}

void PosixHeap::write_slice(std::int32_t rank, std::uint64_t offset,
                            std::span<const std::byte> from) {
  std::memcpy(address(rank, offset), from.data(), from.size());
}

void PosixHeap::read_slice(std::int32_t rank, std::uint64_t offset, std::span<std::byte> to) const {
  std::memcpy(to.data(), address(rank, offset), to.size());
}

}  // namespace symrace
