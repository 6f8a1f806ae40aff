#include "tools/heap_request.h"

#include <array>
#include <string_view>
#include <vector>

#include "core/named_heap.h"
#include "tools/suggest.h"
#include "tools/usage_error.h"
#include "tools/values.h"

namespace tools {
namespace {

constexpr std::array<std::string_view, 3> kActions = {"list", "show", "rm"};
constexpr std::string_view kForms =
    "expected 'a2a3sim heap list', 'a2a3sim heap show NAME' or 'a2a3sim heap rm NAME'";

// The words that are no flags; a flag among them is an unknown one.
std::vector<std::string> plain_words(const Flags& flags) {
  std::vector<std::string> words = flags.unknown_words();
  for (const std::string& word : words) {
    if (!word.starts_with('-')) continue;
    const std::string name = word.substr(0, word.find('='));
    throw UsageError("heap: unknown flag '", name, "'",
                     did_you_mean(name, flags.names(), "; expected one that --help names"));
  }
  return words;
}

void read_show_flags(const Flags& flags, HeapRequest& request) {
  request.signals = flags.given("--signals");
  if (flags.given("--rank")) {
    request.rank = parse_integer<std::int32_t>("--rank", flags.value("--rank"), 0);
  }
  if (!flags.given("--window")) {
    for (const char* flag : {"--offset", "--count", "--as"}) {
      if (flags.given(flag)) throw UsageError(flag, " without --window; expected both");
    }
    if (request.rank && !request.signals) {
      throw UsageError("--rank without --window or --signals; expected one of them");
    }
    return;
  }
  if (request.signals) {
    throw UsageError("--window and --signals exclude each other; expected one of them");
  }
  request.window = flags.value("--window");
  if (request.window.empty()) {
    throw UsageError("--window: the name is empty; expected a window's name or number");
  }
  if (flags.given("--offset")) {
    request.offset = parse_integer<std::uint64_t>("--offset", flags.value("--offset"), 0);
  }
  if (flags.given("--count")) {
    request.count = parse_integer<std::uint64_t>("--count", flags.value("--count"), 1);
  }
  if (flags.given("--as")) request.as = parse_choice("--as", flags.value("--as"), kHeapViews);
}

}  // namespace

void check_heap_name(std::string_view where, std::string_view name) {
  if (const absl::Status checked = symrace::check_heap_name(name); !checked.ok()) {
    throw UsageError(where, ": '", name, "' is ", std::string(checked.message()));
  }
}

HeapRequest parse_heap(const Flags& flags) {
  const std::vector<std::string> words = plain_words(flags);
  if (words.empty()) throw UsageError("heap: what to do is missing; ", kForms);
  const std::string& action = words.front();
  HeapRequest request;
  if (action == "list") {
    if (words.size() > 1) {
      throw UsageError("heap list: unexpected word '", words[1], "'; expected 'a2a3sim heap list'");
    }
  } else if (action == "show" || action == "rm") {
    request.action = action == "rm" ? HeapRequest::Action::kRemove : HeapRequest::Action::kShow;
    if (words.size() < 2) throw UsageError("heap ", action, ": NAME is missing; ", kForms);
    if (words.size() > 2) {
      throw UsageError("heap ", action, ": unexpected word '", words[2], "'; expected one name");
    }
    request.name = words[1];
    check_heap_name("heap " + action, request.name);
  } else {
    throw UsageError("heap: '", action, "' is not one of list, show, rm",
                     did_you_mean(action, kActions, ""));
  }
  if (request.action == HeapRequest::Action::kShow) {
    read_show_flags(flags, request);
    return request;
  }
  for (const char* flag : {"--window", "--rank", "--offset", "--count", "--as", "--signals"}) {
    if (flags.given(flag)) {
      throw UsageError("heap ", action, ": it takes no ", flag, "; expected it with heap show");
    }
  }
  return request;
}

}  // namespace tools
