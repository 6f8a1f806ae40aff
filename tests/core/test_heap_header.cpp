#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/heap_header.h"
#include "core/rng.h"

namespace symrace {
namespace {

// Two slices of 64 KiB, of which 12 KiB are used by two windows.
constexpr std::uint64_t kStride = 65536;
constexpr std::uint64_t kUsed = 12288;
constexpr std::uint64_t kObjectBytes = 65536 + 2 * kStride;

// Where docs/heaps.md says that the fields are.
namespace at {
constexpr std::size_t kMagic = 0, kVersion = 8, kHeaderBytes = 12, kObjectBytes = 16, kStride = 24,
                      kUsed = 32, kRanks = 40, kState = 44, kListed = 48, kAll = 52, kOwner = 56,
                      kOwnerStart = 64, kEngine = 72, kProgram = 88, kWindows = 256;
constexpr std::size_t kOffset = 0, kBytes = 8, kRows = 16, kCols = 24, kType = 32, kSignals = 36,
                      kName = 40, kWindowBytes = 128;
constexpr std::size_t window(std::size_t index, std::size_t field) {
  return kWindows + index * kWindowBytes + field;
}
}  // namespace at

std::deque<Window> two_windows() {
  std::deque<Window> windows(2);
  windows[0] = {.offset = 0,
                .bytes = 256,
                .index = 0,
                .name = "data",
                .rows = 1,
                .cols = 64,
                .dtype = pl::DType::FP32};
  windows[1] = {.offset = 4096,
                .bytes = 8192,
                .index = 1,
                .name = "signal",
                .rows = 2,
                .cols = 3,
                .dtype = pl::DType::INT32};
  return windows;
}

HeapLayout empty_layout() {
  HeapLayout layout;
  layout.ranks = 2;
  layout.slice_stride = kStride;
  layout.owner = 4711;
  layout.owner_start = 123456789;
  layout.engine = "direct";
  layout.program = "05_remote_load_store";
  return layout;
}

class Header {
 public:
  Header() : words_(kHeapHeaderBytes / 8), writer_(bytes(), empty_layout()) {
    writer_.list(two_windows(), 2, kUsed);
  }
  HeapHeaderWriter& writer() { return writer_; }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(words_.data()); }

  absl::StatusOr<HeapLayout> parse(std::uint64_t object_bytes = kObjectBytes) {
    return parse_heap_header({bytes(), kHeapHeaderBytes}, object_bytes);
  }
  template <class T>
  T get(std::size_t offset) {
    T value;
    std::memcpy(&value, bytes() + offset, sizeof(T));
    return value;
  }
  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(bytes() + offset, &value, sizeof(T));
  }
  std::string text(std::size_t offset) { return reinterpret_cast<const char*>(bytes() + offset); }

 private:
  std::vector<std::uint64_t> words_;
  HeapHeaderWriter writer_;
};

std::string refusal(Header& header, std::uint64_t object_bytes = kObjectBytes) {
  const auto layout = header.parse(object_bytes);
  REQUIRE_FALSE(layout.ok());
  CHECK(absl::IsInvalidArgument(layout.status()));
  return std::string(layout.status().message());
}

template <class T>
std::string refusal_of(std::size_t offset, T value) {
  Header header;
  header.set(offset, value);
  return refusal(header);
}

// In numbers that cannot overflow.
bool adds_up(const HeapLayout& layout, std::uint64_t object_bytes) {
  using Wide = __int128;
  if (layout.ranks < 1 || layout.used_bytes > layout.slice_stride) return false;
  if (Wide{65536} + Wide{layout.ranks} * Wide{layout.slice_stride} != Wide{object_bytes}) {
    return false;
  }
  Wide begin = 0;
  for (const HeapWindow& window : layout.windows) {
    const Wide end = Wide{window.offset} + Wide{window.bytes};
    if (Wide{window.offset} < begin || end > Wide{layout.used_bytes} || window.bytes == 0) {
      return false;
    }
    begin = end;
    const Wide shape = Wide{window.rows} * Wide{window.cols};
    const Wide element = window.dtype ? Wide{pl::dtype_bytes(*window.dtype)} : Wide{1};
    if (window.rows < 0 || window.cols < 0 || shape * element > Wide{window.bytes}) return false;
    if (window.name.empty() || window.name.size() >= 88) return false;
    for (const char c : window.name + layout.program + layout.engine) {
      if (c < 0x20 || c > 0x7e) return false;
    }
  }
  return layout.windows.size() <= 510;
}

}  // namespace

