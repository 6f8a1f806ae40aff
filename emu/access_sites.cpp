#include "emu/access_sites.h"

namespace emu {

void AccessSites::begin() {
  constexpr std::size_t kMany = 4096;
  if (sites_.size() < kMany) return;
  sites_.clear();
  by_hash_.clear();
}

std::uint32_t AccessSites::find(const Access& access) {
  // Not the window's address: what follows must not depend on it, not even in speed.
  std::uint64_t hash = access.where.line();
  for (const std::uint64_t field :
       {static_cast<std::uint64_t>(access.kind), static_cast<std::uint64_t>(access.op),
        static_cast<std::uint64_t>(access.region.extent.rows),
        static_cast<std::uint64_t>(access.region.extent.row_bytes)}) {
    hash = (hash ^ field) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (is_of(sites_[known->second], access)) return known->second;
  }
  const auto number = static_cast<std::uint32_t>(sites_.size());
  const symrace::WindowRegion& region = access.region;
  sites_.push_back({.kind = access.kind,
                    .op = access.op,
                    .in_own_view = access.in_own_view,
                    .reads_source_late = access.reads_source_late,
                    .cmp = access.cmp,
                    .dtype = region.dtype,
                    .offset_high = static_cast<std::uint32_t>(region.offset >> 32),
                    .window = region.window,
                    .extent = region.extent,
                    .where = access.where});
  by_hash_.emplace(hash, number);
  return number;
}

}  // namespace emu
