// PosixHeap: one object in shared memory that holds every rank's slice.
#ifndef SYMRACE_CORE_POSIX_HEAP_H_
#define SYMRACE_CORE_POSIX_HEAP_H_

#include <absl/status/statusor.h>

#include <boost/interprocess/mapped_region.hpp>
#include <memory>

#include "core/heap.h"
#include "core/unnamed_object.h"

namespace symrace {

// Address space is reserved for as much as /dev/shm has free; memory is taken window by window with
// posix_fallocate, so that a full /dev/shm is an error here and not a SIGBUS later. The object has
// no name at any moment: a killed run leaves nothing behind.
class PosixHeap final : public SymmetricHeap {
 public:
  // InvalidArgument for ranks < 1; ResourceExhausted when /dev/shm is full or missing.
  static absl::StatusOr<std::unique_ptr<PosixHeap>> create(std::int32_t ranks);

 protected:
  absl::Status back(std::uint64_t slice_bytes) override;
  void write_slice(std::int32_t rank, std::uint64_t offset,
                   std::span<const std::byte> from) override;
  void read_slice(std::int32_t rank, std::uint64_t offset, std::span<std::byte> to) const override;

 private:
  PosixHeap(std::int32_t ranks, std::uint64_t slice_stride, UnnamedObject object,
            boost::interprocess::mapped_region region);

  UnnamedObject object_;
  boost::interprocess::mapped_region region_;
  std::uint64_t slice_backed_ = 0;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_POSIX_HEAP_H_
