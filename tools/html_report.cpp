#include "tools/html_report.h"

#include <absl/strings/str_replace.h>

#include <string_view>

#include "tools/json_report.h"
#include "tools/report_page.h"

namespace tools {

std::string html_report(const Findings& findings) {
  constexpr std::string_view kPlace = "@@DATA@@";
  std::string page(kReportPage);
  // In JSON a '<' stands only in strings; written so, it can neither end nor open an element.
  const std::string data = absl::StrReplaceAll(json_report(findings), {{"<", "\\u003c"}});
  return page.replace(page.find(kPlace), kPlace.size(), data);
}

}  // namespace tools