TEST_CASE("what is written is read") {
  Header header;
  HeapLayout expected = empty_layout();
  expected.used_bytes = kUsed;
  expected.windows = {{.name = "data",
                       .offset = 0,
                       .bytes = 256,
                       .dtype = pl::DType::FP32,
                       .rows = 1,
                       .cols = 64,
                       .holds_signals = false},
                      {.name = "signal",
                       .offset = 4096,
                       .bytes = 8192,
                       .dtype = pl::DType::INT32,
                       .rows = 2,
                       .cols = 3,
                       .holds_signals = false}};
  auto layout = header.parse();
  REQUIRE_MESSAGE(layout.ok(), layout.status().ToString());
  CHECK(*layout == expected);

  header.writer().mark_signal(1);
  header.writer().mark_ended();
  expected.windows[1].holds_signals = true;
  expected.is_ended = true;
  CHECK(*header.parse() == expected);

  // The next schedule has the same windows, and keeps the mark.
  header.writer().list(two_windows(), 2, kUsed);
  CHECK(*header.parse() == expected);
}

TEST_CASE("fields are where the documentation has them") {
  Header header;
  header.writer().mark_signal(1);
  CHECK(std::memcmp(header.bytes(), "SYMRHEAP", 8) == 0);
  CHECK(header.get<std::uint32_t>(at::kVersion) == 1);
  CHECK(header.get<std::uint32_t>(at::kHeaderBytes) == 65536);
  CHECK(header.get<std::uint64_t>(at::kObjectBytes) == kObjectBytes);
  CHECK(header.get<std::uint64_t>(at::kStride) == kStride);
  CHECK(header.get<std::uint64_t>(at::kUsed) == kUsed);
  CHECK(header.get<std::int32_t>(at::kRanks) == 2);
  CHECK(header.get<std::uint32_t>(at::kState) == 1);
  CHECK(header.get<std::uint32_t>(at::kListed) == 2);
  CHECK(header.get<std::uint32_t>(at::kAll) == 2);
  CHECK(header.get<std::int64_t>(at::kOwner) == 4711);
  CHECK(header.get<std::uint64_t>(at::kOwnerStart) == 123456789);
  CHECK(header.text(at::kEngine) == "direct");
  CHECK(header.text(at::kProgram) == "05_remote_load_store");
  CHECK(header.get<std::uint64_t>(at::window(1, at::kOffset)) == 4096);
  CHECK(header.get<std::uint64_t>(at::window(1, at::kBytes)) == 8192);
  CHECK(header.get<std::int64_t>(at::window(1, at::kRows)) == 2);
  CHECK(header.get<std::int64_t>(at::window(1, at::kCols)) == 3);
  CHECK(header.get<std::uint32_t>(at::window(1, at::kType)) == 3);
  CHECK(header.get<std::uint32_t>(at::window(1, at::kSignals)) == 1);
  CHECK(header.text(at::window(1, at::kName)) == "signal");
}

TEST_CASE("names are cut and made printable, and a window may have no shape") {
  Header header;
  const std::string long_name(200, 'n');
  std::deque<Window> windows = two_windows();
  windows[0].name = long_name.c_str();
  windows[1].name = "a\x1b[31m\xc3\xa9";
  windows[1].rows = 0;  // a tensor of no elements tells no shape
  header.writer().list(windows, 2, kUsed);
  const auto layout = header.parse();
  REQUIRE(layout.ok());
  CHECK(layout->windows[0].name == std::string(87, 'n'));
  CHECK(layout->windows[1].name == "a?[31m??");
  CHECK_FALSE(layout->windows[1].dtype.has_value());
}

