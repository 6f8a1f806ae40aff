// What a named heap holds, as text.
#ifndef SYMRACE_TOOLS_HEAP_VIEW_H_
#define SYMRACE_TOOLS_HEAP_VIEW_H_

#include <absl/status/status.h>

#include <ostream>
#include <string>

#include "core/heap_reader.h"
#include "tools/heap_request.h"

namespace tools {

// "ended · 05_remote_load_store · emulator · 2 ranks · 8192 bytes a rank", without the name.
std::string heap_summary(const symrace::HeapReader& heap);

// The windows, which are the same on every rank.
void print_windows(std::ostream& out, const symrace::HeapLayout& layout);

// The elements of a window that the request names. Nothing is printed when they are not there.
absl::Status print_window(std::ostream& out, const symrace::HeapReader& heap,
                          const HeapRequest& request);

// The signal cells that are not 0, a line each.
absl::Status print_signals(std::ostream& out, const symrace::HeapReader& heap,
                           const HeapRequest& request);

}  // namespace tools

#endif  // SYMRACE_TOOLS_HEAP_VIEW_H_
