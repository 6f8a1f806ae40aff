// Exhaustive exploration against naive enumeration: on random small kernels, under every model, it
// visits exactly one execution of each equivalence class, and finds the same final memories, races
// and deadlocks.
//
// Which schedules are equivalent is decided here from the event log alone, by what this file knows
// of the ops: the order of every two events that touch the same bytes and do not commute.
#include <algorithm>
#include <map>
#include <tuple>

#include "emu/replay.h"
#include "tests/emu/random_kernel.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kKernels = 100;
#else
constexpr std::uint64_t kKernels = 1500;
#endif

const Model kModels[] = {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()};

// Takes every path in turn, as an odometer does; gives up on programs with too many.
class NaiveEnumeration final : public Strategy {
 public:
  void begin(std::int32_t, std::uint64_t) override { depth_ = 0; }
  std::size_t choose(const std::vector<Transition>& enabled) override {
    if (depth_ == path_.size()) path_.push_back({0, 0});
    path_[depth_].second = enabled.size();
    return path_[depth_++].first;
  }
  bool next() {
    path_.resize(depth_);
    while (!path_.empty() && ++path_.back().first == path_.back().second) path_.pop_back();
    return !path_.empty();
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> path_;  // choice, of how many
  std::size_t depth_ = 0;
};

// What an event of the log does to which cells of which window of which rank.
struct Touch {
  bool writes = false;
  bool adds = false;
  bool is_own_read = false;   // a step that reads the rank's own slice
  bool is_own_write = false;  // a landing in the rank's own slice that the rank has seen before
  std::int32_t rank = 0;
  std::tuple<std::int32_t, std::int32_t> place;  // target, window
  std::int64_t first = 0, last = 0;              // cells, in row-major order
};

bool commute(const Touch& a, const Touch& b) {
  if (!a.writes && !b.writes) return true;
  if (a.adds && b.adds) return true;
  if (a.rank != b.rank) return false;
  return (a.is_own_read && b.is_own_write) || (b.is_own_read && a.is_own_write);
}

constexpr std::int32_t kDataWindow = 0;

// The touches of the event; `identity` of an event of a rank's own is its op and the how-manieth
// of it, of a landing its piece.
std::vector<Touch> touches(const RandomKernel& kernel, const Event& event, const Model& model) {
  std::vector<Touch> all;
  if (event.kind == Event::Kind::kFinish) return all;
  const RandomOp& op = kernel.op(op_at(event.where));
  const bool lands = event.kind == Event::Kind::kLand || event.kind == Event::Kind::kTake;
  const auto first = static_cast<std::int64_t>(event.offset / sizeof(std::int32_t));
  const auto count = event.row_bytes / static_cast<std::int64_t>(sizeof(std::int32_t));
  Touch at;
  at.rank = event.rank;
  at.place = {event.target, event.window};
  at.first = first;
  at.last = first + count - 1;
  const std::int64_t part = op.what == Do::kGet || op.what == Do::kPut || op.what == Do::kPutAdd
                                ? first - op.col
                                : 0;  // which chunk
  Touch own;                          // the end in the rank's own row 1
  own.rank = event.rank;
  own.place = {event.rank, kDataWindow};
  own.first = kCols + op.other + part;
  own.last = own.first + count - 1;
  switch (op.what) {
    case Do::kLoad:
    case Do::kRemoteLoad:
    case Do::kReadCell:
      if (event.kind == Event::Kind::kIssue) return all;
      at.is_own_read = !lands && event.target == event.rank;
      all.push_back(at);
      break;
    case Do::kWait:
      at.is_own_read = true;
      all.push_back(at);
      break;
    case Do::kStore:
    case Do::kRemoteStore:
    case Do::kWriteCell:
    case Do::kRemoteAdd:
      if (event.kind == Event::Kind::kIssue) return all;
      at.writes = true;
      at.adds = op.what == Do::kRemoteAdd;
      at.is_own_write = lands && event.target == event.rank;
      all.push_back(at);
      break;
    case Do::kNotifyAdd:
    case Do::kNotifySet:
      if (event.kind == Event::Kind::kIssue) return all;
      at.writes = true;
      at.adds = op.what == Do::kNotifyAdd;
      all.push_back(at);
      break;
    case Do::kPut:
    case Do::kPutAdd:
      if (event.kind == Event::Kind::kIssue) {
        // The source is read whole, when the first chunk is issued.
        if (model.put_reads_source_late || part != 0) return all;
        own.last = own.first + op.cols - 1;
        own.is_own_read = true;
        all.push_back(own);
        return all;
      }
      at.writes = true;
      at.adds = op.what == Do::kPutAdd;
      at.is_own_write = lands && event.target == event.rank && !model.put_reads_source_late;
      all.push_back(at);
      own.is_own_read = !lands;
      if (model.put_reads_source_late || !lands) {
        if (!lands) own.last = own.first + op.cols - 1;
        if (model.put_reads_source_late || !model.posts_puts) all.push_back(own);
      }
      break;
    case Do::kGet:
      if (event.kind == Event::Kind::kIssue) return all;
      at.is_own_read = !lands && event.target == event.rank;
      all.push_back(at);
      own.writes = true;
      all.push_back(own);
      break;
    case Do::kFence:
    case Do::kUse:
      break;
  }
  return all;
}

// Every ordered pair of events that do not commute, named by what they are.
using Trace = std::set<std::tuple<int, int, int, int, int, int>>;

Trace trace_of(const RandomKernel& kernel, const EventLog& log, const Model& model) {
  struct Named {
    std::tuple<int, int, int> name;
    std::vector<Touch> touches;
  };
  std::vector<Named> events;
  std::map<std::int32_t, int> seen;
  Trace trace;
  for (const Event& event : log.events) {
    if (event.kind == Event::Kind::kFinish) continue;
    const bool lands = event.kind == Event::Kind::kLand || event.kind == Event::Kind::kTake;
    Named now{lands ? std::tuple{1, event.rank, static_cast<int>(event.piece)}
                    : std::tuple{0, op_at(event.where), seen[op_at(event.where)]++},
              touches(kernel, event, model)};
    if (now.touches.empty()) continue;
    for (const Named& before : events) {
      const bool ordered =
          std::any_of(before.touches.begin(), before.touches.end(), [&](const Touch& a) {
            return std::any_of(now.touches.begin(), now.touches.end(), [&](const Touch& b) {
              return a.place == b.place && a.first <= b.last && b.first <= a.last && !commute(a, b);
            });
          });
      if (!ordered) continue;
      const auto& [a, b, c] = before.name;
      const auto& [d, e, f] = now.name;
      trace.insert({a, b, c, d, e, f});
    }
    events.push_back(std::move(now));
  }
  return trace;
}

// The final memory, and who is stuck where.
using Final = std::vector<std::int32_t>;

Final final_of(const Explorer& explorer, std::int32_t ranks, const RunResult& result) {
  Final memory;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{4096}}) {
      const auto* cells =
          reinterpret_cast<const std::int32_t*>(explorer.heap().address(rank, offset));
      memory.insert(memory.end(), cells, cells + 2 * kCols);
    }
  }
  for (const StuckRank& stuck : result.stuck) {
    memory.insert(memory.end(), {-1, stuck.rank, op_at(stuck.where), stuck.actual});
  }
  return memory;
}