TEST_CASE("windows beyond those listed are counted") {
  Header header;
  std::deque<Window> windows(513);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    windows[i] = {
        .offset = i * 4096, .bytes = 4, .index = static_cast<std::int32_t>(i), .name = "w"};
  }
  HeapLayout large = empty_layout();
  large.slice_stride = 513 * 4096;
  std::vector<std::uint64_t> words(kHeapHeaderBytes / 8);
  auto* bytes = reinterpret_cast<std::byte*>(words.data());
  HeapHeaderWriter writer(bytes, large);
  CHECK_FALSE(writer.lists_windows());
  writer.list(windows, windows.size(), 513 * 4096);
  CHECK(writer.lists_windows());
  writer.mark_signal(512);
  const auto layout = parse_heap_header({bytes, kHeapHeaderBytes}, 65536 + 2 * 513 * 4096);
  REQUIRE_MESSAGE(layout.ok(), layout.status().ToString());
  CHECK(layout->windows.size() == 510);
  CHECK(layout->unlisted_windows == 3);
}

TEST_CASE("what is not a heap is refused with its reason") {
  CHECK(refusal_of<char>(at::kMagic, 'X') == "wrong magic; expected a heap of symrace");
  CHECK(refusal_of<std::uint32_t>(at::kVersion, 2) == "a heap of version 2; expected version 1");
  CHECK(refusal_of<std::uint32_t>(at::kHeaderBytes, 4096) ==
        "a header of 4096 bytes; expected 65536");
  CHECK(refusal_of<std::int32_t>(at::kRanks, -1) == "-1 ranks; expected at least 1");
  CHECK(refusal_of<std::uint32_t>(at::kState, 3) ==
        "a run in state 3; expected 1 (running) or 2 (ended)");
  CHECK(refusal_of<std::int64_t>(at::kOwner, -1) == "the owner -1; expected a process id");
  CHECK(refusal_of<std::uint32_t>(at::kListed, 511) ==
        "511 windows listed of 2; expected at most 510, and not more than there are");
  CHECK(refusal_of<char>(at::kProgram + 2, '\n') ==
        "the name of an engine or a program that is without end or not printable");

  Header endless;
  std::memset(endless.bytes() + at::kEngine, 'e', 16);
  CHECK(refusal(endless) ==
        "the name of an engine or a program that is without end or not printable");
}

TEST_CASE("sizes that do not add up are refused") {
  CHECK(refusal_of<std::uint64_t>(at::kStride, 65537) ==
        "slices of 65537 bytes; expected a multiple of 4096");
  CHECK(refusal_of<std::uint64_t>(at::kUsed, kStride + 4096) ==
        "69632 bytes used of slices of 65536; expected a multiple of 4096 that fits them");
  const std::string sum =
      "sizes that do not add up: a header of 65536 bytes and 3 slices of 65536; expected them to "
      "be the 196608 bytes that it tells";
  CHECK(refusal_of<std::int32_t>(at::kRanks, 3) == sum);
  // 2 slices of 2^63 bytes are 0 in 64 bits.
  Header wraps;
  wraps.set<std::uint64_t>(at::kStride, std::uint64_t{1} << 63);
  wraps.set<std::uint64_t>(at::kObjectBytes, 65536);
  CHECK(refusal(wraps, 65536).starts_with("sizes that do not add up: "));

  Header header;
  CHECK(refusal(header, kObjectBytes - 1) ==
        "truncated: it has 196607 bytes; expected 196608, as its header tells");
  CHECK(refusal(header, kObjectBytes + 4096) ==
        "it has grown: it has 200704 bytes; expected 196608, as its header tells");
  const auto shorter = parse_heap_header({header.bytes(), 100}, 100);
  CHECK(std::string(shorter.status().message()) ==
        "truncated: it has 100 bytes; expected at least the 65536 of a heap's header");
  CHECK_FALSE(parse_heap_header({}, 0).ok());
}

