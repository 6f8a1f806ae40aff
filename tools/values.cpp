#include "tools/values.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <unistd.h>

#include <fstream>
#include <unordered_set>

#include "tools/suggest.h"

namespace tools {
namespace {

constexpr std::string_view kDeviceForm = "expected distinct device ids, as 0,1 or 0-7";

// `text` is an id, alone or as an end of the range `entry`.
std::int32_t parse_device(std::string_view flag, std::string_view entry, std::string_view text) {
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc::result_out_of_range) {
    throw UsageError(flag, ": '", entry, "' is out of range; expected device ids from 0 to ",
                     std::numeric_limits<std::int32_t>::max());
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UsageError(flag, ": '", entry, "' is not a device id; ", kDeviceForm);
  }
  return id;
}

std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

std::string in_gib(std::uint64_t bytes) {
  return absl::StrFormat("%.1f GiB", static_cast<double>(bytes) / (1ULL << 30));
}

std::uint64_t available_memory() {
  std::ifstream lines("/proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string name, rest; lines >> name >> kib && std::getline(lines, rest);) {
    if (name == "MemAvailable:") return kib << 10;
  }
  return 0;
}

std::string parse_choice(std::string_view flag, std::string_view text,
                         std::span<const std::string_view> choices) {
  std::string listed;
  for (const std::string_view choice : choices) {
    if (choice == text) return std::string(text);
    listed.append(listed.empty() ? "" : ", ").append(choice);
  }
  throw UsageError(flag, ": '", text, "' is not one of ", listed, did_you_mean(text, choices, ""));
}

std::vector<std::int32_t> parse_devices(std::string_view flag, std::string_view text) {
  std::vector<std::int32_t> ids;
  std::unordered_set<std::int32_t> seen;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view entry = text.substr(begin, end - begin);
    begin = end + 1;
    if (entry.empty()) {
      throw UsageError(flag, ": '", text, "' has an empty entry; ", kDeviceForm);
    }
    const std::size_t dash = entry.find('-', 1);
    const std::int32_t first = parse_device(flag, entry, entry.substr(0, dash));
    const std::int32_t last =
        dash == std::string_view::npos ? first : parse_device(flag, entry, entry.substr(dash + 1));
    if (first < 0 || last < 0) {
      throw UsageError(flag, ": '", entry, "' is negative; ", kDeviceForm);
    }
    if (last < first) {
      throw UsageError(flag, ": range '", entry, "' runs backwards; expected ", last, "-", first);
    }
    if (static_cast<std::size_t>(last - first) >= kMostRanks - ids.size()) {
      throw UsageError(flag, ": '", text, "' names more than ", kMostRanks,
                       " devices; expected at most that many");
    }
    for (std::int64_t id = first; id <= last; ++id) {
      ids.push_back(static_cast<std::int32_t>(id));
      if (!seen.insert(ids.back()).second) {
        throw UsageError(flag, ": device ", id, " is named twice; ", kDeviceForm);
      }
    }
  }
  return ids;
}

void check_fits_memory(std::string_view flag, const symrace::Arguments& arguments,
                       std::int64_t sizes_a_row) {
  // Input, output, golden and a matrix that a wrong output is compared with; and one window.
  constexpr std::uint64_t kCopies = 5;
  const std::uint64_t bytes_an_element =
      kCopies * static_cast<std::uint64_t>(arguments.ranks) *
      static_cast<std::uint64_t>(pl::dtype_bytes(arguments.dtype));
  const std::uint64_t memory = physical_memory();
  const auto rows = static_cast<std::uint64_t>(sizes_a_row);
  const std::uint64_t largest = memory / bytes_an_element / rows;
  if (static_cast<std::uint64_t>(arguments.size) <= largest) return;
  const std::string times = rows == 1 ? "" : absl::StrCat(rows, " times ");
  throw UsageError(flag, ": ", times, arguments.size, " elements of ",
                   pl::dtype_name(arguments.dtype), " on each of ", arguments.ranks,
                   " ranks do not fit this machine's ", in_gib(memory), " of memory; expected ",
                   largest == 0 ? "fewer of them" : absl::StrCat("at most ", largest));
}

}  // namespace tools
