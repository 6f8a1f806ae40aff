#include "core/heap_header.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/asymmetric_fence.h"
#include "core/heap.h"

namespace symrace {
namespace {

constexpr std::array<char, 8> kMagic = {'S', 'Y', 'M', 'R', 'H', 'E', 'A', 'P'};
constexpr std::uint32_t kRunning = 1;
constexpr std::uint32_t kEnded = 2;
constexpr std::uint32_t kNoDType = 255;

struct RawWindow {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::int64_t rows;
  std::int64_t cols;
  std::uint32_t dtype;
  std::uint32_t holds_signals;
  char name[88];
};
static_assert(sizeof(RawWindow) == 128);

struct RawHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t object_bytes;
  std::uint64_t slice_stride;
  std::uint64_t used_bytes;
  std::int32_t ranks;
  std::uint32_t state;
  std::uint32_t listed_windows;
  std::uint32_t all_windows;
  std::int64_t owner;
  std::uint64_t owner_start;
  char engine[16];
  char program[168];
  RawWindow windows[kMostListedWindows];
};
static_assert(offsetof(RawHeader, windows) == 256);
static_assert(sizeof(RawHeader) == kHeapHeaderBytes);

RawHeader& raw(std::byte* header) { return *reinterpret_cast<RawHeader*>(header); }

// --- Reading ---

template <class... Parts>
absl::Status malformed(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// The text in a field, or none when it does not end there or is not printable.
template <std::size_t kBytes>
std::optional<std::string> text_of(const char (&field)[kBytes]) {
  const char* end = std::find(field, field + kBytes, '\0');
  if (end == field + kBytes || !std::all_of(field, end, is_printable)) return std::nullopt;
  return std::string(field, end);
}

absl::Status check_sizes(const RawHeader& header, std::uint64_t object_bytes) {
  constexpr std::uint64_t kMask = kWindowFloorBytes - 1;
  if (header.ranks < 1) return malformed(header.ranks, " ranks; expected at least 1");
  if (header.slice_stride == 0 || (header.slice_stride & kMask) != 0) {
    return malformed("slices of ", header.slice_stride, " bytes; expected a multiple of ",
                     kWindowFloorBytes);
  }
  if (header.used_bytes > header.slice_stride || (header.used_bytes & kMask) != 0) {
    return malformed(header.used_bytes, " bytes used of slices of ", header.slice_stride,
                     "; expected a multiple of ", kWindowFloorBytes, " that fits them");
  }
  const auto ranks = static_cast<std::uint64_t>(header.ranks);
  std::uint64_t sum = 0;
  if (__builtin_mul_overflow(ranks, header.slice_stride, &sum) ||
      __builtin_add_overflow(sum, kHeapHeaderBytes, &sum) || sum != header.object_bytes) {
    return malformed("sizes that do not add up: a header of ", kHeapHeaderBytes, " bytes and ",
                     ranks, " slices of ", header.slice_stride, "; expected them to be the ",
                     header.object_bytes, " bytes that it tells");
  }
  if (object_bytes != sum) {
    return malformed(object_bytes < sum ? "truncated: it has " : "it has grown: it has ",
                     object_bytes, " bytes; expected ", sum, ", as its header tells");
  }
  return absl::OkStatus();
}

absl::StatusOr<HeapWindow> window_of(const RawWindow& from, std::uint64_t begin,
                                     std::uint64_t used_bytes) {
  const std::optional<std::string> name = text_of(from.name);
  if (!name || name->empty()) {
    return malformed("has a name that is empty, without end, or not printable; expected a name");
  }
  if (from.offset < begin || from.offset % kWindowFloorBytes != 0 || from.bytes == 0 ||
      from.offset > used_bytes || from.bytes > used_bytes - from.offset) {
    return malformed("has ", from.bytes, " bytes from ", from.offset, " on; expected them behind ",
                     begin, " and within the ", used_bytes, " used");
  }
  if (from.holds_signals > 1) {
    return malformed("has the mark ", from.holds_signals, " of signals; expected 0 or 1");
  }
  HeapWindow window{.name = *name,
                    .offset = from.offset,
                    .bytes = from.bytes,
                    .dtype = std::nullopt,
                    .holds_signals = from.holds_signals == 1};
  if (from.dtype == kNoDType) {
    if (from.rows != 0 || from.cols != 0) return malformed("has a shape, but no element type");
    return window;
  }
  const auto* dtype = std::find_if(
      std::begin(pl::kAllDTypes), std::end(pl::kAllDTypes),
      [&](pl::DType known) { return static_cast<std::uint32_t>(known) == from.dtype; });
  if (dtype == std::end(pl::kAllDTypes)) {
    return malformed("has the element type ", from.dtype, "; expected at most ",
                     static_cast<std::uint32_t>(pl::kAllDTypes[std::size(pl::kAllDTypes) - 1]));
  }
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  if (from.rows < 0 || from.cols < 0 || __builtin_mul_overflow(from.rows, from.cols, &elements) ||
      __builtin_mul_overflow(elements, pl::dtype_bytes(*dtype), &bytes) ||
      static_cast<std::uint64_t>(bytes) > from.bytes) {
    return malformed("has the shape [", from.rows, ", ", from.cols, "] of ",
                     std::string(pl::dtype_name(*dtype)), "; expected one that fits its ",
                     from.bytes, " bytes");
  }
  window.dtype = *dtype;
  window.rows = from.rows;
  window.cols = from.cols;
  return window;
}

// --- Writing ---

template <std::size_t kBytes>
void set_text(char (&field)[kBytes], std::string_view text) {
  text = text.substr(0, kBytes - 1);
  char* end = std::transform(text.begin(), text.end(), field,
                             [](char c) { return is_printable(c) ? c : '?'; });
  std::fill(end, field + kBytes, '\0');
}

RawWindow raw_of(const Window& window) {
  RawWindow to{};
  to.offset = window.offset;
  to.bytes = window.bytes;
  to.dtype = kNoDType;
  if (window.rows != 0) {
    to.dtype = static_cast<std::uint32_t>(window.dtype);
    to.rows = window.rows;
    to.cols = window.cols;
  }
  set_text(to.name, window.name[0] == '\0' ? "unnamed" : window.name);
  return to;
}

}  // namespace

absl::StatusOr<HeapLayout> parse_heap_header(std::span<const std::byte> header,
                                             std::uint64_t object_bytes) {
  if (header.size() < kHeapHeaderBytes) {
    return malformed("truncated: it has ", header.size(), " bytes; expected at least the ",
                     kHeapHeaderBytes, " of a heap's header");
  }
  RawHeader from;
  std::memcpy(&from, header.data(), sizeof(from));
  if (from.magic != kMagic) return malformed("wrong magic; expected a heap of symrace");
  if (from.version != kHeapVersion) {
    return malformed("a heap of version ", from.version, "; expected version ", kHeapVersion);
  }
  if (from.header_bytes != kHeapHeaderBytes) {
    return malformed("a header of ", from.header_bytes, " bytes; expected ", kHeapHeaderBytes);
  }
  if (absl::Status sizes = check_sizes(from, object_bytes); !sizes.ok()) return sizes;
  if (from.state != kRunning && from.state != kEnded) {
    return malformed("a run in state ", from.state, "; expected ", kRunning, " (running) or ",
                     kEnded, " (ended)");
  }
  if (from.owner < 1 || from.owner > std::numeric_limits<std::int32_t>::max()) {
    return malformed("the owner ", from.owner, "; expected a process id");
  }
  const std::optional<std::string> engine = text_of(from.engine);
  const std::optional<std::string> program = text_of(from.program);
  if (!engine || !program) {
    return malformed("the name of an engine or a program that is without end or not printable");
  }
  if (from.listed_windows > kMostListedWindows || from.all_windows < from.listed_windows) {
    return malformed(from.listed_windows, " windows listed of ", from.all_windows,
                     "; expected at most ", kMostListedWindows, ", and not more than there are");
  }
  HeapLayout layout{.ranks = from.ranks,
                    .slice_stride = from.slice_stride,
                    .used_bytes = from.used_bytes,
                    .is_ended = from.state == kEnded,
                    .owner = from.owner,
                    .owner_start = from.owner_start,
                    .engine = *engine,
                    .program = *program,
                    .windows = {},
                    .unlisted_windows = from.all_windows - from.listed_windows};
  std::uint64_t begin = 0;
  for (std::uint32_t i = 0; i < from.listed_windows; ++i) {
    absl::StatusOr<HeapWindow> window = window_of(from.windows[i], begin, from.used_bytes);
    if (!window.ok()) return malformed("window ", i, " ", window.status().message());
    begin = window->offset + window->bytes;
    layout.windows.push_back(*std::move(window));
  }
  return layout;
}

HeapHeaderWriter::HeapHeaderWriter(std::byte* header, const HeapLayout& layout) : header_(header) {
  RawHeader& to = raw(header_);
  to.version = kHeapVersion;
  to.header_bytes = kHeapHeaderBytes;
  to.object_bytes =
      kHeapHeaderBytes + static_cast<std::uint64_t>(layout.ranks) * layout.slice_stride;
  to.slice_stride = layout.slice_stride;
  to.used_bytes = layout.used_bytes;
  to.ranks = layout.ranks;
  to.state = layout.is_ended ? kEnded : kRunning;
  to.owner = layout.owner;
  to.owner_start = layout.owner_start;
  set_text(to.engine, layout.engine);
  set_text(to.program, layout.program);
  full_fence();  // whoever sees the magic sees all of it
  to.magic = kMagic;
}

void HeapHeaderWriter::list(const std::deque<Window>& windows, std::size_t count,
                            std::uint64_t used_bytes) {
  RawHeader& to = raw(header_);
  const std::size_t listed = std::min(count, kMostListedWindows);
  const std::atomic_ref published(to.listed_windows);
  bool is_same = published.load(std::memory_order_relaxed) == listed && to.all_windows == count &&
                 to.used_bytes == used_bytes;
  for (std::size_t i = 0; is_same && i < listed; ++i) {
    RawWindow wanted = raw_of(windows[i]);
    wanted.holds_signals = to.windows[i].holds_signals;
    is_same = std::memcmp(&wanted, &to.windows[i], sizeof(wanted)) == 0;
  }
  if (is_same) return;
  // A reader finds no window, or all of them.
  published.store(0, std::memory_order_seq_cst);
  to.used_bytes = used_bytes;
  to.all_windows = static_cast<std::uint32_t>(count);
  for (std::size_t i = 0; i < listed; ++i) to.windows[i] = raw_of(windows[i]);
  published.store(static_cast<std::uint32_t>(listed), std::memory_order_release);
}

bool HeapHeaderWriter::lists_windows() const { return raw(header_).all_windows != 0; }

void HeapHeaderWriter::mark_signal(std::int32_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (at >= kMostListedWindows) return;
  const std::atomic_ref mark(raw(header_).windows[at].holds_signals);
  // Ranks share its line, and all but the first need not write it.
  if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
}

void HeapHeaderWriter::mark_ended() {
  std::atomic_ref(raw(header_).state).store(kEnded, std::memory_order_release);
}

}  // namespace symrace
