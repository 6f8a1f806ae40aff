#include "emu/linear_extensions.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_format.h>

#include <algorithm>

namespace emu {
namespace {

absl::uint128 saturating_sum(absl::uint128 a, absl::uint128 b) {
  return a > absl::Uint128Max() - b ? absl::Uint128Max() : a + b;
}

}  // namespace

ScheduleCount& ScheduleCount::operator+=(const ScheduleCount& other) {
  known = known && other.known;
  count = saturating_sum(count, other.count);
  return *this;
}

std::string ScheduleCount::text() const {
  std::string digits;
  if (count < absl::uint128{1000000000}) {
    digits = absl::StrFormat("%d", static_cast<std::uint64_t>(count));
  } else {
    digits = absl::StrFormat("%.1e", static_cast<double>(count));
  }
  return known ? digits : "more than " + digits;
}

ScheduleCount linear_extensions(const std::vector<std::uint64_t>& before, std::size_t& budget) {
  if (before.size() > 64 || budget == 0) return {1, false};
  // Layer k: every set of k events that is closed under `before`, with the ways to reach it. Sums
  // are exact integers, so that the table's order does not matter.
  absl::flat_hash_map<std::uint64_t, absl::uint128> layer = {{0, 1}};
  for (std::size_t k = 0; k < before.size(); ++k) {
    absl::flat_hash_map<std::uint64_t, absl::uint128> next;
    for (const auto& [set, ways] : layer) {
      for (std::size_t event = 0; event < before.size(); ++event) {
        const std::uint64_t bit = std::uint64_t{1} << event;
        if ((set & bit) != 0 || (before[event] & ~set) != 0) continue;
        absl::uint128& sum = next[set | bit];
        sum = saturating_sum(sum, ways);
      }
    }
    if (next.size() >= budget) {
      budget = 0;
      return {1, false};
    }
    budget -= next.size();
    layer.swap(next);
  }
  return {layer.begin()->second, layer.begin()->second != absl::Uint128Max()};
}

}  // namespace emu
