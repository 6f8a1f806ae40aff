// Named heaps: which names there may be, which heaps there are, and how one goes.
#ifndef SYMRACE_CORE_NAMED_HEAP_H_
#define SYMRACE_CORE_NAMED_HEAP_H_

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

namespace symrace {

// Asks for a heap that others may look at, and that stays when its run has ended or was killed.
struct HeapLabel {
  std::string name = {};     // empty: no such heap
  std::string program = {};  // for those who look
  bool replaces = false;     // an ended or stale heap of that name
};

// InvalidArgument unless it is 1 to 64 of [A-Za-z0-9._-] and does not begin with a dot.
absl::Status check_heap_name(std::string_view name);

// The shared-memory object's name without its slash, and the file by which Linux shows it. Of a
// checked name.
std::string heap_object(std::string_view name);
std::string heap_path(std::string_view name);

// The names of all there are, of other users too, sorted. Nothing is opened.
std::vector<std::string> heap_names();

// Removes a heap, or what else of this user's has a heap's name and is a regular file, whatever it
// holds. NotFound; FailedPrecondition when it is another's, or its owner still runs.
absl::Status remove_heap(std::string_view name);

// To be called before a heap of that name is made. AlreadyExists, with the reason, when the name is
// taken; an ended or stale heap goes when the label replaces it.
absl::Status make_room(const HeapLabel& label);

}  // namespace symrace

#endif  // SYMRACE_CORE_NAMED_HEAP_H_
