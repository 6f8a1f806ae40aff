#include "core/posix_heap.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/heap_owner.h"

namespace symrace {
namespace {

namespace ipc = boost::interprocess;

constexpr const char* kSharedMemory = "/dev/shm";

std::uint64_t free_shared_memory() {
  struct statvfs info {};
  if (statvfs(kSharedMemory, &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

absl::Status cannot_make(const ipc::interprocess_exception& error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot make a shared-memory object in ", kSharedMemory, ": ", error.what()));
}

// Bytes of a slice that leave room for `ranks` of them.
absl::StatusOr<std::uint64_t> largest_stride(std::int32_t ranks, std::uint64_t header_bytes) {
  if (ranks < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a heap for ", ranks, " ranks; expected at least 1"));
  }
  const std::uint64_t free_bytes = free_shared_memory();
  const std::uint64_t stride = (free_bytes - std::min(free_bytes, header_bytes)) /
                               static_cast<std::uint64_t>(ranks) / kWindowFloorBytes *
                               kWindowFloorBytes;
  if (stride != 0) return stride;
  return absl::ResourceExhaustedError(
      absl::StrCat(kSharedMemory, " has ", free_bytes, " bytes free, too little for ", ranks,
                   " ranks of at least one 4 KiB window; free some, or mount it larger"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PosixHeap>> PosixHeap::create(std::int32_t ranks) {
  const absl::StatusOr<std::uint64_t> stride = largest_stride(ranks, 0);
  if (!stride.ok()) return stride.status();
  try {
    UnnamedObject object(kSharedMemory, *stride * static_cast<std::uint64_t>(ranks));
    ipc::mapped_region region(object, ipc::read_write);
    std::unique_ptr<PosixHeap> heap(new PosixHeap(ranks, *stride, std::move(region), 0));
    heap->unnamed_.emplace(std::move(object));
    return heap;
  } catch (const ipc::interprocess_exception& error) {
    return cannot_make(error);
  }
}

absl::StatusOr<std::unique_ptr<PosixHeap>> PosixHeap::create(std::int32_t ranks,
                                                             const HeapLabel& label,
                                                             std::string_view engine) {
  if (label.name.empty()) return create(ranks);
  const absl::StatusOr<std::uint64_t> stride = largest_stride(ranks, kHeapHeaderBytes);
  if (!stride.ok()) return stride.status();
  if (const absl::Status room = make_room(label); !room.ok()) {
    return absl::Status(room.code(), absl::StrCat("heap '", label.name, "': ", room.message()));
  }
  bool is_ours = false;
  const std::string name = heap_object(label.name);
  try {
    ipc::permissions owner_only(0600);
    ipc::shared_memory_object object{ipc::create_only, name.c_str(), ipc::read_write, owner_only};
    is_ours = true;
    object.truncate(
        static_cast<ipc::offset_t>(kHeapHeaderBytes + *stride * static_cast<std::uint64_t>(ranks)));
    if (posix_fallocate(object.get_mapping_handle().handle, 0, kHeapHeaderBytes) != 0) {
      throw ipc::interprocess_exception(ipc::error_info(ipc::out_of_resource_error));
    }
    ipc::mapped_region region(object, ipc::read_write);
    std::unique_ptr<PosixHeap> heap(
        new PosixHeap(ranks, *stride, std::move(region), kHeapHeaderBytes));
    heap->named_ = std::move(object);
    const HeapOwner owner = this_process();
    heap->header_.emplace(static_cast<std::byte*>(heap->region_.get_address()),
                          HeapLayout{.ranks = ranks,
                                     .slice_stride = *stride,
                                     .owner = owner.process,
                                     .owner_start = owner.start,
                                     .engine = std::string(engine),
                                     .program = label.program,
                                     .windows = {}});
    heap->is_named_ = true;
    return heap;
  } catch (const ipc::interprocess_exception& error) {
    if (is_ours) ipc::shared_memory_object::remove(name.c_str());
    return cannot_make(error);
  }
}

PosixHeap::PosixHeap(std::int32_t ranks, std::uint64_t slice_stride, ipc::mapped_region region,
                     std::uint64_t header_bytes)
    : SymmetricHeap(ranks),
      region_(std::move(region)),
      header_bytes_(header_bytes),
      slice_stride_(slice_stride) {
  auto* slice = static_cast<std::byte*>(region_.get_address()) + header_bytes;
  for (std::byte*& begin : slices_) {
    begin = slice;
    slice += slice_stride;
  }
}

PosixHeap::~PosixHeap() {
  if (!header_) return;
  header_->mark_ended();
  if (!header_->lists_windows()) ipc::shared_memory_object::remove(named_.get_name());
}

void PosixHeap::list_windows(const std::deque<Window>& windows, std::size_t count) {
  if (header_) header_->list(windows, count, used_bytes());
}

void PosixHeap::mark_signal(const Window& window) {
  if (header_) header_->mark_signal(window.index);
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
  const int descriptor =
      (unnamed_ ? unnamed_->get_mapping_handle() : named_.get_mapping_handle()).handle;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    const std::uint64_t begin =
        header_bytes_ + static_cast<std::uint64_t>(rank) * slice_stride_ + slice_backed_;
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
