// The memory of the devices. An allocation is a memfd mapped twice: the address that the caller
// gets has no access rights, and the bytes are reached through a mapping that only the double
// knows. A freed address is never handed out again, so that its use is always noticed.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_DEVICE_MEMORY_H_
#define SYMRACE_TESTS_ACL_DOUBLE_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/reduce.h"

namespace acl_double {

// The bytes of one allocation, alive as long as an operation uses them.
class Backing {
 public:
  Backing(int memfd, std::size_t bytes);
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  ~Backing();
  std::byte* bytes() const { return bytes_; }

 private:
  std::byte* bytes_;
  std::size_t mapped_;
};

// Part of one allocation.
struct DeviceRange {
  std::int32_t device;
  std::shared_ptr<Backing> backing;
  std::byte* bytes;
};

// Not synchronised: the runtime's lock guards it. Misuse is thrown.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { clear(); }

  // Filled with a pattern. Null when the machine has no memory left.
  void* allocate(std::int32_t device, std::size_t bytes);
  // The allocation that starts at `pointer`.
  DeviceRange allocation_at(const void* pointer) const;
  void free(const void* pointer);
  // Frees all of a device, for the reason that later uses are told.
  void free_device(std::int32_t device, const char* reason);

  // Nothing for memory of the host. A range that is freed, or leaves its allocation, is misuse.
  std::optional<DeviceRange> find(const void* pointer, std::size_t bytes) const;

  std::size_t used_bytes(std::int32_t device) const;
  // "4096 bytes at 0x..." of each live allocation of a device, without those in `excused`.
  std::vector<std::string> live(std::int32_t device, const std::set<const void*>& excused) const;
  void clear();

 private:
  struct Allocation {
    std::int32_t device;
    std::size_t bytes;
    std::size_t mapped;
    std::shared_ptr<Backing> backing;  // null once freed
    const char* gone = nullptr;
  };
  using Allocations = std::map<std::byte*, Allocation, std::less<>>;

  static void retire(Allocations::value_type& entry, const char* reason);

  Allocations allocations_;
};

// Moves go in pieces of 4 KiB, one piece of the process at a time: reductions are atomic, and long
// moves are torn where nothing orders them.
void move_bytes(std::byte* to, const std::byte* from, std::size_t bytes);
void fill_bytes(std::byte* to, std::byte value, std::size_t bytes);
void reduce_bytes(pld::ReduceOp op, pl::DType dtype, std::byte* to, const std::byte* from,
                  std::size_t bytes);

}  // namespace acl_double

#endif  // SYMRACE_TESTS_ACL_DOUBLE_DEVICE_MEMORY_H_
