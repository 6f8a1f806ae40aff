// SymmetricHeap: the only way to a window. Every rank has a slice; an allocation has the same
// offset in every slice, so a peer's address is its slice's base plus the local offset.
#ifndef SYMRACE_CORE_HEAP_H_
#define SYMRACE_CORE_HEAP_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/region.h"

namespace symrace {

// A window costs at least this much of each rank's slice, and starts on a multiple of it.
inline constexpr std::uint64_t kWindowFloorBytes = 4096;

class SymmetricHeap {
 public:
  explicit SymmetricHeap(std::int32_t ranks)
      : slices_(static_cast<std::size_t>(ranks)), ranks_(ranks) {}
  SymmetricHeap(const SymmetricHeap&) = delete;
  SymmetricHeap& operator=(const SymmetricHeap&) = delete;
  virtual ~SymmetricHeap() = default;

  std::int32_t ranks() const { return ranks_; }
  std::uint64_t used_bytes() const { return used_; }  // of each slice

  // Reserves `bytes` (rounded up to 4 KiB) at the returned offset of every slice, zero-filled.
  // InvalidArgument for bytes <= 0, ResourceExhausted when the backend is full.
  absl::StatusOr<std::uint64_t> allocate(std::int64_t bytes);
  // Forgets all allocations and keeps their memory. The caller has zeroed what it wrote.
  void forget_allocations() { used_ = 0; }

  // Whether other processes look at it while it lives, and at what it leaves behind.
  bool is_named() const { return is_named_; }
  // Tells them what it holds: the first `count` of `windows`, of a schedule that is to begin.
  virtual void list_windows(const std::deque<Window>& /*windows*/, std::size_t /*count*/) {}
  // Tells them that an op signals or awaits cells of the window. Thread-safe.
  void note_signal(const Window& window) {
    if (is_named_) [[unlikely]]
      mark_signal(window);
  }

  // Typed copies between host memory and a slice.
  template <class T>
  void copy_in(std::int32_t rank, std::uint64_t offset, std::span<const T> from) {
    write_slice(rank, offset, std::as_bytes(from));
  }
  template <class T>
  void copy_out(std::int32_t rank, std::uint64_t offset, std::span<T> to) const {
    read_slice(rank, offset, std::as_writable_bytes(to));
  }

  // Where the bytes are: host memory for PosixHeap, a device pointer for a hardware heap.
  std::byte* address(std::int32_t rank, std::uint64_t offset) const {
    return slices_[static_cast<std::size_t>(rank)] + offset;
  }

 protected:
  // Makes the first `slice_bytes` of every slice usable and zero where they were not yet.
  virtual absl::Status back(std::uint64_t slice_bytes) = 0;
  virtual void write_slice(std::int32_t rank, std::uint64_t offset,
                           std::span<const std::byte> from) = 0;
  virtual void read_slice(std::int32_t rank, std::uint64_t offset,
                          std::span<std::byte> to) const = 0;
  virtual void mark_signal(const Window& /*window*/) {}

  // Where each rank's slice begins: the backend's to set.
  std::vector<std::byte*> slices_;
  bool is_named_ = false;

 private:
  std::int32_t ranks_;
  std::uint64_t used_ = 0;
  std::uint64_t backed_ = 0;  // invariant: used_ <= backed_, multiples of the floor
};

}  // namespace symrace

#endif  // SYMRACE_CORE_HEAP_H_
