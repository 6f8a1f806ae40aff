#include "tools/output_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tools {
namespace {

absl::Status cannot_write(const char* flag, const std::string& path, int error) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": cannot write '", path,
                                                 "': ", std::strerror(error),
                                                 "; expected a writable file, or - for stdout"));
}

}  // namespace

absl::Status OutputFile::failure(int error) const { return cannot_write(flag_, path_, error); }

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::open(const char* flag,
                                                             const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  int descriptor = ::open(path.c_str(), kFlags | O_EXCL, 0666);
  const bool is_made = descriptor >= 0;
  if (!is_made && errno == EEXIST) descriptor = ::open(path.c_str(), kFlags, 0666);
  if (descriptor < 0) return cannot_write(flag, path, errno);
  return std::unique_ptr<OutputFile>(new OutputFile(flag, path, descriptor, is_made));
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (is_empty_) ::unlink(path_.c_str());
}

bool OutputFile::is_same_file(const OutputFile& other) const {
  struct stat mine {};
  struct stat its {};
  return fstat(descriptor_, &mine) == 0 && fstat(other.descriptor_, &its) == 0 &&
         S_ISREG(mine.st_mode) && mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
}

absl::Status OutputFile::write(std::string_view text) {
  is_empty_ = false;
  struct stat info {};
  if (fstat(descriptor_, &info) != 0) return failure(errno);
  if (S_ISREG(info.st_mode) && ftruncate(descriptor_, 0) != 0) return failure(errno);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  // Some file systems tell of a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) return failure(errno);
  return absl::OkStatus();
}

}  // namespace tools
