#include "core/direct_processes.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace symrace {
namespace {

// After the end of a run, or of the rank that came to its end last: a rank that waits or comes to
// an op ends at once.
constexpr std::chrono::milliseconds kGrace{500};

static_assert(std::is_trivially_copyable_v<SignalRecord::Entry>);

}  // namespace

void RankRecord::clear() {
  has_left_ = has_all_signals_ = false;
  signal_count_ = 0;
  context.ops = 0;
}

void RankRecord::leave(std::string_view error, const SignalRecord& signals) {
  error_[error.copy(error_, kLongestError)] = '\0';
  const std::vector<SignalRecord::Entry> entries = signals.entries();
  std::copy_n(std::as_bytes(std::span(entries)).begin(),
              entries.size() * sizeof(SignalRecord::Entry), signals_);
  signal_count_ = entries.size();
  has_all_signals_ = signals.is_complete();
  has_left_ = true;
}

void RankRecord::bring_signals(SignalRecord& to) const {
  std::vector<SignalRecord::Entry> entries(signal_count_);
  std::copy_n(signals_, entries.size() * sizeof(SignalRecord::Entry),
              std::as_writable_bytes(std::span(entries)).begin());
  to.restore(entries, has_all_signals_);
}

absl::Status DirectProcesses::run(const Body& body,
                                  const std::vector<std::vector<PrivateRegion>>& outputs,
                                  Clock::time_point deadline, const std::atomic<bool>* interrupt) {
  const auto ranks = static_cast<std::int32_t>(records_.size());
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RankRecord& record = records_[static_cast<std::size_t>(rank)];
    record.clear();
    record.context.rank = rank;
  }
  errors_.assign(records_.size(), "");
  std::optional<RankOutputs> returned;
  try {
    returned.emplace(outputs);
  } catch (const boost::interprocess::interprocess_exception& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot share the outputs with the ranks' processes: ", error.what()));
  }
  RankProcesses processes;
  absl::Status started = processes.start(ranks, [&](std::int32_t rank) {
    RankRecord& record = records_[static_cast<std::size_t>(rank)];
    body(rank, record);
    returned->send(rank);
    waits_.finish(rank, record.error()[0] != '\0');
  });
  if (!started.ok()) return started;
  watch(processes, deadline, interrupt);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    if (record(rank).has_left()) returned->receive(rank);
  }
  return absl::OkStatus();
}

void DirectProcesses::watch(RankProcesses& processes, Clock::time_point deadline,
                            const std::atomic<bool>* interrupt) {
  bool was_over = false;
  bool are_stuck = false;
  Clock::time_point kill_at = RunWatch::kNever;
  while (processes.running() != 0) {
    const Clock::time_point now = Clock::now();
    if (!waits_.is_over()) {
      if (interrupt != nullptr && interrupt->load(std::memory_order_relaxed)) {
        waits_.stop(RunWatch::End::kInterrupted);
      } else if (now >= deadline) {
        waits_.stop(RunWatch::End::kTimeLimit);
      }
    }
    Clock::time_point until = deadline;
    if (waits_.is_over()) {
      if (!std::exchange(was_over, true)) kill_at = now + kGrace;
      if (now >= kill_at) {
        processes.kill_all();
        are_stuck = waits_.ended() == RunWatch::End::kDeadlock ||
                    waits_.ended() == RunWatch::End::kTimeLimit;
        kill_at = RunWatch::kNever;
      }
      until = kill_at;
    } else if (interrupt != nullptr) {
      until = std::min(deadline, now + RunWatch::kLookForInterrupt);
    }
    for (const RankProcesses::End& end : processes.wait(until)) {
      take_end(end, are_stuck);
      if (was_over && !end.was_killed) kill_at = Clock::now() + kGrace;
    }
  }
}

void DirectProcesses::take_end(const RankProcesses::End& end, bool are_stuck) {
  const RankRecord& left = record(end.rank);
  std::string& error = errors_[static_cast<std::size_t>(end.rank)];
  if (left.has_left() && (!end.has_failed || end.was_killed)) {
    error = left.error();
    return;
  }
  const bool was_in_op = left.context.ops != 0 && left.context.latest.op != OpKind::kUse;
  if (end.was_killed && was_in_op) waits_.abandon(end.rank, left.context.latest);
  // What a stuck rank was in has to be told; if it was in nothing, that is.
  if (end.was_killed && (was_in_op || !are_stuck)) return;
  if (end.was_killed) {
    error = endless(left.context);
  } else {
    const std::string how = absl::StrCat(end.how, " in process ", end.pid);
    error = absl::StrCat(between_ops(left.context, how).data(), "; expected it to return");
  }
  waits_.stop(RunWatch::End::kError);
}

}  // namespace symrace
