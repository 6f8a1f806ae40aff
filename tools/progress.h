// The progress line of a long run: on stderr when that is a terminal, erased at the end.
#ifndef SYMRACE_TOOLS_PROGRESS_H_
#define SYMRACE_TOOLS_PROGRESS_H_

#include <chrono>
#include <cstdint>

namespace tools {

class Progress {
 public:
  explicit Progress(std::uint64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void update(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t total_;
  bool on_terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace tools

#endif  // SYMRACE_TOOLS_PROGRESS_H_
