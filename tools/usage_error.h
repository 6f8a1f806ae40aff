// What parsing throws on bad input; parse_command_line() catches it at its edge.
#ifndef SYMRACE_TOOLS_USAGE_ERROR_H_
#define SYMRACE_TOOLS_USAGE_ERROR_H_

#include <sstream>
#include <stdexcept>
#include <string>

namespace tools {

// One line: "where: what was wrong; what was expected", given in parts.
class UsageError : public std::runtime_error {
 public:
  template <class... Parts>
  explicit UsageError(const Parts&... parts) : std::runtime_error(join(parts...)) {}

 private:
  template <class... Parts>
  static std::string join(const Parts&... parts) {
    std::ostringstream line;
    (line << ... << parts);
    return line.str();
  }
};

}  // namespace tools

#endif  // SYMRACE_TOOLS_USAGE_ERROR_H_
