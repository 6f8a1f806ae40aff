#include "tools/chrome_trace.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tools/trace_axis.h"

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using emu::Event;

constexpr int kProcess = 1;

Json metadata(const char* what, int track, const Json& arguments) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", track}, {"args", arguments}};
}

// Whole numbers without a fraction.
Json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
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
  explicit TraceWriter(const Findings& findings)
      : findings_(findings),
        axis_(findings.request.arguments.ranks, findings.run ? &*findings.run : nullptr) {}

  std::string text() {
    const RunRequest& request = findings_.request;
    add(metadata("process_name", 0, {{"name", request.program->name}}));
    int position = 0;
    for (const TraceAxis::Track& track : axis_.tracks()) {
      add(metadata("thread_name", track.id, {{"name", track.name}}));
      add(metadata("thread_sort_index", track.id, {{"sort_index", ++position}}));
    }
    if (findings_.run) {
      for (std::size_t i = 0; i < findings_.run->log.events.size(); ++i) add_event(i);
      add_private_moves(findings_.run->times);
      add_races();
    }
    return Json{{"traceEvents", std::move(events_)},
                {"displayTimeUnit", "ns"},
                {"otherData", {{"time", time_text()}}}}
               .dump(1, ' ', false, Json::error_handler_t::replace) +
           "\n";
  }

 private:
  std::string time_text() const {
    const std::string costs = findings_.costs_name();
    return costs.empty() ? "the number of the event" : "modelled, costs " + costs;
  }

  void add(Json event) { events_.push_back(std::move(event)); }

  void add_event(std::size_t index) {
    const emu::EventLog& log = findings_.run->log;
    const Event& event = log.events[index];
    const bool by_fabric = is_by_fabric(event);
    const TraceAxis::Slice& slice = axis_.slice(index);
    if (slice.repeats) return add_arrows(event, index);
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
         {"ts", number(slice.begin)},
         {"dur", number(slice.duration)},
         {"pid", kProcess},
         {"tid", slice.track},
         {"args", std::move(arguments)}});
    add_arrows(event, index);
  }

  // Those between ranks and rank-private memory are no events, but take modelled time.
  void add_private_moves(const emu::EventTimes& times) {
    for (const auto& moves : times.private_moves) {
      const TraceAxis::Slice slice =
          TraceAxis::slice_of(moves.time, TraceAxis::rank_track(moves.rank));
      add({{"name", "private memory"},
           {"cat", "rank"},
           {"ph", "X"},
           {"ts", number(slice.begin)},
           {"dur", number(slice.duration)},
           {"pid", kProcess},
           {"tid", slice.track},
           {"args", {{"moves", moves.moves}, {"bytes", moves.bytes}}}});
    }
  }

  void add_arrows(const Event& event, std::size_t index) {
    const TraceAxis::Slice& slice = axis_.slice(index);
    const std::pair piece{event.rank, event.piece};
    if (event.kind == Event::Kind::kIssue) {
      const int id = next_arrow_++;
      arrow_of_piece_[piece] = id;
      add_arrow("s", "transfer", id, slice.begin, slice.track);
    } else if (is_by_fabric(event)) {
      if (const auto arrow = arrow_of_piece_.find(piece); arrow != arrow_of_piece_.end()) {
        add_arrow("f", "transfer", arrow->second, slice.begin, slice.track);
      }
    }
    const std::tuple cell{event.target, event.window, event.offset};
    if (is_signal(event) && event.kind != Event::Kind::kIssue) {
      const int id = next_arrow_++;
      unseen_[cell].push_back(id);
      add_arrow("s", "signal", id, slice.begin, slice.track);
    } else if (is_wait(event)) {
      for (const int id : unseen_[cell]) add_arrow("f", "signal", id, slice.last, slice.track);
      unseen_[cell].clear();
    }
  }

  void add_arrow(const char* phase, const char* name, int id, double time, int track) {
    Json arrow = {{"name", name},       {"cat", name},     {"ph", phase}, {"id", id},
                  {"ts", number(time)}, {"pid", kProcess}, {"tid", track}};
    if (phase[0] == 'f') arrow["bp"] = "e";
    add(std::move(arrow));
  }

  void add_races() {
    for (const emu::Finding& finding : findings_.findings) {
      char end = 'A';
      for (const emu::Finding::Place& place : finding.places) {
        const TraceAxis::Slice& slice = axis_.slice(place.event);
        add({{"name", std::string("race ") + end++ + ": " + finding.title},
             {"cat", "race"},
             {"ph", "i"},
             {"s", "t"},
             {"ts", number(slice.begin)},
             {"pid", kProcess},
             {"tid", slice.track},
             {"cname", "terrible"},
             {"args", {{"where", place.where}, {"range", place.range}, {"fix", finding.fix}}}});
      }
    }
  }

  const Findings& findings_;
  const TraceAxis axis_;
  Json events_ = Json::array();
  int next_arrow_ = 1;
  std::map<std::pair<std::int32_t, std::uint32_t>, int> arrow_of_piece_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, std::vector<int>> unseen_;
};

}  // namespace

std::string chrome_trace(const Findings& findings) { return TraceWriter(findings).text(); }

}  // namespace tools
