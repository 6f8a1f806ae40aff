// doctest matchers for emu::explore; a failed one prints the report.
//
//   CHECK(emu::explore(program) == emu::passes());
//   CHECK(emu::explore(program, {.strategy = emu::Exhaustive{}}) == emu::is_verified());
//   CHECK(emu::explore(buggy) == emu::finds("zeros"));
#ifndef SYMRACE_EMU_DOCTEST_H_
#define SYMRACE_EMU_DOCTEST_H_

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "emu/symrace.h"

namespace emu {

struct ResultMatcher {
  enum class Wants { kPasses, kVerified, kFinding } wants = Wants::kPasses;
  std::string finding = {};  // a symptom or a kind

  friend bool operator==(const ExploreResult& result, const ResultMatcher& matcher) {
    switch (matcher.wants) {
      case Wants::kPasses:
        return result.ok();
      case Wants::kVerified:
        return result.verified();
      case Wants::kFinding:
        return result.has(matcher.finding);
    }
    return false;
  }
};

inline ResultMatcher passes() { return {}; }
inline ResultMatcher is_verified() { return {ResultMatcher::Wants::kVerified}; }
inline ResultMatcher finds(std::string symptom_or_kind) {
  return {ResultMatcher::Wants::kFinding, std::move(symptom_or_kind)};
}

}  // namespace emu

namespace doctest {

template <>
struct StringMaker<emu::ExploreResult> {
  static String convert(const emu::ExploreResult& result) { return ("\n" + result.text()).c_str(); }
};

template <>
struct StringMaker<emu::ResultMatcher> {
  static String convert(const emu::ResultMatcher& matcher) {
    using Wants = emu::ResultMatcher::Wants;
    if (matcher.wants == Wants::kPasses) return "a result that passes";
    if (matcher.wants == Wants::kVerified) return "a verified program";
    return ("a finding '" + matcher.finding + "'").c_str();
  }
};

}  // namespace doctest

#endif  // SYMRACE_EMU_DOCTEST_H_
