#include "tools/sarif_report.h"

#include <nlohmann/json.hpp>
#include <set>

#include "tools/source_file.h"

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

std::string rule_of(const emu::Finding& finding) {
  return std::string(finding.symptom != nullptr ? finding.symptom->key
                                                : emu::finding_name(finding.kind));
}

Json rule_json(const emu::Finding& finding) {
  Json rule = {{"id", rule_of(finding)}, {"shortDescription", {{"text", finding.title}}}};
  if (finding.symptom != nullptr) {
    rule["fullDescription"] = {{"text", finding.symptom->cause}};
    rule["help"] = {{"text", finding.symptom->fix}};
  }
  return rule;
}

Json location_json(const std::string& file, std::uint32_t line) {
  const std::string path = project_path(file);
  Json artifact = {{"uri", path.starts_with('/') ? "file://" + path : path}};
  if (!path.starts_with('/')) artifact["uriBaseId"] = "SRCROOT";
  return {{"physicalLocation",
           {{"artifactLocation", std::move(artifact)}, {"region", {{"startLine", line}}}}}};
}

std::string place_text(const emu::Finding::Place& place) {
  return "rank " + std::to_string(place.rank) + "'s " + std::string(symrace::op_name(place.op)) +
         ": " + std::string(emu::access_name(place.access)) + " of rank " +
         std::to_string(place.target) + "'s " + place.range;
}

// Where a finding without accesses is shown: at a stuck rank's op, or at the last op of a rank
// whose output differs.
std::source_location where_of(const emu::RecordedRun& run) {
  if (!run.result.stuck.empty()) return run.result.stuck.front().where;
  std::source_location where;
  for (const emu::Event& event : run.log.events) {
    const bool is_own =
        event.kind == emu::Event::Kind::kIssue || event.kind == emu::Event::Kind::kAct;
    if (is_own && !run.result.mismatches.empty() &&
        event.rank == run.result.mismatches.front().rank) {
      where = event.where;
    }
  }
  return where;
}

Json result_json(const emu::Finding& finding, const Findings& findings) {
  std::string message = finding.title + ".";
  for (const std::string& detail : finding.details) message += " " + detail + ".";
  if (!finding.missing.empty()) message += " " + finding.missing + ".";
  if (!finding.fix.empty()) message += " Fix: " + finding.fix + ".";
  Json result = {
      {"ruleId", rule_of(finding)},       {"level", "error"},
      {"message", {{"text", message}}},   {"locations", Json::array()},
      {"occurrenceCount", finding.count}, {"properties", {{"replay", findings.replay_command}}}};
  Json related = Json::array();
  for (const emu::Finding::Place& place : finding.places) {
    Json location = location_json(place.file, place.line);
    location["message"] = {{"text", place_text(place)}};
    if (result["locations"].empty()) {
      result["locations"].push_back(std::move(location));
    } else {
      location["id"] = related.size() + 1;
      related.push_back(std::move(location));
    }
  }
  if (finding.places.empty() && findings.run) {
    if (const std::source_location where = where_of(*findings.run); where.line() != 0) {
      result["locations"].push_back(location_json(where.file_name(), where.line()));
    }
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  return result;
}

}  // namespace

std::string sarif_report(const Findings& findings) {
  Json rules = Json::array();
  Json results = Json::array();
  std::set<std::string> known;
  for (const emu::Finding& finding : findings.findings) {
    if (known.insert(rule_of(finding)).second) rules.push_back(rule_json(finding));
    results.push_back(result_json(finding, findings));
  }
  const Json driver = {
      {"name", "symrace"}, {"version", SYMRACE_VERSION}, {"rules", std::move(rules)}};
  const bool successful = !findings.interrupted() && findings.error().empty();
  const Json run = {{"tool", {{"driver", driver}}},
                    {"invocations", {{{"executionSuccessful", successful}}}},
                    {"results", std::move(results)}};
  const Json report = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                       {"version", "2.1.0"},
                       {"runs", {run}}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tools