using RaceLines = std::set<std::tuple<int, int, int>>;

void add_races(RaceLines& lines, const RunResult& result) {
  for (const Race& race : result.races) {
    const int a = op_at(race.first.where);
    const int b = op_at(race.second.where);
    lines.insert({static_cast<int>(race.kind), std::min(a, b), std::max(a, b)});
  }
}

TEST_CASE("exhaustive visits one execution of each class, and finds what naive enumeration finds") {
  std::uint64_t compared = 0, executions = 0, schedules = 0, abandoned = 0;
  for (std::uint64_t seed = 0; seed < kKernels; ++seed) {
    const RandomKernel kernel = random_kernel(seed);
    for (const Model& model : kModels) {
      KernelProgram program([&](Data data, Data signal) { kernel.run(data, signal); });
      const auto explorer = make_explorer(program, kernel.ranks, {.model = model});
      // Recording a race runs other schedules after it: memory is looked at without.
      const auto recorder =
          make_explorer(program, kernel.ranks, {.model = model, .detect_races = false});

      // Naive: all schedules, up to a bound; a kernel beyond it is left out.
      constexpr std::uint64_t kMostSchedules = 3000;
      std::set<Trace> naive_traces;
      std::set<Final> naive_finals;
      RaceLines naive_races;
      NaiveEnumeration naive;
      std::uint64_t count = 0;
      bool more = true;
      while (more && count <= kMostSchedules) {
        const RecordedRun run = recorder->record(naive, 0);
        ++count;
        naive_traces.insert(trace_of(kernel, run.log, model));
        naive_finals.insert(final_of(*recorder, kernel.ranks, run.result));
        const auto replay = make_replay_strategy(run.decisions);
        add_races(naive_races, explorer->run(*replay, 0));
        more = naive.next();
      }
      if (more) continue;
      INFO("kernel ", seed, " under ", model.name, ": ", kernel.text());

      std::set<Final> finals;
      RaceLines races;
      const Exploration sum =
          explorer->exhaust({}, false, {}, [&](const RunResult& result, const Footprints&) {
            finals.insert(final_of(*explorer, kernel.ranks, result));
            add_races(races, result);
          });
      CHECK(sum.schedules == naive_traces.size());
      CHECK(finals == naive_finals);
      CHECK(races == naive_races);
      if (sum.naive.known) {
        CHECK(sum.naive.count == absl::uint128{count});
      }
      ++compared;
      executions += sum.schedules;
      schedules += count;
      abandoned += sum.abandoned;
    }
  }
  MESSAGE(compared, " kernels under a model: ", schedules, " schedules are ", executions,
          " executions, with ", abandoned, " schedules abandoned");
  CHECK(compared > kKernels);
}

}  // namespace
}  // namespace emu::testing