TEST_CASE("windows that do not fit are refused") {
  using Int = std::int64_t;
  using Bytes = std::uint64_t;
  const std::string outside = " on; expected them behind 256 and within the 12288 used";
  CHECK(refusal_of<Bytes>(at::window(1, at::kBytes), 8193) ==
        "window 1 has 8193 bytes from 4096" + outside);
  CHECK(refusal_of<Bytes>(at::window(1, at::kBytes), 0) ==
        "window 1 has 0 bytes from 4096" + outside);
  CHECK(refusal_of<Bytes>(at::window(1, at::kOffset), 0) ==
        "window 1 has 8192 bytes from 0" + outside);
  CHECK(refusal_of<Bytes>(at::window(1, at::kOffset), 4097) ==
        "window 1 has 8192 bytes from 4097" + outside);
  CHECK(refusal_of<Bytes>(at::window(1, at::kOffset), ~Bytes{4095}) ==
        "window 1 has 8192 bytes from 18446744073709547520" + outside);
  const std::string misfit = "] of int32; expected one that fits its 8192 bytes";
  CHECK(refusal_of<Int>(at::window(1, at::kRows), 683) ==
        "window 1 has the shape [683, 3" + misfit);
  CHECK(refusal_of<Int>(at::window(1, at::kRows), -2) == "window 1 has the shape [-2, 3" + misfit);
  CHECK(refusal_of<Int>(at::window(1, at::kCols), std::numeric_limits<Int>::max()) ==
        "window 1 has the shape [2, 9223372036854775807" + misfit);
  CHECK(refusal_of<std::uint32_t>(at::window(0, at::kType), 6) ==
        "window 0 has the element type 6; expected at most 5");
  CHECK(refusal_of<std::uint32_t>(at::window(0, at::kType), 255) ==
        "window 0 has a shape, but no element type");
  CHECK(refusal_of<std::uint32_t>(at::window(0, at::kSignals), 2) ==
        "window 0 has the mark 2 of signals; expected 0 or 1");
  const std::string name =
      "window 0 has a name that is empty, without end, or not printable; expected a name";
  CHECK(refusal_of<char>(at::window(0, at::kName), '\0') == name);
  CHECK(refusal_of<char>(at::window(0, at::kName), '\x1b') == name);
  Header endless;
  std::memset(endless.bytes() + at::window(0, at::kName), 'n', 88);
  CHECK(refusal(endless) == name);
}

TEST_CASE("no corruption makes a layout that does not add up") {
  Header header;
  const std::size_t end = at::window(3, 0);
  int accepted = 0;
  int wrong = 0;
  const auto look = [&] {
    const auto layout = header.parse();
    if (!layout.ok()) return;
    ++accepted;
    if (!adds_up(*layout, kObjectBytes)) ++wrong;
  };
  // Every other value of every byte that is looked at.
  for (std::size_t offset = 0; offset < end; ++offset) {
    const auto before = header.get<std::uint8_t>(offset);
    for (int value = 0; value < 256; value += offset < at::kEngine ? 1 : 5) {
      header.set(offset, static_cast<std::uint8_t>(value));
      look();
    }
    header.set(offset, before);
  }
  // Several fields at once, of which some are extreme.
  SplitMix64 random(1);
  const std::uint64_t extremes[] = {0,          1,          4096,  kStride, 1ULL << 31,
                                    1ULL << 32, 1ULL << 63, ~0ULL, ~4095ULL};
  for (int i = 0; i < 20'000; ++i) {
    Header broken;
    for (std::uint64_t n = 1 + random.next() % 3; n != 0; --n) {
      const std::size_t offset = random.next() % (end / 4) * 4;
      const std::uint64_t value =
          random.next() % 2 == 0 ? random.next() : extremes[random.next() % std::size(extremes)];
      if (random.next() % 2 == 0) {
        broken.set(offset, static_cast<std::uint32_t>(value));
      } else {
        broken.set(offset, value);
      }
    }
    const auto layout = broken.parse();
    if (layout.ok() && !adds_up(*layout, kObjectBytes)) ++wrong;
  }
  CHECK(accepted > 0);  // a name may have other letters
  CHECK(wrong == 0);
}

}  // namespace symrace
