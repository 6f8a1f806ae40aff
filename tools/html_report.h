// The page that --report writes: tools/report_page.html with the JSON of --json in it, and the
// source lines of the kernels where they can be read.
#ifndef SYMRACE_TOOLS_HTML_REPORT_H_
#define SYMRACE_TOOLS_HTML_REPORT_H_

#include <string>

#include "tools/findings.h"

namespace tools {

std::string html_report(const Findings& findings);

}  // namespace tools

#endif  // SYMRACE_TOOLS_HTML_REPORT_H_
