// Race detection against brute force: on random small kernels, over all executions, the pairs of
// source lines that the detector reports are those that this file derives from the event logs.
//
// The brute force builds the whole happens-before graph of a log, edge by edge from the rules of
// docs/memory-model.md and docs/races.md, closes it, and looks at every pair of accesses. It shares
// nothing with the detector: ops are known by their source line, and rules are written out again.
#include <algorithm>
#include <map>
#include <tuple>

#include "emu/replay.h"
#include "tests/emu/random_kernel.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kKernels = 3000;
#else
constexpr std::uint64_t kKernels = 100000;
#endif

const Model kModels[] = {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()};

enum class How { kRead, kWrite, kAdd, kSignalAdd, kSignalSet, kWait };

struct Touch {
  std::size_t event = 0;  // by which it takes effect
  std::int32_t rank = 0;
  std::uint32_t piece = 0;  // 0: in the rank's own step
  How how = How::kRead;
  bool seen_by_own_step = false;  // an own write to own slice that the rank sees before it lands
  std::int32_t op = 0;
  std::tuple<std::int32_t, std::int32_t> slice;  // rank, window
  std::int64_t first = 0, last = 0;              // cells
};

bool writes(const Touch& touch) { return touch.how != How::kRead && touch.how != How::kWait; }
bool adds(const Touch& touch) { return touch.how == How::kAdd || touch.how == How::kSignalAdd; }
bool signals(const Touch& touch) {
  return touch.how == How::kSignalAdd || touch.how == How::kSignalSet;
}
bool overlap(const Touch& a, const Touch& b) {
  return a.slice == b.slice && a.first <= b.last && b.first <= a.last;
}

bool conflicting(const Touch& a, const Touch& b) {
  if (!overlap(a, b) || (!writes(a) && !writes(b))) return false;
  if (adds(a) && adds(b)) return false;  // all data are int32 here
  if (a.how == How::kSignalSet && b.how == How::kSignalSet) return false;
  if ((a.how == How::kWait && signals(b)) || (b.how == How::kWait && signals(a))) return false;
  return true;
}

// Order that two accesses of one rank to the same bytes have of themselves.
bool ordered_within_rank(const Touch& a, const Touch& b) {
  if (a.rank != b.rank) return false;
  if (a.piece == 0 && b.piece == 0) return true;
  if (a.piece != 0 && b.piece != 0) {
    const Touch& first = a.piece <= b.piece ? a : b;
    const Touch& second = a.piece <= b.piece ? b : a;
    return writes(first) && (writes(second) || std::get<0>(second.slice) == second.rank);
  }
  return a.piece != 0 ? a.seen_by_own_step : b.seen_by_own_step;
}

bool is_landing(const Event& event) {
  return event.kind == Event::Kind::kLand || event.kind == Event::Kind::kTake;
}

class BruteForce {
 public:
  BruteForce(const RandomKernel& kernel, const EventLog& log, const Model& model)
      : kernel_(kernel), log_(log), model_(model), before_(log.events.size(), 0) {
    for (std::size_t i = 0; i < log.events.size(); ++i) {
      if (log.events[i].kind != Event::Kind::kFinish) add(i);
    }
  }

