#include "tests/emu/bug_run.h"

#include <algorithm>
#include <regex>

namespace emu::testing {
namespace {

std::string filled_in(std::string pattern, std::int32_t rank, std::int32_t ranks) {
  const std::pair<std::string, std::int32_t> names[] = {
      {"{r}", rank}, {"{next}", (rank + 1) % ranks}, {"{previous}", (rank + ranks - 1) % ranks}};
  for (const auto& [name, value] : names) {
    for (std::size_t at = 0; (at = pattern.find(name)) != pattern.npos;) {
      pattern.replace(at, name.size(), std::to_string(value));
    }
  }
  return pattern;
}

}  // namespace

bool all_are(const std::string& identity, const RunResult& result, std::int32_t ranks) {
  return std::all_of(result.mismatches.begin(), result.mismatches.end(),
                     [&](const symrace::Mismatch& mismatch) {
                       const std::regex expected(filled_in(identity, mismatch.rank, ranks));
                       return std::regex_match(mismatch.identity, expected);
                     });
}

bool is_in(const std::string& expression, const std::string& text) {
  return std::regex_search(text, std::regex(expression));
}

}  // namespace emu::testing
