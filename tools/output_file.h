// A file that is known to be writable before the work whose result it will hold.
#ifndef SYMRACE_TOOLS_OUTPUT_FILE_H_
#define SYMRACE_TOOLS_OUTPUT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

namespace tools {

class OutputFile {
 public:
  // Opens or makes it, and leaves what it holds until write(). One that was made and never written
  // is removed again. `flag`: the one that names it, for messages.
  static absl::StatusOr<std::unique_ptr<OutputFile>> open(const char* flag,
                                                          const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // Whether both write to one file, by whatever names.
  bool is_same_file(const OutputFile& other) const;
  // Replaces what it holds.
  absl::Status write(std::string_view text);

 private:
  OutputFile(const char* flag, std::string path, int descriptor, bool is_empty)
      : flag_(flag), path_(std::move(path)), descriptor_(descriptor), is_empty_(is_empty) {}
  absl::Status failure(int error) const;

  const char* flag_;
  std::string path_;
  int descriptor_;
  bool is_empty_;  // made by open(), and not written yet
};

}  // namespace tools

#endif  // SYMRACE_TOOLS_OUTPUT_FILE_H_
