// Source files as reports name them.
#ifndef SYMRACE_TOOLS_SOURCE_FILE_H_
#define SYMRACE_TOOLS_SOURCE_FILE_H_

#include <string>
#include <vector>

namespace tools {

// `file`, as compiled, relative to the project it belongs to where that is this one.
std::string project_path(const std::string& file);

// The lines of a file; empty when it cannot be read.
std::vector<std::string> source_lines(const std::string& file);

}  // namespace tools

#endif  // SYMRACE_TOOLS_SOURCE_FILE_H_
