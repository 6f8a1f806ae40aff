#include "tools/json_report.h"

#include <nlohmann/json.hpp>

#include "core/error.h"

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
  };
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
      {"interrupted", exploration.interrupted},
      {"first_failing_seed", nullptr},
  };
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
      {"error", run.result.error},
      {"mismatches", Json::array()},
      {"stuck", Json::array()},
      {"replay", findings.replay_command},
      {"events", Json::array()},
  };
  if (findings.request.replay_token.empty()) json["seed"] = run.result.seed;
  for (const auto& mismatch : run.result.mismatches) {
    json["mismatches"].push_back(mismatch_json(mismatch));
  }
  for (const auto& stuck : run.result.stuck) json["stuck"].push_back(stuck_json(stuck));
  for (const auto& event : run.log.events) json["events"].push_back(event_json(event, run.log));
  return json;
}

}  // namespace

std::string json_report(const Findings& findings) {
  Json json = {{"format", kFormat}, {"request", request_json(findings.request)}};
  json["exploration"] = nullptr;
  if (findings.exploration) {
    json["exploration"] = exploration_json(*findings.exploration, findings.request.seeds);
  }
  json["run"] = nullptr;
  if (findings.run) json["run"] = run_json(findings, *findings.run);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tools
