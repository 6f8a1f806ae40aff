#include "tests/acl_double/device_memory.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "tests/acl_double/errors.h"

namespace acl_double {
namespace {

constexpr std::size_t kPieceBytes = 4096;
constexpr std::byte kPattern{0xa5};

std::uintptr_t number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::string text_of(const void* pointer) {
  return absl::StrCat("0x", absl::Hex(number_of(pointer)));
}

std::size_t whole_pages(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Its pages at once: what is allocated is filled.
std::byte* map_shared(int memfd, std::size_t bytes, int rights) {
  void* address = mmap(nullptr, bytes, rights, MAP_SHARED | MAP_POPULATE, memfd, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

template <class Piece>
void in_pieces(std::size_t bytes, Piece piece) {
  static std::mutex bus;
  for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
    const std::lock_guard<std::mutex> lock(bus);
    piece(done, std::min(kPieceBytes, bytes - done));
  }
}

}  // namespace

Backing::Backing(int memfd, std::size_t bytes)
    : bytes_(map_shared(memfd, bytes, PROT_READ | PROT_WRITE)), mapped_(bytes) {}

Backing::~Backing() {
  if (bytes_ != nullptr) munmap(bytes_, mapped_);
}

void* DeviceMemory::allocate(std::int32_t device, std::size_t bytes) {
  const std::size_t mapped = whole_pages(bytes);
  const int memfd = memfd_create("acl_double", MFD_CLOEXEC);
  if (memfd < 0) return nullptr;
  std::byte* address = nullptr;
  std::shared_ptr<Backing> backing;
  if (posix_fallocate(memfd, 0, static_cast<off_t>(mapped)) == 0) {
    address = map_shared(memfd, mapped, PROT_NONE);
    backing = std::make_shared<Backing>(memfd, mapped);
  }
  close(memfd);
  if (address == nullptr || backing->bytes() == nullptr) {
    if (address != nullptr) munmap(address, mapped);
    return nullptr;
  }
  fill_bytes(backing->bytes(), kPattern, mapped);
  allocations_.emplace(address, Allocation{device, bytes, mapped, std::move(backing)});
  return address;
}

DeviceRange DeviceMemory::allocation_at(const void* pointer) const {
  const auto found = allocations_.find(pointer);
  if (found == allocations_.end()) {
    misuse(ACL_ERROR_RT_MEMORY_FREE, absl::StrCat(text_of(pointer),
                                                  " is not from aclrtMalloc; expected a pointer "
                                                  "that it returned"));
  }
  const Allocation& allocation = found->second;
  if (allocation.backing == nullptr) {
    misuse(ACL_ERROR_RT_MEMORY_FREE,
           absl::StrCat(text_of(found->first), " was ", allocation.gone, " before"));
  }
  return {allocation.device, allocation.backing, allocation.backing->bytes()};
}

void DeviceMemory::retire(Allocations::value_type& entry, const char* reason) {
  entry.second.backing.reset();
  entry.second.gone = reason;
  // The address stays reserved, its pages are given back.
  static_cast<void>(mmap(entry.first, entry.second.mapped, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

void DeviceMemory::free(const void* pointer) { retire(*allocations_.find(pointer), "freed"); }

void DeviceMemory::free_device(std::int32_t device, const char* reason) {
  for (auto& entry : allocations_) {
    if (entry.second.device == device && entry.second.backing != nullptr) retire(entry, reason);
  }
}

std::optional<DeviceRange> DeviceMemory::find(const void* pointer, std::size_t bytes) const {
  const auto next = allocations_.upper_bound(pointer);
  if (next != allocations_.begin()) {
    const auto& [first, allocation] = *std::prev(next);
    const std::size_t offset = number_of(pointer) - number_of(first);
    if (offset < allocation.mapped) {
      if (allocation.backing == nullptr) {
        misuse(ACL_ERROR_RT_PARAM_INVALID,
               absl::StrCat(text_of(pointer), " is in device memory that was ", allocation.gone));
      }
      if (offset > allocation.bytes || bytes > allocation.bytes - offset) {
        misuse(ACL_ERROR_RT_PARAM_INVALID,
               absl::StrCat("bytes [", offset, ", ", offset + bytes, ") of an allocation of ",
                            allocation.bytes, " bytes at ", text_of(first)));
      }
      return DeviceRange{allocation.device, allocation.backing,
                         allocation.backing->bytes() + offset};
    }
  }
  if (next != allocations_.end() && number_of(next->first) - number_of(pointer) < bytes) {
    misuse(ACL_ERROR_RT_PARAM_INVALID, absl::StrCat(bytes, " bytes at ", text_of(pointer),
                                                    " run from host into device memory"));
  }
  return std::nullopt;
}

std::size_t DeviceMemory::used_bytes(std::int32_t device) const {
  std::size_t used = 0;
  for (const auto& [address, allocation] : allocations_) {
    if (allocation.device == device && allocation.backing != nullptr) used += allocation.bytes;
  }
  return used;
}

std::vector<std::string> DeviceMemory::live(std::int32_t device,
                                            const std::set<const void*>& excused) const {
  std::vector<std::string> texts;
  for (const auto& [address, allocation] : allocations_) {
    if (allocation.device != device || allocation.backing == nullptr) continue;
    if (excused.contains(address)) continue;
    texts.push_back(absl::StrCat(allocation.bytes, " bytes at ", text_of(address)));
  }
  return texts;
}

void DeviceMemory::clear() {
  for (const auto& [address, allocation] : allocations_) {
    munmap(address, allocation.mapped);
  }
  allocations_.clear();
}

void move_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  in_pieces(bytes, [&](std::size_t offset, std::size_t piece) {
    std::memmove(to + offset, from + offset, piece);
  });
}

void fill_bytes(std::byte* to, std::byte value, std::size_t bytes) {
  in_pieces(bytes, [&](std::size_t offset, std::size_t piece) {
    std::memset(to + offset, static_cast<int>(value), piece);
  });
}

void reduce_bytes(pld::ReduceOp op, pl::DType dtype, std::byte* to, const std::byte* from,
                  std::size_t bytes) {
  in_pieces(bytes, [&](std::size_t offset, std::size_t piece) {
    symrace::reduce(op, dtype, to + offset, from + offset, static_cast<std::int64_t>(piece));
  });
}

}  // namespace acl_double
