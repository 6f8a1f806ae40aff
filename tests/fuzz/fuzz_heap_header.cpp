// Headers of named heaps: of any bytes, what is read adds up, in numbers that cannot overflow; and
// of any windows, what is written can be read.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/heap_header.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/input.h"

namespace {

using Wide = __int128;

bool is_text(std::string_view text) {
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e) return false;
  }
  return true;
}

void check_adds_up(const symrace::HeapLayout& layout, std::uint64_t object_bytes) {
  fuzz::expect(layout.ranks >= 1 && layout.owner >= 1, "ranks, and an owner");
  fuzz::expect(Wide{65536} + Wide{layout.ranks} * Wide{layout.slice_stride} == Wide{object_bytes},
               "slices that fill the object");
  fuzz::expect(layout.used_bytes <= layout.slice_stride, "no more used than there is");
  fuzz::expect(is_text(layout.engine) && is_text(layout.program), "names of printable ASCII");
  fuzz::expect(layout.windows.size() <= 510, "no more windows than the header has room for");
  Wide begin = 0;
  for (const symrace::HeapWindow& window : layout.windows) {
    const Wide end = Wide{window.offset} + Wide{window.bytes};
    fuzz::expect(
        Wide{window.offset} >= begin && window.bytes != 0 && end <= Wide{layout.used_bytes},
        "a window within the slice, behind the one before", window.name);
    begin = end;
    const Wide element = window.dtype ? Wide{pl::dtype_bytes(*window.dtype)} : Wide{1};
    fuzz::expect(window.rows >= 0 && window.cols >= 0 &&
                     Wide{window.rows} * Wide{window.cols} * element <= Wide{window.bytes},
                 "a shape within its window", window.name);
    fuzz::expect(!window.name.empty() && window.name.size() < 88 && is_text(window.name),
                 "a window's name", window.name);
  }
}

// The input in front of a header, whose other bytes are zero.
void check_bytes(const std::uint8_t* data, std::size_t size) {
  static std::vector<std::byte> header(symrace::kHeapHeaderBytes);
  const std::size_t count = std::min(size, header.size());
  std::memcpy(header.data(), data, count);
  // The object is as large as the header tells, where it tells.
  std::uint64_t object_bytes = 0;
  std::memcpy(&object_bytes, header.data() + 16, sizeof(object_bytes));
  const auto layout = symrace::parse_heap_header(header, object_bytes);
  if (layout.ok()) {
    check_adds_up(*layout, object_bytes);
  } else {
    fuzz::expect_one_line(layout.status());
  }
  fuzz::expect(
      !symrace::parse_heap_header({header.data(), count}, count).ok() || count == header.size(),
      "that a part of a header is refused");
  std::memset(header.data(), 0, count);
}

// Windows as Host lists them: one behind the other, with the shape of a tensor that fits, or none.
void check_windows(fuzz::Input in) {
  constexpr std::uint64_t kFloor = 4096;
  std::deque<symrace::Window> windows(static_cast<std::size_t>(in.bits(1)));
  std::deque<std::string> names;
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    symrace::Window& window = windows[i];
    std::string& name = names.emplace_back(static_cast<std::size_t>(in.below(100)), ' ');
    for (char& c : name) c = static_cast<char>(in.bits(1) | 1);
    window = {.offset = used,
              .bytes = 1 + in.bits(3),
              .index = static_cast<std::int32_t>(i),
              .name = name.c_str()};
    window.dtype = in.pick(pl::kAllDTypes);
    const std::int64_t rows = in.below(16);
    const std::int64_t cols = in.below(16);
    const auto bytes = static_cast<std::uint64_t>(rows * cols * pl::dtype_bytes(window.dtype));
    if (bytes <= window.bytes) {
      window.rows = rows;
      window.cols = cols;
    }
    used += (window.bytes + kFloor - 1) / kFloor * kFloor;
  }
  symrace::HeapLayout layout;
  layout.ranks = 1 + in.below(4);
  layout.slice_stride = used + kFloor;
  layout.owner = 1;
  layout.engine = layout.program = names.empty() ? "none" : names.front();
  static std::vector<std::uint64_t> words(symrace::kHeapHeaderBytes / 8);
  std::fill(words.begin(), words.end(), 0);
  auto* header = reinterpret_cast<std::byte*>(words.data());
  symrace::HeapHeaderWriter writer(header, layout);
  writer.list(windows, windows.size(), used);
  const std::uint64_t object_bytes =
      65536 + static_cast<std::uint64_t>(layout.ranks) * layout.slice_stride;
  const auto read = symrace::parse_heap_header({header, symrace::kHeapHeaderBytes}, object_bytes);
  fuzz::expect(read.ok() && read->windows.size() == windows.size(), "what was written",
               std::string(read.status().message()));
  check_adds_up(*read, object_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_bytes(data, size);
  check_windows({data, size});
  return 0;
}
