#include "tools/html_report.h"

#include <string_view>

#include "tools/json_report.h"
#include "tools/report_page.h"

namespace tools {

std::string html_report(const Findings& findings) {
  constexpr std::string_view kPlace = "@@DATA@@";
  std::string page(kReportPage);
  // Nothing in the data may end the script element that holds it.
  std::string data;
  for (const char c : json_report(findings)) {
    if (c == '/' && !data.empty() && data.back() == '<') data.push_back('\\');
    data.push_back(c);
  }
  return page.replace(page.find(kPlace), kPlace.size(), data);
}

}  // namespace tools
