#include "emu/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace emu {
namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;
constexpr std::size_t kLineBytes = 64;

// Aligned to a large page, and of some of them.
std::byte* map(std::size_t bytes) {
  void* mapped = mmap(nullptr, bytes + kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(begin) % kPageBytes;
  const std::size_t before = beyond == 0 ? 0 : kPageBytes - beyond;
  if (before != 0) munmap(begin, before);
  if (before != kPageBytes) munmap(begin + before + bytes, kPageBytes - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a wish
#endif
  return begin + before;
}

}  // namespace

HugePages::~HugePages() {
  for (const Span& span : spans_) munmap(span.begin, span.bytes);
}

std::byte* HugePages::allocate(std::size_t bytes) {
  bytes = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  if (spans_.empty() || used_ + bytes > spans_.back().bytes) {
    // Address space only: what is not touched costs nothing.
    constexpr std::size_t kSpanBytes = 16 * kPageBytes;
    const std::size_t span =
        (std::max(bytes, kSpanBytes) + kPageBytes - 1) / kPageBytes * kPageBytes;
    spans_.reserve(spans_.size() + 1);
    spans_.push_back({map(span), span});
    used_ = 0;
  }
  std::byte* const given = spans_.back().begin + used_;
  used_ += bytes;
  return given;
}

}  // namespace emu
