#include "tools/report.h"

#include <string_view>

#include "core/error.h"

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

std::string_view symbol(pld::WaitCmp cmp) {
  switch (cmp) {
    case pld::WaitCmp::Eq:
      return "==";
    case pld::WaitCmp::Ne:
      return "!=";
    case pld::WaitCmp::Ge:
      return ">=";
    case pld::WaitCmp::Gt:
      return ">";
    case pld::WaitCmp::Le:
      return "<=";
    case pld::WaitCmp::Lt:
      return "<";
  }
  return "?";
}

void print_more(std::ostream& out, std::size_t ranks) {
  if (ranks <= kMostRanksShown) return;
  out << "  and " << Counted{ranks - kMostRanksShown, "more rank", "more ranks"} << '\n';
}

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

void print_stuck(std::ostream& out, std::string_view title,
                 const std::vector<emu::StuckRank>& stuck) {
  out << title << ": " << Counted{stuck.size(), "rank", "ranks"} << " unfinished:\n";
  for (std::size_t i = 0; i < std::min(stuck.size(), kMostRanksShown); ++i) {
    const emu::StuckRank& s = stuck[i];
    out << "  rank " << s.rank << ": " << symrace::op_name(s.op);
    if (s.on_cell) {
      out << ' ' << s.window << '[' << s.cell << "]: expected " << symbol(s.cmp) << ' '
          << s.expected << ", actual " << s.actual << ';';
    }
    out << " at " << symrace::short_location(s.where) << '\n';
  }
  print_more(out, stuck.size());
}

void print_headline(std::ostream& out, const RunRequest& request, const emu::RecordedRun& run) {
  out << request.program->name << " · "
      << Counted{static_cast<std::uint64_t>(request.arguments.ranks), "rank", "ranks"} << " · "
      << request.options.model.name << " · " << request.strategy;
  if (request.replay_token.empty()) out << " · seed " << run.result.seed;
  out << " · " << Counted{run.result.decisions, "decision", "decisions"} << " · trace "
      << hex(run.trace_hash) << '\n';
}

void print_exploration(std::ostream& out, const emu::Exploration& exploration,
                       const emu::Seeds& seeds) {
  const Counted schedules{exploration.schedules, "schedule", "schedules"};
  if (exploration.interrupted) {
    out << "interrupted after " << schedules << ": "
        << Counted{exploration.failures(), "failure", "failures"} << '\n';
  } else if (exploration.first_failure) {
    out << exploration.failures() << " of " << schedules
        << " failed: " << Counted{exploration.mismatches, "mismatch", "mismatches"} << ", "
        << Counted{exploration.deadlocks, "deadlock", "deadlocks"} << ", "
        << Counted{exploration.step_bounds, "step bound", "step bounds"} << "; first at seed "
        << exploration.first_failure->seed << '\n';
  } else {
    out << schedules << " · seeds " << seeds.first << ".." << seeds.first + (seeds.count - 1)
        << " · 0 failures\n";
  }
}

void print_run(std::ostream& out, const Findings& findings, const emu::RecordedRun& run) {
  const emu::RunResult& result = run.result;
  print_headline(out, findings.request, run);
  switch (result.outcome) {
    case emu::Outcome::kMismatch:
      print_mismatches(out, result.mismatches);
      break;
    case emu::Outcome::kDeadlock:
      print_stuck(out, "deadlock", result.stuck);
      break;
    case emu::Outcome::kStepBound:
      print_stuck(out, "step bound reached", result.stuck);
      break;
    case emu::Outcome::kInterrupted:
      out << "interrupted after " << Counted{result.decisions, "decision", "decisions"} << '\n';
      return;
    case emu::Outcome::kOk:
    case emu::Outcome::kError:
      return;
  }
  out << "replay: " << findings.replay_command << '\n';
}

}  // namespace

void print_report(std::ostream& out, const Findings& findings) {
  const bool failed = !findings.error().empty();  // its one line goes to stderr
  if (findings.exploration && !failed) {
    print_exploration(out, *findings.exploration, findings.request.seeds);
  }
  if (!findings.run) return;
  if (findings.request.timeline) out << emu::timeline(findings.run->log);
  if (!failed) print_run(out, findings, *findings.run);
}

}  // namespace tools
