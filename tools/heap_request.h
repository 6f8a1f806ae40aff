// `a2a3sim heap ...`: from its words to a checked request.
#ifndef SYMRACE_TOOLS_HEAP_REQUEST_H_
#define SYMRACE_TOOLS_HEAP_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/flags.h"

namespace tools {

struct HeapRequest {
  enum class Action : std::uint8_t { kList, kShow, kRemove };
  Action action = Action::kList;
  std::string name;  // of kShow and kRemove

  // Of kShow:
  bool signals = false;                // the cells that are not 0
  std::string window;                  // its name or its number; empty: the layout or the signals
  std::optional<std::int32_t> rank;    // none: all
  std::uint64_t offset = 0;            // in elements of the view, from the window's start
  std::optional<std::uint64_t> count;  // likewise; none: a screenful
  std::string as;                      // empty: as the window's own type
};

// `flags` have parsed the words behind "heap". Throws UsageError.
HeapRequest parse_heap(const Flags& flags);

// Throws UsageError, which begins with `where`, for what cannot be a heap's name.
void check_heap_name(std::string_view where, std::string_view name);

}  // namespace tools

#endif  // SYMRACE_TOOLS_HEAP_REQUEST_H_
