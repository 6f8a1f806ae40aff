#include "tools/heap_view.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "tools/suggest.h"

namespace tools {
namespace {

using symrace::HeapLayout;
using symrace::HeapReader;
using symrace::HeapWindow;

constexpr std::int32_t kMostSlicesShown = 16;
constexpr std::size_t kReadBytes = 65536;  // at once

std::string state_text(const HeapReader& heap) {
  switch (heap.state()) {
    case HeapReader::State::kRunning:
      return absl::StrCat("running, process ", heap.layout().owner);
    case HeapReader::State::kEnded:
      return "ended";
    case HeapReader::State::kStale:
      break;
  }
  return absl::StrCat("stale, process ", heap.layout().owner, " died");
}

// --- A view of elements ---

template <class T>
std::string element_text(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  if constexpr (pl::IntegerElement<T>) {
    return absl::StrCat(static_cast<std::int32_t>(value));
  } else if constexpr (std::same_as<T, float>) {
    char text[32];
    const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);
    return {text, end};  // the shortest that reads as the same value
  } else {
    // As many digits as tell any two apart.
    return absl::StrFormat("%.*g", std::same_as<T, pl::fp16> ? 5 : 4, static_cast<float>(value));
  }
}

// How the elements of a region are shown; hex is of bytes.
struct View {
  std::string_view name;
  std::size_t element_bytes;
  std::size_t a_line;  // elements
  std::uint64_t screenful;
  void (*print_line)(std::ostream&, std::uint64_t index, std::span<const std::byte>);
};

template <class T>
void print_elements(std::ostream& out, std::uint64_t index, std::span<const std::byte> bytes) {
  constexpr int kWidth = sizeof(T) == 1 ? 5 : sizeof(T) == 2 ? 10 : 13;
  out << absl::StrFormat("%8d", index);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    out << absl::StrFormat("%*s", kWidth, element_text<T>(&bytes[at]));
  }
  out << '\n';
}

void print_hex(std::ostream& out, std::uint64_t index, std::span<const std::byte> bytes) {
  constexpr std::size_t kHexBytes = 16;
  std::string hex;
  std::string text;
  for (std::size_t i = 0; i < kHexBytes; ++i) {
    if (i == kHexBytes / 2) hex += ' ';
    if (i >= bytes.size()) {
      hex += "   ";
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    absl::StrAppendFormat(&hex, " %02x", static_cast<unsigned>(byte));
    text += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '.';
  }
  out << absl::StrFormat("%08x %s  |%s|\n", index, hex, text);
}

View view_of(const HeapWindow& window, const std::string& as) {
  std::optional<pl::DType> dtype = window.dtype;
  if (!as.empty()) dtype = pl::parse_dtype(as);
  if (!dtype) return {"hex", 1, 16, 256, print_hex};
  return pl::visit_dtype(*dtype, [&]<class T>(std::type_identity<T>) {
    constexpr std::size_t kALine = sizeof(T) == 1 ? 16 : 8;
    return View{pl::dtype_name(*dtype), sizeof(T), kALine, 64, print_elements<T>};
  });
}

// --- What a request names ---

template <class... Parts>
absl::Status out_of_range(const Parts&... parts) {
  return absl::OutOfRangeError(absl::StrCat(parts...));
}

struct Ranks {
  std::int32_t begin, end;
};

absl::StatusOr<Ranks> ranks_of(const HeapLayout& layout, const HeapRequest& request) {
  if (!request.rank) return Ranks{0, layout.ranks};
  if (*request.rank < layout.ranks) return Ranks{*request.rank, *request.rank + 1};
  return out_of_range("--rank: ", *request.rank, " is not there; expected one of the ",
                      layout.ranks, " from 0 on");
}

absl::StatusOr<HeapWindow> find_window(const HeapLayout& layout, const std::string& wanted) {
  std::vector<std::string_view> names;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < layout.windows.size(); ++i) {
    names.push_back(layout.windows[i].name);
    if (layout.windows[i].name == wanted) found.push_back(i);
  }
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--window: '", wanted, "' is the name of ", found.size(),
                     " windows; expected the number of one, as ", found.front()));
  }
  if (!found.empty()) return layout.windows[found.front()];
  std::size_t number = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [parsed, error] = std::from_chars(wanted.data(), end, number);
  if (error == std::errc() && parsed == end && number < layout.windows.size()) {
    return layout.windows[number];
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--window: '", wanted, "' is neither the name nor the number of one",
                   did_you_mean(wanted, names, "; expected one that 'a2a3sim heap show' lists")));
}

// Reads `bytes` of a slice piece by piece: calls use(offset in the region, piece).
template <class Use>
absl::Status read_pieces(const HeapReader& heap, std::int32_t rank, std::uint64_t offset,
                         std::uint64_t bytes, Use&& use) {
  std::vector<std::byte> piece(std::min<std::uint64_t>(bytes, kReadBytes));
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(bytes - at, kReadBytes));
    if (absl::Status read = heap.read(rank, offset + at, piece); !read.ok()) return read;
    use(at, piece);
  }
  return absl::OkStatus();
}

