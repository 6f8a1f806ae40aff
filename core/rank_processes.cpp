#include "core/rank_processes.h"

#include <absl/strings/str_cat.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/kernel_faults.h"

namespace symrace {
namespace {

// By their numbers: <sys/pidfd.h> of glibc 2.36 declares them as C++ functions.
int pidfd_open(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }
void pidfd_kill(int descriptor) { syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0); }

// Of the process that was just forked.
void prepare_rank(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it died before that
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  unwatch_kernels();
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? absl::StrCat("SIG", name) : absl::StrCat("signal ", number);
}

// Waits for a process that has ended, or is about to.
void reap(RankProcesses::End& end, int descriptor) {
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(descriptor), &info, WEXITED) != 0) {
    if (errno == EINTR) continue;
    end.how = "ended in a way that nobody has told";  // SIGCHLD is ignored, say
    end.has_failed = true;
    return;
  }
  const bool has_exited = info.si_code == CLD_EXITED;
  end.how = has_exited ? absl::StrCat("exited with status ", info.si_status)
                       : absl::StrCat("was ended by ", signal_name(info.si_status));
  end.has_failed = !has_exited || info.si_status != 0;
}

}  // namespace

absl::Status RankProcesses::check_support() {
  const int own = pidfd_open(getpid());
  siginfo_t info{};
  // Not a child: a system that knows such descriptors says so.
  const bool can_wait =
      own >= 0 && waitid(P_PIDFD, static_cast<id_t>(own), &info, WEXITED) != 0 && errno == ECHILD;
  const int error = errno;
  if (own >= 0) close(own);
  if (can_wait) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("ranks as processes need pidfd_open and waitid of Linux 5.4, which this system "
                   "refuses: ",
                   std::strerror(error), "; run the ranks as threads"));
}

RankProcesses::~RankProcesses() {
  kill_all();
  for (const Process& process : running_) {
    End end;
    reap(end, process.descriptor);
    close(process.descriptor);
  }
}

absl::Status RankProcesses::start(std::int32_t ranks,
                                  const std::function<void(std::int32_t rank)>& body) {
  const pid_t parent = getpid();
  std::fflush(nullptr);  // else each process would have the text, and write it once more
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      prepare_rank(parent);
      body(rank);
      std::fflush(nullptr);
      _exit(0);
    }
    const int descriptor = pid < 0 ? -1 : pidfd_open(pid);
    if (descriptor >= 0) {
      running_.push_back({rank, pid, descriptor});
      continue;
    }
    const int error = errno;
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot start a process for each of ", ranks, " ranks, only for ", rank,
        " of them: ", std::strerror(error),
        "; use fewer ranks, or raise the limit of processes (ulimit -u) or open files (-n)"));
  }
  return absl::OkStatus();
}

std::vector<RankProcesses::End> RankProcesses::wait(Clock::time_point until) {
  std::vector<pollfd> descriptors;
  descriptors.reserve(running_.size());
  for (const Process& process : running_) {
    descriptors.push_back({.fd = process.descriptor, .events = POLLIN, .revents = 0});
  }
  int milliseconds = -1;
  if (until != Clock::time_point::max()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::min(until, Clock::now()));
    milliseconds = static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000));
  }
  std::vector<End> ends;
  if (poll(descriptors.data(), descriptors.size(), milliseconds) <= 0) return ends;
  std::vector<Process> left;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    const Process& process = running_[i];
    if (descriptors[i].revents == 0) {
      left.push_back(process);
      continue;
    }
    End& end = ends.emplace_back();
    end.rank = process.rank;
    end.pid = process.pid;
    end.was_killed = has_killed_;
    reap(end, process.descriptor);
    close(process.descriptor);
  }
  running_ = std::move(left);
  return ends;
}

void RankProcesses::kill_all() {
  for (const Process& process : running_) {
    pidfd_kill(process.descriptor);
  }
  has_killed_ = true;
}

}  // namespace symrace
