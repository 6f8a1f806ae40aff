#include "core/named_heap.h"

#include <absl/strings/str_cat.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/heap_reader.h"

namespace symrace {
namespace {

constexpr std::string_view kPrefix = "symrace.";
constexpr const char* kFolder = "/dev/shm/";

std::string running_text(const HeapReader& heap) {
  return absl::StrCat("process ", heap.layout().owner, ", which owns it, still runs");
}

}  // namespace

absl::Status check_heap_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (!name.empty() && name.size() <= kLongest && name.front() != '.' && name.front() != '-' &&
      name.find_first_not_of(kAllowed) == std::string_view::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not a name for a heap; expected 1 to ", kLongest,
                   " letters, digits, '.', '_' and '-', and neither '.' nor '-' to begin with"));
}

std::string heap_object(std::string_view name) { return std::string(kPrefix).append(name); }

std::string heap_path(std::string_view name) { return kFolder + heap_object(name); }

std::vector<std::string> heap_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(kFolder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!file.starts_with(kPrefix)) continue;
    std::string name = file.substr(kPrefix.size());
    if (check_heap_name(name).ok()) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status remove_heap(std::string_view name) {
  if (absl::StatusOr<Descriptor> object = open_heap_object(name); !object.ok()) {
    return object.status();
  }
  const absl::StatusOr<HeapReader> heap = HeapReader::open(name);
  if (heap.ok() && heap->state() == HeapReader::State::kRunning) {
    return absl::FailedPreconditionError(
        absl::StrCat(running_text(*heap), "; expected its run to have ended"));
  }
  if (shm_unlink(absl::StrCat("/", heap_object(name)).c_str()) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot be removed: ", std::generic_category().message(errno)));
}

absl::Status make_room(const HeapLabel& label) {
  const absl::StatusOr<HeapReader> heap = HeapReader::open(label.name);
  if (absl::IsNotFound(heap.status())) return absl::OkStatus();
  if (absl::IsInvalidArgument(heap.status())) return heap.status();
  std::string reason;
  if (!heap.ok()) {
    reason = absl::StrCat("there is something else of this name: ", heap.status().message());
  } else if (heap->state() == HeapReader::State::kRunning) {
    reason = absl::StrCat("there is one already: ", running_text(*heap), "; expected another name");
  } else if (label.replaces) {
    return remove_heap(label.name);
  } else {
    const bool has_ended = heap->state() == HeapReader::State::kEnded;
    reason = absl::StrCat("there is one already, of a run that ", has_ended ? "has ended" : "died",
                          "; expected another name, or --replace-heap");
  }
  return absl::AlreadyExistsError(reason);
}

}  // namespace symrace
