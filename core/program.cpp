#include "core/program.h"

#include <charconv>

namespace symrace {

std::string_view Arguments::choice(std::string_view name) const {
  const auto found = flags.find(name);
  return found == flags.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t Arguments::integer(std::string_view name) const {
  const std::string_view text = choice(name);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool Arguments::is_set(std::string_view name) const { return choice(name) == "true"; }

Arguments default_arguments(const ProgramInfo& info, std::int32_t ranks) {
  Arguments arguments;
  arguments.ranks = ranks;
  arguments.size = info.default_size;
  for (const Flag& flag : info.flags) {
    arguments.flags[std::string(flag.name)] = std::string(flag.default_value);
  }
  return arguments;
}

}  // namespace symrace
