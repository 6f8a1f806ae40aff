#include "tools/report.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "core/error.h"
#include "tools/cost_table.h"

namespace tools {
namespace {

constexpr std::size_t kMostRanksShown = 16;

struct Counted {
  std::uint64_t count;
  std::string_view one;
  std::string_view many;
};

std::ostream& operator<<(std::ostream& out, const Counted& counted) {
  return out << counted.count << ' ' << (counted.count == 1 ? counted.one : counted.many);
}

void print_more(std::ostream& out, std::size_t ranks) {
  if (ranks <= kMostRanksShown) return;
  out << "  and " << Counted{ranks - kMostRanksShown, "more rank", "more ranks"} << '\n';
}

void print_headline(std::ostream& out, const Findings& findings, const emu::RecordedRun& run) {
  const RunRequest& request = findings.request;
  out << request.program->name << " · "
      << Counted{static_cast<std::uint64_t>(request.arguments.ranks), "rank", "ranks"} << " · "
      << request.options.model.name << " · " << request.strategy;
  if (request.replay_token.empty() && !request.is_exhaustive()) {
    out << " · seed " << run.result.seed;
  }
  out << " · " << Counted{run.result.decisions, "decision", "decisions"};
  out << " · trace " << hex(run.trace_hash) << '\n';
  if (findings.shrunk) {
    const emu::ScheduleSize& before = findings.shrunk->before;
    const emu::ScheduleSize& after = findings.shrunk->after;
    out << "shrunk: late deliveries from " << before.late << " to " << after.late
        << ", switches between ranks from " << before.switches << " to " << after.switches << '\n';
  }
}

void print_failures(std::ostream& out, const emu::Exploration& sum, bool with_races) {
  out << Counted{sum.mismatches, "mismatch", "mismatches"} << ", "
      << Counted{sum.deadlocks, "deadlock", "deadlocks"} << ", "
      << Counted{sum.step_bounds, "step bound", "step bounds"};
  if (with_races) out << ", " << sum.racy << " with races";
}

void print_exploration(std::ostream& out, const Findings& findings) {
  const RunRequest& request = findings.request;
  const emu::Exploration& sum = *findings.exploration;
  const bool with_races = request.options.detect_races;
  const Counted schedules{sum.schedules, "schedule", "schedules"};
  if (sum.interrupted) {
    out << "interrupted after " << schedules << ": " << Counted{sum.failed, "failure", "failures"}
        << '\n';
  } else if (sum.first_failure) {
    out << sum.failed << " of " << schedules << " failed: ";
    print_failures(out, sum, with_races);
    out << "; first at seed " << sum.first_failure->seed << '\n';
  } else {
    out << schedules << " · seeds " << request.seeds.first << ".."
        << request.seeds.first + (request.seeds.count - 1) << " · 0 failures\n";
  }
}

void print_exhaustive(std::ostream& out, const Findings& findings) {
  using End = emu::Exploration::End;
  const RunRequest& request = findings.request;
  const emu::Exploration& sum = *findings.exploration;
  const std::string_view model = request.options.model.name;
  const Counted executions{sum.schedules, "execution", "executions"};
  const bool complete = sum.end == End::kComplete && !sum.interrupted;
  if (complete && sum.failed == 0) {
    out << "verified: all " << sum.schedules << " executions, model " << model << '\n';
  } else {
    if (findings.stopped_short()) out << "not verified: ";
    out << sum.failed << " of " << executions << " failed: ";
    print_failures(out, sum, request.options.detect_races);
    out << "; model " << model << '\n';
    if (sum.interrupted) {
      out << "not all were visited: interrupted\n";
    } else if (sum.end == End::kMaxExecutions) {
      out << "not all were visited: stopped at --max-executions " << request.bounds.max_executions
          << '\n';
    } else if (sum.end == End::kTimeLimit) {
      out << "not all were visited: stopped at --time-limit "
          << std::chrono::duration_cast<std::chrono::seconds>(request.bounds.time_limit).count()
          << '\n';
    } else if (sum.end == End::kFailure) {
      out << "not all were visited: stopped at the first failure\n";
    } else {
      out << "these are all executions\n";
    }
  }
  // A bound that is no news is none.
  const bool counted = sum.naive.known || sum.naive.count > absl::uint128{sum.schedules};
  out << "naive enumeration: ";
  if (counted) {
    out << sum.naive.text() << " schedules for " << (sum.schedules == 1 ? "this one" : "these");
  } else {
    out << "not counted";
  }
  out << "; " << Counted{sum.abandoned, "schedule", "schedules"} << " given up as known\n";
}

void print_determinism(std::ostream& out, const Findings& findings) {
  const emu::DeterminismCheck& check = *findings.determinism;
  const Counted schedules{check.schedules, "schedule", "schedules"};
  if (check.interrupted) {
    out << "interrupted after " << schedules << '\n';
  } else if (check.divergence) {
    out << "not deterministic: under seed " << check.divergence->seed << ", "
        << check.divergence->text
        << "\n  the program depends on something beside its arguments and the schedule: a clock, "
           "an address, or what an earlier schedule left\n";
  } else {
    out << schedules << ", each run twice: the same traces\n";
  }
}

void print_modelled(std::ostream& out, const Findings& findings, const emu::Exploration& sum) {
  const std::optional<emu::Exploration::ModelledTimes> modelled = sum.modelled;
  if (!modelled) return;
  out << "modelled time " << microseconds(modelled->fastest);
  if (modelled->fastest != modelled->slowest) out << " to " << microseconds(modelled->slowest);
  out << " · costs " << findings.costs_name() << '\n';
}

void print_modelled(std::ostream& out, const Findings& findings, const emu::RunResult& result) {
  if (!result.has_modelled_time()) return;
  const auto last = std::max_element(result.rank_ps.begin(), result.rank_ps.end());
  out << "modelled time " << microseconds(*last) << " · rank " << last - result.rank_ps.begin()
      << " last · costs " << findings.costs_name() << '\n';
}

void print_run(std::ostream& out, const Findings& findings, const emu::RecordedRun& run) {
  const emu::RunResult& result = run.result;
  print_headline(out, findings, run);
  if (result.outcome == emu::Outcome::kInterrupted) {
    out << "interrupted after " << Counted{result.decisions, "decision", "decisions"} << '\n';
    return;
  }
  print_modelled(out, findings, result);
  if (result.outcome == emu::Outcome::kMismatch) print_mismatches(out, result.mismatches);
  for (const emu::Finding& finding : findings.findings) {
    out << emu::finding_text(finding);
  }
  if (!findings.findings.empty()) out << "replay: " << findings.replay_command << '\n';
}

}  // namespace

void print_mismatches(std::ostream& out, const std::vector<symrace::Mismatch>& mismatches) {
  out << "mismatch on " << Counted{mismatches.size(), "rank", "ranks"} << ":\n";
  for (std::size_t i = 0; i < std::min(mismatches.size(), kMostRanksShown); ++i) {
    const symrace::Mismatch& m = mismatches[i];
    out << "  rank " << m.rank << ": " << m.differing << " of " << m.total
        << " elements differ; first y[" << m.rank << "][" << m.index << "]: expected " << m.expected
        << ", actual " << m.actual << ": " << m.identity << '\n';
  }
  print_more(out, mismatches.size());
}

void print_report(std::ostream& out, const Findings& findings) {
  const bool failed = !findings.error().empty();  // its one line goes to stderr
  if (findings.determinism) print_determinism(out, findings);
  if (findings.exploration && !failed) {
    if (findings.request.is_exhaustive()) {
      print_exhaustive(out, findings);
    } else {
      print_exploration(out, findings);
    }
    print_modelled(out, findings, *findings.exploration);
  }
  if (!findings.run) return;
  if (findings.request.timeline) out << emu::timeline(findings.run->log);
  if (!failed) print_run(out, findings, *findings.run);
}

}  // namespace tools
