// The JSON that --json writes; docs/json.md says what it holds.
#ifndef SYMRACE_TOOLS_JSON_REPORT_H_
#define SYMRACE_TOOLS_JSON_REPORT_H_

#include <string>

#include "tools/findings.h"

namespace tools {

std::string json_report(const Findings& findings);

}  // namespace tools

#endif  // SYMRACE_TOOLS_JSON_REPORT_H_
