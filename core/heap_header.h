// The header of a named heap: what another process needs to know of its slices, in a fixed format.
//
// The object is the header of kHeapHeaderBytes, then every rank's slice, `slice_stride` bytes
// apart. Numbers are in the byte order of the machine, texts end with a zero byte, and what is not
// used is zero. docs/heaps.md has the table of fields.
#ifndef SYMRACE_CORE_HEAP_HEADER_H_
#define SYMRACE_CORE_HEAP_HEADER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/region.h"

namespace symrace {

inline constexpr std::uint32_t kHeapVersion = 1;
inline constexpr std::size_t kHeapHeaderBytes = 65536;
// The header lists so many windows, and counts the others.
inline constexpr std::size_t kMostListedWindows = 510;

struct HeapWindow {
  std::string name;
  std::uint64_t offset = 0;  // in each slice
  std::uint64_t bytes = 0;
  std::optional<pl::DType> dtype;  // none: no tensor was made of it; rows and cols are 0
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool holds_signals = false;  // an op has signalled or awaited a cell of it

  friend bool operator==(const HeapWindow&, const HeapWindow&) = default;
};

struct HeapLayout {
  std::int32_t ranks = 0;
  std::uint64_t slice_stride = 0;  // bytes from one slice to the next
  std::uint64_t used_bytes = 0;    // of each slice
  bool is_ended = false;           // the owner has said so
  std::int64_t owner = 0;          // process id
  std::uint64_t owner_start = 0;   // of that process, in clock ticks since the machine's start
  std::string engine;
  std::string program;
  std::vector<HeapWindow> windows;  // in order of their offsets
  std::uint32_t unlisted_windows = 0;

  friend bool operator==(const HeapLayout&, const HeapLayout&) = default;
};

// Reads the header of an object of `object_bytes` from its first bytes, of which kHeapHeaderBytes
// are looked at. Whatever they hold, what is returned adds up: slices lie in the object, windows in
// the slices and apart from one another, shapes in their windows, and texts are printable ASCII.
// Else InvalidArgument says in one line what was wrong and what was expected.
absl::StatusOr<HeapLayout> parse_heap_header(std::span<const std::byte> header,
                                             std::uint64_t object_bytes);

// Writes the header of a heap, in place; readers may look at any time. Names too long for the
// format are cut, and characters that are not printable ASCII become '?'.
class HeapHeaderWriter {
 public:
  // `header`: kHeapHeaderBytes of zeros, aligned to 8 bytes, which outlive the writer.
  // `layout` has no windows.
  HeapHeaderWriter(std::byte* header, const HeapLayout& layout);

  // The first `count` of `windows`, in slices of which `used_bytes` are used. Costs little when
  // they are the same as before.
  void list(const std::deque<Window>& windows, std::size_t count, std::uint64_t used_bytes);
  bool lists_windows() const;
  // That the window of this index holds signals. Thread-safe.
  void mark_signal(std::int32_t index);
  void mark_ended();

 private:
  std::byte* header_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_HEAP_HEADER_H_