  std::set<std::pair<std::int32_t, std::int32_t>> races() const {
    std::set<std::pair<std::int32_t, std::int32_t>> lines;
    for (std::size_t i = 0; i < touches_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Touch& a = touches_[j];
        const Touch& b = touches_[i];
        if (a.event == b.event || !conflicting(a, b) || ordered_within_rank(a, b)) continue;
        if (before(a.event, b.event)) continue;
        lines.insert({std::min(a.op, b.op), std::max(a.op, b.op)});
      }
    }
    return lines;
  }

 private:
  bool before(std::size_t a, std::size_t b) const { return (before_[b] >> a & 1U) != 0; }
  void edge(std::size_t from, std::size_t to) {
    before_[to] |= before_[from] | std::uint64_t{1} << from;
  }
  const RandomOp& op_of(const Event& event) const { return kernel_.op(op_at(event.where)); }

  // Whether a notify of the rank waits for a piece of this op.
  bool is_released(const Event& piece) const {
    if (model_.name == "documented") return true;
    if (model_.name != "a2a3") return false;
    const RandomOp& op = op_of(piece);
    if (op.what == Do::kStore) return true;
    if (op.what != Do::kPut && op.what != Do::kPutAdd) return false;
    const bool last_of_several =
        op.chunked && static_cast<std::int64_t>(piece.offset / 4) == op.col + op.cols - 1;
    return !last_of_several;
  }

  void add(std::size_t index) {
    const Event& event = log_.events[index];
    const RandomOp& op = op_of(event);
    const std::size_t first_touch = touches_.size();
    add_touches(index);
    if (is_landing(event)) {
      const std::size_t issue = issue_of_[{event.rank, event.piece}];
      edge(issue, index);
      for (const std::size_t other : landings_) {
        const Event& earlier = log_.events[other];
        if (earlier.rank != event.rank || earlier.piece > event.piece) continue;
        if (is_signal(op) && is_released(earlier)) edge(other, index);
        // Same bytes, in issue order.
        for (const Touch& a : touches_) {
          for (std::size_t t = first_touch; t < touches_.size(); ++t) {
            if (a.event == other && overlap(a, touches_[t]) && writes(a) &&
                ordered_within_rank(a, touches_[t])) {
              edge(other, index);
            }
          }
        }
      }
      landings_.push_back(index);
      if (is_signal(op)) signalled(index, event, op);
      return;
    }
    // The rank's own step: after its step before, and after what it had to wait for.
    if (const auto last = last_of_rank_.find(event.rank); last != last_of_rank_.end()) {
      edge(last->second, index);
    }
    last_of_rank_[event.rank] = index;
    for (const std::size_t landing : landings_) {
      const Event& landed = log_.events[landing];
      if (landed.rank != event.rank) continue;
      if (op.what == Do::kFence || was_used(landed, op_at(event.where)) ||
          waits_for_own(landed, landing, first_touch, issue_of_[{landed.rank, landed.piece}],
                        index)) {
        edge(landing, index);
      }
    }
    if (event.kind == Event::Kind::kIssue) issue_of_[{event.rank, event.piece}] = index;
    if (op.what == Do::kWait) {
      for (const std::size_t signal : visible_[cell_of(event)]) edge(signal, index);
    }
    if (is_signal(op) && event.kind == Event::Kind::kAct) signalled(index, event, op);
  }

  static bool is_signal(const RandomOp& op) {
    return op.what == Do::kNotifyAdd || op.what == Do::kNotifySet;
  }
  static std::tuple<std::int32_t, std::int32_t, std::uint64_t> cell_of(const Event& event) {
    return {event.target, event.window, event.offset};
  }
  // Set replaces what a wait on the cell comes after; AtomicAdd joins it.
  void signalled(std::size_t index, const Event& event, const RandomOp& op) {
    std::vector<std::size_t>& visible = visible_[cell_of(event)];
    if (op.what == Do::kNotifySet) visible.clear();
    visible.push_back(index);
  }
  // A deferred remote_load that a `use` of the rank before its op `now` has waited for.
  bool was_used(const Event& landed, std::int32_t now) const {
    if (landed.kind != Event::Kind::kTake || op_of(landed).what != Do::kRemoteLoad) return false;
    bool is_latest = true;
    for (std::int32_t id = op_at(landed.where) + 1; id < now; ++id) {
      const Do what = kernel_.op(id).what;
      if (what == Do::kRemoteLoad) is_latest = false;
      if (what == Do::kUse && is_latest) return true;
    }
    return false;
  }
  // A step that touches own bytes which a get (or, where it writes them itself, any write) of the
  // rank, issued before, was to write first.
  bool waits_for_own(const Event& landed, std::size_t landing, std::size_t first_touch,
                     std::size_t issue, std::size_t index) const {
    if (issue > index) return false;
    const bool by_get = op_of(landed).what == Do::kGet;
    for (const Touch& a : touches_) {
      if (a.event != landing || !writes(a) || std::get<0>(a.slice) != a.rank) continue;
      for (std::size_t t = first_touch; t < touches_.size(); ++t) {
        const Touch& b = touches_[t];
        if (!overlap(a, b) || b.how == How::kWait || std::get<0>(b.slice) != b.rank) continue;
        const Do what = kernel_.op(b.op).what;
        const bool is_read_of_own =
            b.how == How::kRead && (what == Do::kLoad || what == Do::kPut || what == Do::kPutAdd);
        if (by_get && is_read_of_own) return true;
        if (writes(b) && what == Do::kGet) return true;
      }
    }
    return false;
  }

  void add_touches(std::size_t index) {
    const Event& event = log_.events[index];
    const std::int32_t id = op_at(event.where);
    const RandomOp& op = kernel_.op(id);
    const bool lands = is_landing(event);
    const bool issues = event.kind == Event::Kind::kIssue;
    const auto first = static_cast<std::int64_t>(event.offset / 4);
    const std::int64_t count = event.row_bytes / 4;
    Touch at;
    at.event = index;
    at.rank = event.rank;
    at.piece = lands ? event.piece : 0;
    at.op = id;
    at.slice = {event.target, event.window};
    at.first = first;
    at.last = first + count - 1;
    Touch own = at;  // the end in row 1 of own data
    own.slice = {event.rank, 0};
    own.first = kCols + op.other + (first - op.col);
    own.last = own.first + count - 1;
    const auto put = [&](How how) {
      at.how = how;
      at.seen_by_own_step = lands && event.target == event.rank && how != How::kSignalAdd &&
                            how != How::kSignalSet && !reads_late(op);
      touches_.push_back(at);
    };
    switch (op.what) {
      case Do::kLoad:
      case Do::kRemoteLoad:
      case Do::kReadCell:
        if (!issues) put(How::kRead);
        break;
      case Do::kStore:
      case Do::kRemoteStore:
      case Do::kWriteCell:
        if (!issues) put(How::kWrite);
        break;
      case Do::kRemoteAdd:
        if (!issues) put(How::kAdd);
        break;
      case Do::kNotifyAdd:
        if (!issues) put(How::kSignalAdd);
        break;
      case Do::kNotifySet:
        if (!issues) put(How::kSignalSet);
        break;
      case Do::kWait:
        put(How::kWait);
        break;
      case Do::kGet:
        if (issues) break;
        put(How::kRead);
        own.how = How::kWrite;
        touches_.push_back(own);
        break;
      case Do::kPut:
      case Do::kPutAdd: {
        if (!issues) put(op.what == Do::kPut ? How::kWrite : How::kAdd);
        const bool reads_now = (issues && first == op.col && !model_.put_reads_source_late) ||
                               event.kind == Event::Kind::kAct;
        if (reads_now || (lands && reads_late(op))) {
          if (reads_now) own.last = own.first + op.cols - 1;  // whole, with its first chunk
          own.how = How::kRead;
          touches_.push_back(own);
        }
        break;
      }
      case Do::kFence:
      case Do::kUse:
        break;
    }
  }
  bool reads_late(const RandomOp& op) const {
    return model_.put_reads_source_late && (op.what == Do::kPut || op.what == Do::kPutAdd);
  }

  const RandomKernel& kernel_;
  const EventLog& log_;
  const Model& model_;
  std::vector<std::uint64_t> before_;  // by event: the events before it
  std::vector<Touch> touches_;
  std::vector<std::size_t> landings_;
  std::map<std::int32_t, std::size_t> last_of_rank_;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> issue_of_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, std::vector<std::size_t>>
      visible_;
};

