#include "tools/json_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "tools/cost_table.h"
#include "tools/source_file.h"

namespace tools {
namespace {

using Json = nlohmann::ordered_json;  // in the order of docs/json.md

constexpr int kFormat = 1;

std::string_view kind_name(emu::Event::Kind kind) {
  switch (kind) {
    case emu::Event::Kind::kIssue:
      return "issue";
    case emu::Event::Kind::kLand:
      return "land";
    case emu::Event::Kind::kAct:
      return "act";
    case emu::Event::Kind::kTake:
      return "take";
    case emu::Event::Kind::kFinish:
      return "finish";
  }
  return "unknown";
}

std::string_view cmp_name(pld::WaitCmp cmp) {
  switch (cmp) {
    case pld::WaitCmp::Eq:
      return "eq";
    case pld::WaitCmp::Ne:
      return "ne";
    case pld::WaitCmp::Ge:
      return "ge";
    case pld::WaitCmp::Gt:
      return "gt";
    case pld::WaitCmp::Le:
      return "le";
    case pld::WaitCmp::Lt:
      return "lt";
  }
  return "unknown";
}

Json flag_json(const symrace::Flag& flag, const symrace::Arguments& arguments) {
  switch (flag.kind) {
    case symrace::Flag::Kind::kSwitch:
      return arguments.is_set(flag.name);
    case symrace::Flag::Kind::kInteger:
      return arguments.integer(flag.name);
    case symrace::Flag::Kind::kChoice:
      break;
  }
  return arguments.choice(flag.name);
}

Json costs_json(std::optional<emu::CostModel> costs) {
  if (!costs) return nullptr;
  const bool staged = costs->path == emu::CostModel::Path::kStaged;
  Json json = {{"name", costs->name}, {"path", staged ? "staged" : "async"}};
  for (const CostParameter& parameter : cost_parameters()) {
    const std::string key(parameter.key);
    (parameter.group.empty() ? json : json[std::string(parameter.group)])[key] =
        parameter.of(*costs);
  }
  return json;
}

Json request_json(const RunRequest& request) {
  Json flags = Json::object();
  for (const symrace::Flag& flag : request.program->flags) {
    flags[std::string(flag.name)] = flag_json(flag, request.arguments);
  }
  return {
      {"program", request.program->name},
      {"devices", request.options.devices},
      {"ranks", request.arguments.ranks},
      {"size", request.arguments.size},
      {"dtype", pl::dtype_name(request.arguments.dtype)},
      {"data_seed", request.arguments.data_seed},
      {"flags", std::move(flags)},
      {"model", request.options.model.name},
      {"burst", request.options.burst_bytes},
      {"strategy", request.strategy},
      {"vehicle", request.options.vehicle == emu::VehicleKind::kFiber ? "fiber" : "thread"},
      {"max_steps", request.options.max_steps},
      {"costs", costs_json(request.options.costs)},
  };
}

Json exhaustive_json(const emu::Exploration& exploration, const emu::Bounds& bounds) {
  using End = emu::Exploration::End;
  const char* end = "complete";
  if (exploration.interrupted) {
    end = "interrupted";
  } else if (exploration.end == End::kMaxExecutions) {
    end = "max-executions";
  } else if (exploration.end == End::kTimeLimit) {
    end = "time-limit";
  } else if (exploration.end == End::kFailure) {
    end = "first-failure";
  }
  return {{"verified", exploration.end == End::kComplete && !exploration.interrupted &&
                           exploration.failed == 0},
          {"end", end},
          {"max_executions", bounds.max_executions},
          {"abandoned", exploration.abandoned},
          {"naive_schedules", exploration.naive.text()}};
}

Json place_json(const emu::Finding::Place& place) {
  return {{"rank", place.rank},
          {"op", symrace::op_name(place.op)},
          {"access", emu::access_name(place.access)},
          {"where", place.where},
          {"file", project_path(place.file)},
          {"line", place.line},
          {"target", place.target},
          {"window", place.window},
          {"range", place.range},
          {"event", place.event}};
}

Json finding_json(const emu::Finding& finding) {
  Json json = {{"kind", emu::finding_name(finding.kind)},
               {"symptom", nullptr},
               {"title", finding.title},
               {"race", nullptr},
               {"accesses", Json::array()},
               {"missing", finding.missing},
               {"details", finding.details},
               {"fix", finding.fix},
               {"count", finding.count}};
  if (finding.symptom != nullptr) json["symptom"] = finding.symptom->key;
  if (finding.kind == emu::Finding::Kind::kRace) json["race"] = emu::race_name(finding.race);
  for (const auto& place : finding.places) json["accesses"].push_back(place_json(place));
  return json;
}

// The files that the findings name, or the run's events when there are none; whole.
Json sources_json(const Findings& findings) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
      files.push_back(file);
    }
  };
  for (const auto& finding : findings.findings) {
    for (const auto& place : finding.places) add(place.file);
  }
  if (findings.run) {
    for (const auto& stuck : findings.run->result.stuck) add(stuck.where.file_name());
    for (const auto& event : findings.run->log.events) add(event.where.file_name());
  }
  Json sources = Json::array();
  for (const std::string& file : files) {
    std::vector<std::string> lines = source_lines(file);
    if (lines.empty()) continue;
    sources.push_back({{"file", project_path(file)},
                       {"name", file.substr(file.rfind('/') + 1)},
                       {"first_line", 1},
                       {"lines", std::move(lines)}});
  }
  return sources;
}

