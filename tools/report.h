// The text that a run prints.
#ifndef SYMRACE_TOOLS_REPORT_H_
#define SYMRACE_TOOLS_REPORT_H_

#include <ostream>
#include <vector>

#include "tools/findings.h"

namespace tools {

// "mismatch on 1 rank:", and a line for each.
void print_mismatches(std::ostream& out, const std::vector<symrace::Mismatch>& mismatches);

// All but the last line of a success, "OK".
void print_report(std::ostream& out, const Findings& findings);

}  // namespace tools

#endif  // SYMRACE_TOOLS_REPORT_H_
