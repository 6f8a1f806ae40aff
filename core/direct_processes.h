// DirectProcesses: the ranks of the direct engine as processes. Runs a kernel in each, brings back
// what it leaves, and ends the run when one dies.
#ifndef SYMRACE_CORE_DIRECT_PROCESSES_H_
#define SYMRACE_CORE_DIRECT_PROCESSES_H_

#include <absl/status/status.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/direct_waits.h"
#include "core/rank_context.h"
#include "core/rank_outputs.h"
#include "core/rank_processes.h"
#include "core/shared_array.h"
#include "core/signal_record.h"

namespace symrace {

// What a rank's process leaves for the one that forked it, in memory that they share. Pointers into
// what was there before the fork, such as windows and source locations, hold in both.
class RankRecord {
 public:
  // At the end of the kernel; `error` is cut to kLongestError bytes.
  void leave(std::string_view error, const SignalRecord& signals);
  bool has_left() const { return has_left_; }
  std::string error() const { return error_; }
  // Into a record of the same run that is still empty.
  void bring_signals(SignalRecord& to) const;

  // What the kernel runs with, for its latest op is to be told even of one that was killed.
  RankContext context;

  void clear();

 private:
  static constexpr std::size_t kLongestError = 2000;

  bool has_left_ = false;
  char error_[kLongestError + 1] = "";
  bool has_all_signals_ = false;
  std::size_t signal_count_ = 0;
  // Entries, where memory is taken as they come.
  alignas(SignalRecord::Entry)
      std::byte signals_[SignalRecord::kMostEntries * sizeof(SignalRecord::Entry)];
};

class DirectProcesses {
 public:
  using Clock = RunWatch::Clock;
  // Of a rank: runs its kernel, and leaves what came of it in the record.
  using Body = std::function<void(std::int32_t rank, RankRecord& record)>;

  // Throws boost::interprocess::interprocess_exception when there is no memory.
  DirectProcesses(std::int32_t ranks, DirectWaits& waits)
      : waits_(waits), records_(static_cast<std::size_t>(ranks)) {}

  // Returns when every process is gone, with `outputs` (see RankOutputs) written; how the run ended
  // is known to the waits. Ranks that do not come to their end soon after the run's are killed.
  // ResourceExhausted when processes or memory cannot be had.
  absl::Status run(const Body& body, const std::vector<std::vector<PrivateRegion>>& outputs,
                   Clock::time_point deadline, const std::atomic<bool>* interrupt);
  const RankRecord& record(std::int32_t rank) const {
    return records_[static_cast<std::size_t>(rank)];
  }
  // One line: of a kernel that failed, or of a process that died; empty: none.
  const std::string& error(std::int32_t rank) const {
    return errors_[static_cast<std::size_t>(rank)];
  }

 private:
  void watch(RankProcesses& processes, Clock::time_point deadline,
             const std::atomic<bool>* interrupt);
  // `are_stuck`: ranks were killed since they did not leave a run that had come to no end.
  void take_end(const RankProcesses::End& end, bool are_stuck);

  DirectWaits& waits_;
  SharedArray<RankRecord> records_;
  std::vector<std::string> errors_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_PROCESSES_H_
