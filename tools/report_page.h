// tools/report_page.html as a string; the build makes its definition.
#ifndef SYMRACE_TOOLS_REPORT_PAGE_H_
#define SYMRACE_TOOLS_REPORT_PAGE_H_

namespace tools {

extern const char* const kReportPage;

}  // namespace tools

#endif  // SYMRACE_TOOLS_REPORT_PAGE_H_
