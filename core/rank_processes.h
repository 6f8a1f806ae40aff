// RankProcesses: forks a process for each rank of a run, and tells how each ended.
#ifndef SYMRACE_CORE_RANK_PROCESSES_H_
#define SYMRACE_CORE_RANK_PROCESSES_H_

#include <absl/status/status.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace symrace {

class RankProcesses {
 public:
  using Clock = std::chrono::steady_clock;

  struct End {
    std::int32_t rank = 0;
    pid_t pid = 0;
    std::string how;          // "exited with status 3", "was ended by SIGSEGV"
    bool has_failed = false;  // it is not exit status 0
    bool was_killed = false;  // kill_all() had been called
  };

  // Unimplemented where the system has no descriptors of processes (before Linux 5.4).
  static absl::Status check_support();

  RankProcesses() = default;
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;
  // Kills what still runs.
  ~RankProcesses();

  // Forks; `body` is called in the process of the rank, which exits with status 0 when it returns.
  // Whatever becomes of this process, or of the calling thread, ends those. They ignore SIGINT and
  // SIGTERM, which a terminal or timeout(1) sends to all: they are for this process to act on.
  // ResourceExhausted when a process cannot be had.
  absl::Status start(std::int32_t ranks, const std::function<void(std::int32_t rank)>& body);
  // Returns at `until`, and at once when a process has ended or a signal has come: those that have
  // ended since.
  std::vector<End> wait(Clock::time_point until);
  void kill_all();
  std::size_t running() const { return running_.size(); }

 private:
  struct Process {
    std::int32_t rank;
    pid_t pid;
    int descriptor;
  };
  std::vector<Process> running_;
  bool has_killed_ = false;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RANK_PROCESSES_H_
