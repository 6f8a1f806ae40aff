// The text that a run prints.
#ifndef SYMRACE_TOOLS_REPORT_H_
#define SYMRACE_TOOLS_REPORT_H_

#include <ostream>

#include "tools/findings.h"

namespace tools {

// All but the last line of a success, "OK".
void print_report(std::ostream& out, const Findings& findings);

}  // namespace tools

#endif  // SYMRACE_TOOLS_REPORT_H_
