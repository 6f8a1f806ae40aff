#include "emu/determinism.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace emu {
namespace {

std::vector<std::string> lines_of(const RecordedRun& run) {
  std::vector<std::string> lines;
  std::istringstream text(timeline(run.log));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string difference(const RecordedRun& a, const RecordedRun& b) {
  const std::vector<std::string> first = lines_of(a);
  const std::vector<std::string> second = lines_of(b);
  const std::size_t common = std::min(first.size(), second.size());
  std::size_t at = 0;
  while (at < common && first[at] == second[at]) ++at;
  if (at < common) {
    return absl::StrCat("event ", at + 1, " is '", first[at], "' the first time, and '", second[at],
                        "' the second");
  }
  if (first.size() != second.size()) {
    return absl::StrCat("there are ", first.size(), " events the first time, and ", second.size(),
                        " the second");
  }
  return "the same events move other bytes the second time";
}

}  // namespace

DeterminismCheck check_determinism(Explorer& explorer, Strategy& strategy, const Seeds& seeds) {
  DeterminismCheck check;
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    const std::uint64_t seed = seeds.first + i;
    const RecordedRun first = explorer.record(strategy, seed);
    const RecordedRun second = explorer.record(strategy, seed);
    for (const RecordedRun* run : {&first, &second}) {
      check.interrupted = check.interrupted || run->result.outcome == Outcome::kInterrupted;
    }
    if (check.interrupted) break;
    ++check.schedules;
    if (first.trace_hash != second.trace_hash || first.decisions != second.decisions) {
      check.divergence = {seed, difference(first, second)};
      break;
    }
  }
  return check;
}

}  // namespace emu
