#include "emu/strategies.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <charconv>
#include <string>

namespace emu {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)();
};
constexpr Named kStrategies[] = {{"random", make_random_strategy},
                                 {"round-robin", make_round_robin_strategy},
                                 {"uniform", make_uniform_strategy}};
constexpr std::string_view kPct = "pct:";

}  // namespace

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Named& strategy : kStrategies) names.push_back(strategy.name);
  names.push_back("pct:D");
  return names;
}

absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name) {
  for (const Named& strategy : kStrategies) {
    if (strategy.name == name) return strategy.make();
  }
  if (name.substr(0, kPct.size()) == kPct) {
    const std::string_view digits = name.substr(kPct.size());
    std::uint32_t depth = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), depth);
    if (error == std::errc() && end == digits.data() + digits.size() && depth >= 1) {
      return make_pct_strategy(depth);
    }
    return absl::InvalidArgumentError(absl::StrCat("'", std::string(name),
                                                   "' has no depth; expected pct:D with an integer "
                                                   "D of at least 1, as pct:3"));
  }
  std::vector<std::string> names;
  for (const std::string_view known : strategy_names()) names.emplace_back(known);
  return absl::InvalidArgumentError(absl::StrCat("unknown strategy '", std::string(name),
                                                 "'; expected ", absl::StrJoin(names, " or ")));
}

}  // namespace emu
