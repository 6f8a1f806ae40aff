#include "emu/stuck.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/error.h"

namespace emu {
namespace {

constexpr std::size_t kMostShown = 16;  // ranks

using symrace::SentSignal;

// By their issue (or, where nothing is late, their act).
std::vector<SentSignal> signals_sent(const RecordedRun& run) {
  std::vector<SentSignal> signals;
  for (const Event& event : run.log.events) {
    const bool is_sent = event.kind == Event::Kind::kIssue || event.kind == Event::Kind::kAct;
    if (event.primitive != symrace::OpKind::kNotify || event.clears() || !is_sent) continue;
    SentSignal signal;
    signal.from = event.rank;
    signal.to = event.target;
    signal.window = run.log.window_names[static_cast<std::size_t>(event.window)];
    signal.cell = static_cast<std::int64_t>(event.offset / sizeof(std::int32_t));
    signal.where = event.where;
    signals.push_back(std::move(signal));
  }
  return signals;
}

std::string cell_of(const std::string& window, std::int64_t cell) {
  return absl::StrCat(window, "[", cell, "]");
}

// Who signalled the cell; or what was signalled that may have been meant for it.
std::string who_signalled(const StuckRank& stuck, const std::vector<SentSignal>& signals) {
  std::string text;
  std::uint64_t to_cell = 0;
  for (const SentSignal& signal : signals) {
    if (signal.to != stuck.rank || signal.window != stuck.window || signal.cell != stuck.cell) {
      continue;
    }
    for (std::uint64_t shown = to_cell; shown < std::min<std::uint64_t>(to_cell + signal.count, 3);
         ++shown) {
      absl::StrAppend(&text, shown > 0 ? ", " : "signalled by ", "rank ", signal.from, " at ",
                      symrace::short_location(signal.where));
    }
    to_cell += signal.count;
  }
  if (to_cell > 3) absl::StrAppend(&text, " and ", to_cell - 3, " more");
  if (to_cell > 0) return text;
  text = "no rank ever notifies this cell";
  for (const SentSignal& signal : signals) {
    const bool other_cell = signal.to == stuck.rank;
    const bool other_rank = signal.to != stuck.rank && signal.window == stuck.window &&
                            signal.cell == stuck.cell && signal.from != stuck.rank;
    if (!other_cell && !other_rank) continue;
    absl::StrAppend(&text, "; rank ", signal.from, " notifies ",
                    cell_of(signal.window, signal.cell), " of rank ", signal.to, " at ",
                    symrace::short_location(signal.where));
    break;
  }
  return text;
}

// Whether a Set has landed on the cell that it waits for, over a value that AtomicAdd had made.
bool set_over_count(const EventLog& log, const StuckRank& stuck) {
  bool counted = false;
  for (const Event& event : log.events) {
    const bool lands = event.kind == Event::Kind::kLand ||
                       (event.kind == Event::Kind::kAct && event.op == symrace::OpKind::kNotify);
    if (!lands || event.target != stuck.rank || event.window < 0 ||
        log.window_names[static_cast<std::size_t>(event.window)] != stuck.window ||
        static_cast<std::int64_t>(event.offset / sizeof(std::int32_t)) != stuck.cell) {
      continue;
    }
    if (event.sets && counted) return true;
    counted = counted || !event.sets;
  }
  return false;
}

}  // namespace

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

Finding explain_stuck(const RecordedRun& run) {
  std::vector<StuckRank> stuck = run.result.stuck;
  for (StuckRank& s : stuck) s.count_lost = s.on_cell && set_over_count(run.log, s);
  return explain_stuck(run.result.outcome == Outcome::kDeadlock ? Finding::Kind::kDeadlock
                                                                : Finding::Kind::kStepBound,
                       stuck, signals_sent(run));
}

Finding explain_stuck(Finding::Kind kind, const std::vector<StuckRank>& stuck,
                      const std::vector<SentSignal>& signals) {
  Finding finding;
  finding.kind = kind;
  finding.symptom = find_symptom("hang");
  finding.title =
      finding.kind == Finding::Kind::kDeadlock
          ? absl::StrCat(stuck.size(), stuck.size() == 1 ? " rank waits" : " ranks wait",
                         " for ever")
          : absl::StrCat(stuck.size(), stuck.size() == 1 ? " rank" : " ranks",
                         " unfinished at the ",
                         kind == Finding::Kind::kStepBound ? "step bound" : "time limit");
  for (std::size_t i = 0; i < std::min(stuck.size(), kMostShown); ++i) {
    const StuckRank& s = stuck[i];
    std::string line = absl::StrCat("rank ", s.rank, ": ", std::string(symrace::op_name(s.op)));
    if (s.on_cell) {
      absl::StrAppend(&line, " ", cell_of(s.window, s.cell), ": expected ",
                      std::string(symbol(s.cmp)), " ", s.expected, ", actual ", s.actual, ";");
    }
    absl::StrAppend(&line, " at ", symrace::short_location(s.where));
    if (s.on_cell && finding.kind == Finding::Kind::kDeadlock) {
      absl::StrAppend(&line, "; ", who_signalled(s, signals));
    }
    finding.details.push_back(std::move(line));
  }
  if (stuck.size() > kMostShown) {
    const std::size_t more = stuck.size() - kMostShown;
    finding.details.push_back(absl::StrCat("and ", more, more == 1 ? " more rank" : " more ranks"));
  }
  if (finding.kind != Finding::Kind::kDeadlock) return finding;

  finding.fix = std::string(finding.symptom->fix);
  const bool none_sent = std::all_of(stuck.begin(), stuck.end(), [&](const StuckRank& s) {
    return s.on_cell && std::none_of(signals.begin(), signals.end(), [&](const SentSignal& signal) {
             return signal.from == s.rank;
           });
  });
  const auto set_lost =
      std::find_if(stuck.begin(), stuck.end(), [](const StuckRank& s) { return s.count_lost; });
  if (set_lost != stuck.end()) {
    finding.missing =
        absl::StrCat("a Set landed on ", cell_of(set_lost->window, set_lost->cell), " of rank ",
                     set_lost->rank, " over a count that AtomicAdd had made");
    finding.fix = std::string(find_symptom("set-and-add")->fix);
  } else if (none_sent && stuck.size() > 1) {
    finding.missing =
        "every stuck rank waits before it has sent anything: each one's own send stands after its "
        "wait";
    finding.fix = "move each rank's notify before its wait";
  }
  return finding;
}

}  // namespace emu
