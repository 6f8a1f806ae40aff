// Strict reading of flag values. Each throws UsageError, which names the flag.
#ifndef SYMRACE_TOOLS_VALUES_H_
#define SYMRACE_TOOLS_VALUES_H_

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program.h"
#include "tools/usage_error.h"

namespace tools {

inline constexpr std::size_t kMostRanks = 65536;

// The whole of `text` as a decimal number.
template <std::integral T>
T parse_integer(std::string_view flag, std::string_view text, T smallest,
                T largest = std::numeric_limits<T>::max()) {
  T value{};
  // An unsigned from_chars calls "-5" no number; it is one, only too small.
  const bool below_unsigned = std::unsigned_integral<T> && text.starts_with('-') &&
                              text.find_first_not_of("0123456789", 1) == std::string_view::npos &&
                              text.size() > 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool out_of_range = error == std::errc::result_out_of_range;
  const bool is_number = below_unsigned || ((error == std::errc() || out_of_range) &&
                                            end == text.data() + text.size());
  if (is_number && !below_unsigned && !out_of_range && value >= smallest && value <= largest) {
    return value;
  }
  const std::string_view wrong = is_number ? "is out of range" : "is not an integer";
  if (largest == std::numeric_limits<T>::max()) {
    throw UsageError(flag, ": '", text, "' ", wrong, "; expected an integer of at least ",
                     std::to_string(smallest), is_number ? " that fits " : "",
                     is_number ? std::to_string(sizeof(T) * 8) + " bits" : "");
  }
  throw UsageError(flag, ": '", text, "' ", wrong, "; expected an integer from ",
                   std::to_string(smallest), " to ", std::to_string(largest));
}

// "1.5 GiB".
std::string in_gib(std::uint64_t bytes);

// What the machine could give now, in bytes; 0 when it does not tell.
std::uint64_t available_memory();

// `text` when it is one of `choices`.
std::string parse_choice(std::string_view flag, std::string_view text,
                         std::span<const std::string_view> choices);

// Distinct ids, as "0,1" or "0-7" or both: rank r runs on the r-th.
std::vector<std::int32_t> parse_devices(std::string_view flag, std::string_view text);

// Refuses a size whose host data cannot fit this machine, before anything is allocated. Rows have
// `sizes_a_row` times as many elements.
void check_fits_memory(std::string_view flag, const symrace::Arguments& arguments,
                       std::int64_t sizes_a_row);

}  // namespace tools

#endif  // SYMRACE_TOOLS_VALUES_H_
