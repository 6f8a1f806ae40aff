#include "tools/chrome_trace.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using emu::Event;

constexpr int kProcess = 1;

int rank_track(std::int32_t rank) { return 2 * rank + 1; }
int fabric_track(std::int32_t rank) { return 2 * rank + 2; }

Json metadata(const char* what, int track, const Json& arguments) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", track}, {"args", arguments}};
}

bool is_by_fabric(const Event& event) {
  return event.kind == Event::Kind::kLand || event.kind == Event::Kind::kTake;
}

bool is_signal(const Event& event) {
  return event.primitive == symrace::OpKind::kNotify && !event.clears();
}

bool is_wait(const Event& event) {
  return event.kind == Event::Kind::kAct && event.window >= 0 && event.target == event.rank &&
         (event.primitive == symrace::OpKind::kWait || event.primitive == symrace::OpKind::kTest);
}

class TraceWriter {
 public:
  explicit TraceWriter(const Findings& findings) : findings_(findings) {}

  std::string text() {
    const RunRequest& request = findings_.request;
    add(metadata("process_name", 0, {{"name", request.program->name}}));
    for (std::int32_t rank = 0; rank < request.arguments.ranks; ++rank) {
      const std::string name = "rank " + std::to_string(rank);
      for (const auto& [track, label] :
           {std::pair{rank_track(rank), name}, std::pair{fabric_track(rank), name + " fabric"}}) {
        add(metadata("thread_name", track, {{"name", label}}));
        add(metadata("thread_sort_index", track, {{"sort_index", track}}));
      }
    }
    if (findings_.run) {
      for (std::size_t i = 0; i < findings_.run->log.events.size(); ++i) add_event(i);
      add_races();
    }
    return Json{{"traceEvents", std::move(events_)},
                {"displayTimeUnit", "ns"},
                {"otherData", {{"time", "the number of the event"}}}}
               .dump(1, ' ', false, Json::error_handler_t::replace) +
           "\n";
  }

 private:
  void add(Json event) { events_.push_back(std::move(event)); }

  void add_event(std::size_t index) {
    const emu::EventLog& log = findings_.run->log;
    const Event& event = log.events[index];
    const bool by_fabric = is_by_fabric(event);
    const int track = by_fabric ? fabric_track(event.rank) : rank_track(event.rank);
    Json arguments = {{"event", index + 1}};
    std::string name = "done";
    if (event.kind != Event::Kind::kFinish) {
      name = std::string(symrace::op_name(event.op));
      if (by_fabric) name += event.kind == Event::Kind::kLand ? " lands" : " takes its value";
      arguments["where"] = symrace::short_location(event.where);
      if (event.window >= 0) {
        arguments["slice of rank"] = event.target;
        arguments["range"] = emu::region_text(log, event);
        arguments["value"] = event.value;
      }
      if (event.piece != 0) arguments["piece"] = event.piece;
    }
    add({{"name", name},
         {"cat", by_fabric ? "fabric" : "rank"},
         {"ph", "X"},
         {"ts", index},
         {"dur", 1},
         {"pid", kProcess},
         {"tid", track},
         {"args", std::move(arguments)}});
    add_arrows(event, index, track);
  }

  void add_arrows(const Event& event, std::size_t index, int track) {
    const std::pair piece{event.rank, event.piece};
    if (event.kind == Event::Kind::kIssue) {
      const int id = next_arrow_++;
      arrow_of_piece_[piece] = id;
      add_arrow("s", "transfer", id, index, track);
    } else if (is_by_fabric(event)) {
      if (const auto arrow = arrow_of_piece_.find(piece); arrow != arrow_of_piece_.end()) {
        add_arrow("f", "transfer", arrow->second, index, track);
      }
    }
    const std::tuple cell{event.target, event.window, event.offset};
    if (is_signal(event) && event.kind != Event::Kind::kIssue) {
      const int id = next_arrow_++;
      unseen_[cell].push_back(id);
      add_arrow("s", "signal", id, index, track);
    } else if (is_wait(event)) {
      for (const int id : unseen_[cell]) add_arrow("f", "signal", id, index, track);
      unseen_[cell].clear();
    }
  }

  void add_arrow(const char* phase, const char* name, int id, std::size_t index, int track) {
    Json arrow = {{"name", name}, {"cat", name},     {"ph", phase}, {"id", id},
                  {"ts", index},  {"pid", kProcess}, {"tid", track}};
    if (phase[0] == 'f') arrow["bp"] = "e";
    add(std::move(arrow));
  }

  void add_races() {
    for (const emu::Finding& finding : findings_.findings) {
      char end = 'A';
      for (const emu::Finding::Place& place : finding.places) {
        const Event& event = findings_.run->log.events[place.event];
        add({{"name", std::string("race ") + end++ + ": " + finding.title},
             {"cat", "race"},
             {"ph", "i"},
             {"s", "t"},
             {"ts", place.event},
             {"pid", kProcess},
             {"tid", is_by_fabric(event) ? fabric_track(event.rank) : rank_track(event.rank)},
             {"cname", "terrible"},
             {"args", {{"where", place.where}, {"range", place.range}, {"fix", finding.fix}}}});
      }
    }
  }

  const Findings& findings_;
  Json events_ = Json::array();
  int next_arrow_ = 1;
  std::map<std::pair<std::int32_t, std::uint32_t>, int> arrow_of_piece_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, std::vector<int>> unseen_;
};

}  // namespace

std::string chrome_trace(const Findings& findings) { return TraceWriter(findings).text(); }

}  // namespace tools
