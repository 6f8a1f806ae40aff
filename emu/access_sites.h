// What many accesses have in common: the op, its line, and the shape and window of its region. The
// shadow keeps an access as a number of one of these and what is its own.
#ifndef SYMRACE_EMU_ACCESS_SITES_H_
#define SYMRACE_EMU_ACCESS_SITES_H_

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emu/access.h"

namespace emu {

struct AccessSite {
  AccessKind kind = AccessKind::kRead;
  symrace::OpKind op = symrace::OpKind::kLoad;
  bool in_own_view = false;
  bool reads_source_late = false;
  pld::WaitCmp cmp = pld::WaitCmp::Ge;
  pl::DType dtype = pl::DType::INT32;
  std::uint32_t offset_high = 0;  // of the region's offset
  const symrace::Window* window = nullptr;
  symrace::Extent extent;
  std::source_location where;
};

class AccessSites {
 public:
  // Numbers are given in the order of first sight.
  std::uint32_t number_of(const Access& access) {
    const std::size_t at = cache_index(access);
    const std::uint32_t cached = cache_[at];
    if (cached < sites_.size() && is_of(sites_[cached], access)) return cached;
    return cache_[at] = find(access);
  }
  const AccessSite& operator[](std::uint32_t number) const { return sites_[number]; }

  // Forgets them once they are many: no schedule may go on with another's numbers.
  void begin();

 private:
  static constexpr std::size_t kCached = 64;

  static std::size_t cache_index(const Access& access) {
    return (access.where.line() * 5U + static_cast<unsigned>(access.kind) * 2U +
            static_cast<unsigned>(access.region.extent.row_bytes / 4)) %
           kCached;
  }
  static bool is_of(const AccessSite& site, const Access& access) {
    const symrace::WindowRegion& region = access.region;
    return same_record(site.where, access.where) && site.kind == access.kind &&
           site.op == access.op && site.window == region.window &&
           site.extent.row_bytes == region.extent.row_bytes &&
           site.extent.rows == region.extent.rows && site.extent.stride == region.extent.stride &&
           site.dtype == region.dtype && site.in_own_view == access.in_own_view &&
           site.reads_source_late == access.reads_source_late && site.cmp == access.cmp &&
           site.offset_high == region.offset >> 32;
  }
  std::uint32_t find(const Access& access);

  std::array<std::uint32_t, kCached> cache_{};
  std::vector<AccessSite> sites_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_ACCESS_SITES_H_
