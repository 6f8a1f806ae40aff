// `a2a3sim explain`: a row of the symptom tables, or all of them.
#ifndef SYMRACE_TOOLS_EXPLAIN_COMMAND_H_
#define SYMRACE_TOOLS_EXPLAIN_COMMAND_H_

#include <ostream>
#include <string_view>

namespace tools {

// `symptom`: a known key, or empty for all.
void explain(std::ostream& out, std::string_view symptom);

}  // namespace tools

#endif  // SYMRACE_TOOLS_EXPLAIN_COMMAND_H_
