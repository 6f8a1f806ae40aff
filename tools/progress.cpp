#include "tools/progress.h"

#include <unistd.h>

#include <cstdio>

namespace tools {
namespace {

constexpr std::chrono::milliseconds kPatience{500};  // a run that ends sooner shows nothing
constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

Progress::Progress(std::uint64_t total)
    : total_(total), on_terminal_(isatty(STDERR_FILENO) == 1), next_(start_ + kPatience) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::uint64_t done) {
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kPeriod;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fprintf(stderr, "\r\x1b[K%llu of %llu schedules, %.0f a second",
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total_),
               static_cast<double>(done) / seconds);
}

}  // namespace tools
