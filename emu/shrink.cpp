#include "emu/shrink.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emu/replay.h"

namespace emu {
namespace {

constexpr std::uint64_t kMostDecisions = 5000;  // longer schedules are left as they are
constexpr std::uint64_t kMostWork = 200000;     // decisions of all attempts

// What must stay: how the run ended, and its first race, or what is wrong with its first output.
class SameFinding {
 public:
  explicit SameFinding(const RecordedRun& run) : wanted_(run) {}

  bool holds(const RecordedRun& run) const {
    const RunResult& result = run.result;
    const RunResult& wanted = wanted_.result;
    if (result.outcome != wanted.outcome) return false;
    if (!wanted.races.empty() &&
        std::none_of(result.races.begin(), result.races.end(),
                     [&](const Race& race) { return same_lines(race, wanted.races.front()); })) {
      return false;
    }
    if (result.outcome == Outcome::kMismatch) {
      return kind_of(result.mismatches.front()) == kind_of(wanted.mismatches.front());
    }
    return std::equal(result.stuck.begin(), result.stuck.end(), wanted.stuck.begin(),
                      wanted.stuck.end(), [](const StuckRank& a, const StuckRank& b) {
                        return a.rank == b.rank && same_line(a.where, b.where);
                      });
  }

 private:
  // "a mixture", "rank 2's input", without the ranges behind the colon.
  static std::pair<std::int32_t, std::string> kind_of(const symrace::Mismatch& mismatch) {
    return {mismatch.rank, mismatch.identity.substr(0, mismatch.identity.find(':'))};
  }

  const RecordedRun& wanted_;
};

struct Schedule {
  std::vector<Decision> decisions;
  std::vector<std::size_t> issuer;  // of a delivery: index of the step that issued it + 1; 0: start
  std::vector<bool> late;
  ScheduleSize size;
};

Schedule read(const Footprints& footprints) {
  Schedule schedule;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> issuers;
  std::size_t last_step = 0;
  std::int32_t last_rank = -1;
  const auto& steps = footprints.steps();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Footprints::Issue& issue : footprints.issues(steps[i])) {
      issuers[{issue.rank, issue.number}] = i;
    }
    if (i == 0) continue;
    const Decision decision = steps[i].decision;
    schedule.decisions.push_back(decision);
    bool late = false;
    std::size_t issuer = 0;
    if (decision.is_delivery()) {
      issuer = issuers[{decision.rank, decision.piece}];
      late = last_step > issuer;
    } else {
      if (last_rank >= 0 && last_rank != decision.rank) ++schedule.size.switches;
      last_rank = decision.rank;
      last_step = i;
    }
    schedule.late.push_back(late);
    schedule.issuer.push_back(issuer);
    if (late) ++schedule.size.late;
  }
  return schedule;
}

class Shrinker {
 public:
  Shrinker(Explorer& explorer, const RecordedRun& run, std::uint64_t most_attempts)
      : explorer_(explorer), same_(run), most_attempts_(most_attempts) {}

  // Tries what is wished for; keeps it when it shows the finding and is smaller.
  bool try_wishes(const std::vector<Decision>& wishes) {
    if (attempts_ == most_attempts_) return false;
    ++attempts_;
    Footprints footprints;
    const auto strategy = make_wish_strategy(wishes);
    RecordedRun run = explorer_.record(*strategy, 0, &footprints);
    if (!same_.holds(run)) return false;
    Schedule schedule = read(footprints);
    if (found_ && schedule.size >= best_.size) return false;
    best_ = std::move(schedule);
    found_ = true;
    return true;
  }

  // Only the deliveries at `kept` (indices into the schedule) stay where they are; the other late
  // ones come right behind their issue.
  bool try_late(const Schedule& from, const std::set<std::size_t>& kept) {
    std::vector<std::vector<Decision>> behind(from.decisions.size() + 1);
    std::vector<bool> moved(from.decisions.size());
    for (std::size_t i = 0; i < from.decisions.size(); ++i) {
      if (!from.late[i] || kept.contains(i)) continue;
      behind[from.issuer[i]].push_back(from.decisions[i]);
      moved[i] = true;
    }
    std::vector<Decision> wishes = behind[0];
    for (std::size_t i = 0; i < from.decisions.size(); ++i) {
      if (!moved[i]) wishes.push_back(from.decisions[i]);
      wishes.insert(wishes.end(), behind[i + 1].begin(), behind[i + 1].end());
    }
    return try_wishes(wishes);
  }

  // Delta debugging: the fewest late deliveries.
  void shrink_late() {
    for (bool again = true; again;) {
      again = false;
      const Schedule from = best_;
      std::vector<std::size_t> late;
      for (std::size_t i = 0; i < from.late.size(); ++i) {
        if (from.late[i]) late.push_back(i);
      }
      if (late.empty()) return;
      for (std::size_t parts = 1; parts <= late.size() && !again; parts *= 2) {
        const std::size_t length = (late.size() + parts - 1) / parts;
        for (std::size_t begin = 0; begin < late.size() && !again; begin += length) {
          const std::size_t end = std::min(begin + length, late.size());
          std::set<std::size_t> kept(late.begin(), late.end());
          for (std::size_t i = begin; i < end; ++i) kept.erase(late[i]);
          again = try_late(from, kept);
        }
      }
    }
  }

  // Joins a rank's steps with its next ones, with the deliveries between them before or behind.
  void shrink_switches() {
    for (bool again = true; again;) {
      again = false;
      const Schedule from = best_;
      for (std::size_t i = 0; i < from.decisions.size() && !again; ++i) {
        if (from.decisions[i].is_delivery()) continue;
        for (std::size_t j = i + 1; j < from.decisions.size() && !again; ++j) {
          if (from.decisions[j] != from.decisions[i]) continue;
          if (j == i + 1) break;
          again = try_moved(from, j, i + 1) || try_moved(from, i, j - 1);
          break;
        }
      }
    }
  }

  bool try_moved(const Schedule& from, std::size_t at, std::size_t to) {
    std::vector<Decision> wishes = from.decisions;
    const Decision moved = wishes[at];
    wishes.erase(wishes.begin() + static_cast<std::ptrdiff_t>(at));
    wishes.insert(wishes.begin() + static_cast<std::ptrdiff_t>(to), moved);
    return try_wishes(wishes);
  }

  const Schedule& best() const { return best_; }
  std::uint64_t attempts() const { return attempts_; }

 private:
  Explorer& explorer_;
  SameFinding same_;
  std::uint64_t most_attempts_;
  std::uint64_t attempts_ = 0;
  bool found_ = false;
  Schedule best_;
};

}  // namespace

Shrunk shrink(Explorer& explorer, const RecordedRun& run, std::uint64_t most_attempts) {
  Shrunk shrunk;
  if (run.decisions.size() > kMostDecisions) {
    shrunk.run = run;
    return shrunk;
  }
  const std::uint64_t attempts = kMostWork / (run.decisions.size() + 1) + 10;
  Shrinker shrinker(explorer, run, std::min(most_attempts, attempts));
  if (!shrinker.try_wishes(run.decisions)) {  // not reproducible: left as it is
    shrunk.run = run;
    return shrunk;
  }
  shrunk.before = shrinker.best().size;
  shrinker.shrink_late();
  shrinker.shrink_switches();
  shrinker.shrink_late();
  shrunk.after = shrinker.best().size;
  shrunk.attempts = shrinker.attempts();
  const auto replay = make_replay_strategy(shrinker.best().decisions);
  shrunk.run = explorer.record(*replay, run.result.seed);
  return shrunk;
}

}  // namespace emu
