#include "tools/suggest.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tools {
namespace {

constexpr std::size_t kMostSuggestions = 3;

bool is_same_letter(char a, char b) {
  return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
         absl::ascii_tolower(static_cast<unsigned char>(b));
}

// Insertions, deletions, substitutions and swaps of neighbours that make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (is_same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({substituted, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string_view> near_misses(std::string_view word,
                                          std::span<const std::string_view> names) {
  constexpr std::size_t kPrefix = 0, kPart = 1, kEdits = 2;  // plus the distance
  const std::size_t letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  if (letters == 0) return {};
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view name : names) {
    if (name.starts_with(word)) {
      ranked.emplace_back(kPrefix, name);
    } else if (letters >= 3 && name.find(word) != std::string_view::npos) {
      ranked.emplace_back(kPart, name);
    } else if (const std::size_t distance = edit_distance(word, name);
               distance <= (letters + 1) / 3) {
      ranked.emplace_back(kEdits + distance, name);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> best;
  for (const auto& [rank, name] : ranked) {
    if (rank != ranked.front().first || best.size() == kMostSuggestions) break;
    best.push_back(name);
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names,
                         std::string_view otherwise) {
  const std::vector<std::string_view> best = near_misses(word, names);
  if (best.empty()) return std::string(otherwise);
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (i > 0) text += i + 1 == best.size() ? " or " : ", ";
    text.append("'").append(best[i]).append("'");
  }
  return text + "?";
}

}  // namespace tools
