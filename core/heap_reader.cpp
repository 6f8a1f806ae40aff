#include "core/heap_reader.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <vector>

#include "core/heap_owner.h"
#include "core/named_heap.h"

namespace symrace {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

template <class... Parts>
absl::Status refuse(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}

absl::Status check_object(const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return refuse("a symbolic link; expected a shared-memory object");
  if (!S_ISREG(info.st_mode)) return refuse("no regular file; expected a shared-memory object");
  if (info.st_uid != geteuid()) {
    return refuse("it belongs to user ", info.st_uid, "; expected one of user ", geteuid());
  }
  if ((info.st_mode & 0077) != 0) {
    return refuse("others may open it; expected an object of mode 0600");
  }
  return absl::OkStatus();
}

// How many bytes there were, up to the size of `to`; or minus the error.
std::int64_t read_at(int object, std::uint64_t offset, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t count =
        pread(object, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(done);
}

// The header as it stood between two writes of its owner, with the object's size.
absl::StatusOr<HeapLayout> read_layout(int object) {
  constexpr int kTries = 1000;
  std::vector<std::byte> before;
  for (int i = 0; i < kTries; ++i) {
    std::vector<std::byte> header(kHeapHeaderBytes);
    const std::int64_t count = read_at(object, 0, header);
    struct stat info {};
    if (count < 0 || fstat(object, &info) != 0) {
      return refuse("cannot be read: ", error_text(count < 0 ? static_cast<int>(-count) : errno));
    }
    header.resize(static_cast<std::size_t>(count));
    if (i == 0 || header != before) {
      before = std::move(header);
      continue;
    }
    absl::StatusOr<HeapLayout> layout =
        parse_heap_header(header, static_cast<std::uint64_t>(info.st_size));
    if (!layout.ok()) return refuse(layout.status().message());
    return layout;
  }
  return refuse("its header changes all the time; expected it to come to rest");
}

HeapReader::State state_of(const HeapLayout& layout) {
  if (layout.is_ended) return HeapReader::State::kEnded;
  return is_alive({layout.owner, layout.owner_start}) ? HeapReader::State::kRunning
                                                      : HeapReader::State::kStale;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

absl::StatusOr<Descriptor> open_heap_object(std::string_view name) {
  if (absl::Status checked = check_heap_name(name); !checked.ok()) return checked;
  const std::string path = heap_path(name);
  // Not blocking: what has this name may be a FIFO.
  Descriptor object(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const int error = errno;
  struct stat info {};
  if (object.get() < 0) {
    if (error == ENOENT) return absl::NotFoundError("there is none of this name");
    // What it is tells more than that it cannot be opened.
    if (lstat(path.c_str(), &info) == 0) {
      if (absl::Status checked = check_object(info); !checked.ok()) return checked;
    }
    return refuse("cannot be opened: ", error_text(error));
  }
  if (fstat(object.get(), &info) != 0) return refuse("cannot be looked at: ", error_text(errno));
  if (absl::Status checked = check_object(info); !checked.ok()) return checked;
  return object;
}

absl::StatusOr<HeapReader> HeapReader::open(std::string_view name) {
  absl::StatusOr<Descriptor> object = open_heap_object(name);
  if (!object.ok()) return object.status();
  absl::StatusOr<HeapLayout> layout = read_layout(object->get());
  if (!layout.ok()) return layout.status();
  State state = state_of(*layout);
  if (state == State::kStale) {
    // The owner may have ended its run since, and then itself; that is the last word.
    layout = read_layout(object->get());
    if (!layout.ok()) return layout.status();
    if (layout->is_ended) state = State::kEnded;
  }
  return HeapReader(*std::move(object), *std::move(layout), state);
}

HeapReader::HeapReader(Descriptor object, HeapLayout layout, State state)
    : object_(std::move(object)), layout_(std::move(layout)), state_(state) {}

absl::Status HeapReader::read(std::int32_t rank, std::uint64_t offset,
                              std::span<std::byte> to) const {
  if (rank < 0 || rank >= layout_.ranks || offset > layout_.used_bytes ||
      to.size() > layout_.used_bytes - offset) {
    return absl::OutOfRangeError(absl::StrCat(to.size(), " bytes from ", offset, " on of rank ",
                                              rank, "; expected a range in use"));
  }
  const std::uint64_t begin =
      kHeapHeaderBytes + static_cast<std::uint64_t>(rank) * layout_.slice_stride + offset;
  const std::int64_t count = read_at(object_.get(), begin, to);
  struct stat info {};
  if (count < 0 || fstat(object_.get(), &info) != 0) {
    return absl::DataLossError(
        absl::StrCat("cannot be read: ", error_text(count < 0 ? static_cast<int>(-count) : errno)));
  }
  const std::uint64_t expected =
      kHeapHeaderBytes + static_cast<std::uint64_t>(layout_.ranks) * layout_.slice_stride;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (static_cast<std::size_t>(count) != to.size() || size != expected) {
    return absl::DataLossError(
        absl::StrCat(size < expected ? "truncated" : "it has grown", " while it was read: it has ",
                     size, " bytes; expected ", expected, ", as its header tells"));
  }
  return absl::OkStatus();
}

}  // namespace symrace