Json exploration_json(const emu::Exploration& exploration, const emu::Seeds& seeds) {
  Json json = {
      {"first_seed", seeds.first},
      {"requested", seeds.count},
      {"schedules", exploration.schedules},
      {"decisions", exploration.decisions},
      {"mismatches", exploration.mismatches},
      {"deadlocks", exploration.deadlocks},
      {"step_bounds", exploration.step_bounds},
      {"racy", exploration.racy},
      {"failed", exploration.failed},
      {"interrupted", exploration.interrupted},
      {"first_failing_seed", nullptr},
      {"modelled", nullptr},
  };
  if (exploration.modelled) {
    json["modelled"] = {{"fastest_ps", exploration.modelled->fastest},
                        {"slowest_ps", exploration.modelled->slowest}};
  }
  if (exploration.first_failure) json["first_failing_seed"] = exploration.first_failure->seed;
  return json;
}

Json mismatch_json(const symrace::Mismatch& m) {
  return {{"rank", m.rank},        {"differing", m.differing}, {"total", m.total},
          {"index", m.index},      {"expected", m.expected},   {"actual", m.actual},
          {"identity", m.identity}};
}

Json stuck_json(const emu::StuckRank& s) {
  Json json = {{"rank", s.rank},
               {"op", symrace::op_name(s.op)},
               {"where", symrace::short_location(s.where)}};
  if (s.on_cell) {
    json["cell"] = {{"window", s.window},
                    {"index", s.cell},
                    {"compare", cmp_name(s.cmp)},
                    {"expected", s.expected},
                    {"actual", s.actual}};
  }
  return json;
}

Json event_json(const emu::Event& e, const emu::EventLog& log) {
  Json json = {{"kind", kind_name(e.kind)}, {"rank", e.rank}};
  if (e.kind == emu::Event::Kind::kFinish) return json;
  json["op"] = symrace::op_name(e.op);
  json["where"] = symrace::short_location(e.where);
  if (e.piece != 0) json["piece"] = e.piece;
  if (e.window < 0) return json;
  json["target"] = e.target;
  json["window"] = log.window_names[static_cast<std::size_t>(e.window)];
  json["dtype"] = pl::dtype_name(e.dtype);
  json["offset"] = e.offset;
  json["rows"] = e.rows;
  json["row_bytes"] = e.row_bytes;
  json["stride"] = e.stride;
  json["value"] = e.value;
  if (e.data_hash != 0) json["data_hash"] = hex(e.data_hash);
  return json;
}

Json run_json(const Findings& findings, const emu::RecordedRun& run) {
  Json json = {
      {"outcome", outcome_name(run.result.outcome)},
      {"seed", nullptr},
      {"decisions", run.result.decisions},
      {"trace", hex(run.trace_hash)},
      {"modelled", nullptr},
      {"error", run.result.error},
      {"mismatches", Json::array()},
      {"stuck", Json::array()},
      {"findings", Json::array()},
      {"shrunk_from", nullptr},
      {"replay", findings.replay_command},
      {"events", Json::array()},
  };
  if (!run.result.rank_ps.empty()) {
    json["modelled"] = {{"total_ps", run.result.modelled_ps()}, {"rank_ps", run.result.rank_ps}};
  }
  if (findings.shrunk) {
    json["shrunk_from"] = {{"late", findings.shrunk->before.late},
                           {"switches", findings.shrunk->before.switches}};
  }
  for (const auto& finding : findings.findings) {
    json["findings"].push_back(finding_json(finding));
  }
  if (findings.request.replay_token.empty()) json["seed"] = run.result.seed;
  for (const auto& mismatch : run.result.mismatches) {
    json["mismatches"].push_back(mismatch_json(mismatch));
  }
  for (const auto& stuck : run.result.stuck) json["stuck"].push_back(stuck_json(stuck));
  for (std::size_t i = 0; i < run.log.events.size(); ++i) {
    Json event = event_json(run.log.events[i], run.log);
    if (!run.times.events.empty()) {
      event["begin_ps"] = run.times.events[i].begin;
      event["end_ps"] = run.times.events[i].end;
    }
    json["events"].push_back(std::move(event));
  }
  return json;
}

}  // namespace

std::string json_report(const Findings& findings) {
  Json json = {{"format", kFormat}, {"request", request_json(findings.request)}};
  json["exploration"] = nullptr;
  if (findings.exploration) {
    json["exploration"] = exploration_json(*findings.exploration, findings.request.seeds);
    if (findings.request.is_exhaustive()) {
      json["exploration"]["exhaustive"] =
          exhaustive_json(*findings.exploration, findings.request.bounds);
    }
  }
  json["run"] = nullptr;
  if (findings.run) json["run"] = run_json(findings, *findings.run);
  json["sources"] = sources_json(findings);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tools
