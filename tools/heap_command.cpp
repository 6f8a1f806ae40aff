#include "tools/heap_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/heap_reader.h"
#include "core/named_heap.h"
#include "tools/heap_view.h"

namespace tools {
namespace {

absl::Status failure(const HeapRequest& request, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat(
          "heap '", request.name, "': ", status.message(),
          absl::IsNotFound(status) ? "; expected one that 'a2a3sim heap list' names" : ""));
}

void list(std::ostream& out) {
  const std::vector<std::string> names = symrace::heap_names();
  if (names.empty()) out << "no named heaps\n";
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  for (const std::string& name : names) {
    const absl::StatusOr<symrace::HeapReader> heap = symrace::HeapReader::open(name);
    if (absl::IsNotFound(heap.status())) continue;  // it has just gone
    const std::string told =
        heap.ok() ? heap_summary(*heap) : absl::StrCat("refused: ", heap.status().message());
    out << absl::StrFormat("%-*s  %s\n", static_cast<int>(width), name, told);
  }
}

absl::Status show(std::ostream& out, const HeapRequest& request) {
  const absl::StatusOr<symrace::HeapReader> heap = symrace::HeapReader::open(request.name);
  if (!heap.ok()) return heap.status();
  if (request.signals) return print_signals(out, *heap, request);
  if (!request.window.empty()) return print_window(out, *heap, request);
  out << request.name << "  " << heap_summary(*heap) << '\n';
  print_windows(out, heap->layout());
  return absl::OkStatus();
}

}  // namespace

absl::Status heap_command(std::ostream& out, const HeapRequest& request) {
  absl::Status done;
  switch (request.action) {
    case HeapRequest::Action::kList:
      list(out);
      break;
    case HeapRequest::Action::kShow:
      done = show(out, request);
      break;
    case HeapRequest::Action::kRemove:
      done = symrace::remove_heap(request.name);
      break;
  }
  return done.ok() ? done : failure(request, done);
}

}  // namespace tools
