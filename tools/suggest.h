// "did you mean ...": the names that a mistyped word may have meant.
#ifndef SYMRACE_TOOLS_SUGGEST_H_
#define SYMRACE_TOOLS_SUGGEST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

// The likeliest of `names`, at most three, best first: those that `word` begins, else those it is
// part of, else those a few edits away.
std::vector<std::string_view> near_misses(std::string_view word,
                                          std::span<const std::string_view> names);

// "; did you mean 'a' or 'b'?" of the near misses, or `otherwise` when there are none.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names,
                         std::string_view otherwise);

}  // namespace tools

#endif  // SYMRACE_TOOLS_SUGGEST_H_
