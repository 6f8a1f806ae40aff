// PosixHeap: one object in shared memory that holds every rank's slice.
#ifndef SYMRACE_CORE_POSIX_HEAP_H_
#define SYMRACE_CORE_POSIX_HEAP_H_

#include <absl/status/statusor.h>

#include <boost/interprocess/mapped_region.hpp>
#include <boost/interprocess/shared_memory_object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/heap.h"
#include "core/heap_header.h"
#include "core/named_heap.h"
#include "core/unnamed_object.h"

namespace symrace {

// Address space is reserved for as much as /dev/shm has free; memory is taken window by window with
// posix_fallocate, so that a full /dev/shm is an error here and not a SIGBUS later. The object has
// no name at any moment: a killed run leaves nothing behind. A named heap is the exception: its
// object, of mode 0600, stays, with a header in front of the slices (core/heap_header.h), but not
// when it never had a window.
class PosixHeap final : public SymmetricHeap {
 public:
  // InvalidArgument for ranks < 1; ResourceExhausted when /dev/shm is full or missing.
  static absl::StatusOr<std::unique_ptr<PosixHeap>> create(std::int32_t ranks);
  // A named heap, unless the label has no name. `engine` is for those who look. Beside the above:
  // InvalidArgument for what is no name, AlreadyExists when it is taken.
  static absl::StatusOr<std::unique_ptr<PosixHeap>> create(std::int32_t ranks,
                                                           const HeapLabel& label,
                                                           std::string_view engine);
  ~PosixHeap() override;

  void list_windows(const std::deque<Window>& windows, std::size_t count) override;

 protected:
  absl::Status back(std::uint64_t slice_bytes) override;
  void write_slice(std::int32_t rank, std::uint64_t offset,
                   std::span<const std::byte> from) override;
  void read_slice(std::int32_t rank, std::uint64_t offset, std::span<std::byte> to) const override;
  void mark_signal(const Window& window) override;

 private:
  PosixHeap(std::int32_t ranks, std::uint64_t slice_stride,
            boost::interprocess::mapped_region region, std::uint64_t header_bytes);

  std::optional<UnnamedObject> unnamed_;             // unless it is a named heap,
  boost::interprocess::shared_memory_object named_;  // which has this one
  boost::interprocess::mapped_region region_;
  std::uint64_t header_bytes_;  // in front of the first slice
  std::uint64_t slice_stride_;
  std::uint64_t slice_backed_ = 0;
  std::optional<HeapHeaderWriter> header_;  // of a named heap
};

}  // namespace symrace

#endif  // SYMRACE_CORE_POSIX_HEAP_H_
