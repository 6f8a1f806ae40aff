// The SARIF 2.1.0 that --sarif writes: each finding at its source line, so that code hosts show it
// there.
#ifndef SYMRACE_TOOLS_SARIF_REPORT_H_
#define SYMRACE_TOOLS_SARIF_REPORT_H_

#include <string>

#include "tools/findings.h"

namespace tools {

std::string sarif_report(const Findings& findings);

}  // namespace tools

#endif  // SYMRACE_TOOLS_SARIF_REPORT_H_
