#include "emu/strategies.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <string>

namespace emu {
namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)();
};
constexpr Named kStrategies[] = {{"random", make_random_strategy},
                                 {"round-robin", make_round_robin_strategy}};

}  // namespace

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Named& strategy : kStrategies) names.push_back(strategy.name);
  return names;
}

absl::StatusOr<std::unique_ptr<Strategy>> make_strategy(std::string_view name) {
  for (const Named& strategy : kStrategies) {
    if (strategy.name == name) return strategy.make();
  }
  std::vector<std::string> names;
  for (const std::string_view known : strategy_names()) names.emplace_back(known);
  return absl::InvalidArgumentError(absl::StrCat("unknown strategy '", std::string(name),
                                                 "'; expected ", absl::StrJoin(names, " or ")));
}

}  // namespace emu