TEST_CASE("over all executions, the detector reports what brute force finds in the logs") {
  std::uint64_t executions = 0, racy = 0, pairs = 0;
  RandomKernel kernel;
  KernelProgram program([&](Data data, Data signal) { kernel.run(data, signal); });
  std::map<std::pair<std::int32_t, std::string_view>, std::unique_ptr<Explorer>> explorers;
  for (std::uint64_t seed = 0; seed < kKernels; ++seed) {
    kernel = random_kernel(seed, 6);
    const Model& model = kModels[seed % 4];
    auto& explorer = explorers[{kernel.ranks, model.name}];
    if (!explorer) explorer = make_explorer(program, kernel.ranks, {.model = model});
    std::set<std::pair<std::int32_t, std::int32_t>> expected, reported;
    const Exploration sum = explorer->exhaust(
        {.max_executions = 300}, false, {},
        [&](const RunResult& result, const Footprints& footprints) {
          std::vector<Decision> decisions;
          for (std::size_t i = 1; i < footprints.steps().size(); ++i) {
            decisions.push_back(footprints.steps()[i].decision);
          }
          for (const Race& race : result.races) {
            const std::int32_t a = op_at(race.first.where), b = op_at(race.second.where);
            reported.insert({std::min(a, b), std::max(a, b)});
          }
          const auto replay = make_replay_strategy(decisions);
          const RecordedRun run = explorer->record(*replay, 0);
          REQUIRE(run.log.events.size() <= 64);
          for (const auto& pair : BruteForce(kernel, run.log, model).races()) expected.insert(pair);
        });
    executions += sum.schedules;
    if (sum.end != Exploration::End::kComplete) continue;
    INFO("kernel ", seed, " under ", model.name, ": ", kernel.text());
    for (const auto& [a, b] : expected) {
      CHECK_MESSAGE(reported.contains({a, b}), "missed: ops ", a, " and ", b);
    }
    for (const auto& [a, b] : reported) {
      CHECK_MESSAGE(expected.contains({a, b}), "false: ops ", a, " and ", b);
    }
    racy += expected.empty() ? 0 : 1;
    pairs += expected.size();
  }
  MESSAGE(kKernels, " kernels, ", executions, " executions: ", racy, " kernels race, at ", pairs,
          " pairs of lines");
  CHECK(racy > kKernels / 10);
  CHECK(racy < kKernels - kKernels / 10);
}

}  // namespace
}  // namespace emu::testing
