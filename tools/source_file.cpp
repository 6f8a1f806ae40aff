#include "tools/source_file.h"

#include <fstream>
#include <string_view>

namespace tools {

std::string project_path(const std::string& file) {
  constexpr std::string_view kRoot = SYMRACE_SOURCE_DIR "/";
  return file.starts_with(kRoot) ? file.substr(kRoot.size()) : file;
}

std::vector<std::string> source_lines(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace tools