void print_more_ranks(std::ostream& out, const Ranks& ranks, std::int32_t shown_end) {
  if (shown_end == ranks.end) return;
  out << "and " << ranks.end - shown_end
      << (ranks.end - shown_end == 1 ? " more rank" : " more ranks") << "; --rank shows one\n";
}

}  // namespace

std::string heap_summary(const HeapReader& heap) {
  const HeapLayout& layout = heap.layout();
  return absl::StrCat(state_text(heap), " · ", layout.program, " · ", layout.engine, " · ",
                      layout.ranks, layout.ranks == 1 ? " rank" : " ranks", " · ",
                      layout.used_bytes, " bytes a rank");
}

void print_windows(std::ostream& out, const HeapLayout& layout) {
  std::size_t width = sizeof("window") - 1;
  for (const HeapWindow& window : layout.windows) width = std::max(width, window.name.size());
  const auto name_width = static_cast<int>(width);
  const std::string title =
      absl::StrFormat("%3s  %-*s  %12s  %12s  %-5s  %-20s  %s", "", name_width, "window", "offset",
                      "bytes", "type", "shape", "signals");
  out << title << '\n';
  std::size_t number = 0;
  for (const HeapWindow& window : layout.windows) {
    const std::string shape =
        window.dtype ? absl::StrCat("[", window.rows, ", ", window.cols, "]") : "-";
    const std::string dtype = window.dtype ? std::string(pl::dtype_name(*window.dtype)) : "-";
    out << absl::StrFormat("%3d  %-*s  %12d  %12d  %-5s  %-20s  %s\n", number++, name_width,
                           window.name, window.offset, window.bytes, dtype, shape,
                           window.holds_signals ? "yes" : "no");
  }
  if (layout.unlisted_windows != 0) {
    out << "and " << layout.unlisted_windows << " more, which the header has no room for\n";
  }
}

absl::Status print_window(std::ostream& out, const HeapReader& heap, const HeapRequest& request) {
  const absl::StatusOr<HeapWindow> window = find_window(heap.layout(), request.window);
  if (!window.ok()) return window.status();
  const absl::StatusOr<Ranks> ranks = ranks_of(heap.layout(), request);
  if (!ranks.ok()) return ranks.status();
  const View view = view_of(*window, request.as);
  const std::uint64_t elements = window->bytes / view.element_bytes;
  const std::string whole = absl::StrCat("the ", elements, " elements of window '", window->name,
                                         "' as ", std::string(view.name));
  if (request.offset >= elements) {
    return out_of_range("--offset: ", request.offset, " is past ", whole, "; expected less");
  }
  const std::uint64_t left = elements - request.offset;
  const std::uint64_t count = request.count.value_or(std::min(left, view.screenful));
  if (count > left) {
    return out_of_range("--count: ", count, " from ", request.offset, " on are past ", whole,
                        "; expected at most ", left);
  }
  const std::int32_t end = std::min(ranks->end, ranks->begin + kMostSlicesShown);
  for (std::int32_t rank = ranks->begin; rank < end; ++rank) {
    out << window->name << " · rank " << rank << " · " << view.name << " · " << request.offset
        << " to " << request.offset + (count - 1) << " of " << elements << '\n';
    const std::size_t line_bytes = view.a_line * view.element_bytes;
    const auto print = [&](std::uint64_t at, std::span<const std::byte> piece) {
      const std::uint64_t index = request.offset + at / view.element_bytes;
      for (std::size_t begin = 0; begin < piece.size(); begin += line_bytes) {
        view.print_line(out, index + begin / view.element_bytes,
                        piece.subspan(begin, std::min(line_bytes, piece.size() - begin)));
      }
    };
    absl::Status read =
        read_pieces(heap, rank, window->offset + request.offset * view.element_bytes,
                    count * view.element_bytes, print);
    if (!read.ok()) return read;
  }
  print_more_ranks(out, *ranks, end);
  return absl::OkStatus();
}

absl::Status print_signals(std::ostream& out, const HeapReader& heap, const HeapRequest& request) {
  const absl::StatusOr<Ranks> ranks = ranks_of(heap.layout(), request);
  if (!ranks.ok()) return ranks.status();
  bool is_any = false;
  for (std::int32_t rank = ranks->begin; rank < ranks->end; ++rank) {
    for (const HeapWindow& window : heap.layout().windows) {
      if (!window.holds_signals) continue;
      const auto print = [&](std::uint64_t at, std::span<const std::byte> piece) {
        for (std::size_t begin = 0; begin < piece.size(); begin += sizeof(std::int32_t)) {
          std::int32_t value = 0;
          std::memcpy(&value, &piece[begin], sizeof(value));
          if (value == 0) continue;
          is_any = true;
          out << "rank " << rank << "  " << window.name << '['
              << (at + begin) / sizeof(std::int32_t) << "] = " << value << '\n';
        }
      };
      absl::Status read =
          read_pieces(heap, rank, window.offset,
                      window.bytes / sizeof(std::int32_t) * sizeof(std::int32_t), print);
      if (!read.ok()) return read;
    }
  }
  if (!is_any) out << "every signal cell is 0\n";
  return absl::OkStatus();
}

}  // namespace tools
