#include "emu/diagnosis.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "core/error.h"
#include "emu/stuck.h"

namespace emu {
namespace {

using symrace::OpKind;

Finding::Place place_of(const Access& access) {
  Finding::Place place;
  place.rank = access.rank;
  place.op = access.op;
  place.access = access.kind;
  place.where = symrace::short_location(access.where);
  place.file = access.where.file_name();
  place.line = access.where.line();
  place.target = access.target;
  place.window = access.region.window->name;
  place.range = region_text(access.region);
  place.event = access.event;
  return place;
}

std::string op_at(const Access& access) {
  return absl::StrCat("rank ", access.rank, "'s ", std::string(symrace::op_name(access.op)), " at ",
                      symrace::short_location(access.where));
}

// What a put at this line moves beside this piece: nothing, or other chunks of it.
struct Chunks {
  bool several = false;
  bool is_last = true;
};
Chunks chunks_of(const RecordedRun& run, const Access& access) {
  Chunks chunks;
  if (access.op != OpKind::kPut) return chunks;
  const std::uint64_t offset = access.region.offset - access.region.window->offset;
  for (const Event& event : run.log.events) {
    if (event.kind != Event::Kind::kIssue || event.rank != access.rank || event.op != access.op ||
        !same_line(event.where, access.where)) {
      continue;
    }
    if (event.offset != offset) chunks.several = true;
    if (event.offset > offset) chunks.is_last = false;
  }
  return chunks;
}

// A wait that passed on what a Set had left behind, and a wait before it had seen already: the cell
// was not cleared between two uses.
bool has_leftover_signal(const EventLog& log) {
  struct Cell {
    bool is_set = false;   // by the last signal
    bool is_seen = false;  // by a wait since then
  };
  absl::flat_hash_map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, Cell> cells;
  for (const Event& event : log.events) {
    if (event.window < 0) continue;
    Cell& cell = cells[{event.target, event.window, event.offset}];
    const bool acts = event.kind == Event::Kind::kAct;
    if (event.op == OpKind::kNotify && (acts || event.kind == Event::Kind::kLand)) {
      cell = {event.sets, false};
    } else if (event.op == OpKind::kWait && acts) {
      if (cell.is_set && cell.is_seen) return true;
      cell.is_seen = true;
    }
  }
  return false;
}

// Whether what the reader may see is older data, and not zeros: a wrong output tells, the reader's
// own first; else whether the bytes had been written before either access of the race.
bool had_earlier_data(const RecordedRun& run, const Access& read, const Access& write) {
  const symrace::Mismatch* wrong = nullptr;
  for (const symrace::Mismatch& mismatch : run.result.mismatches) {
    if (wrong == nullptr || mismatch.rank == read.rank) wrong = &mismatch;
    if (mismatch.rank == read.rank) break;
  }
  if (wrong != nullptr) {
    if (wrong->identity.find("data") != std::string::npos) return true;
    if (wrong->identity.find("zeros") != std::string::npos) return false;
  }
  const auto begin = static_cast<std::uint64_t>(read.region.offset - read.region.window->offset);
  const std::uint64_t end = begin + static_cast<std::uint64_t>(read.region.extent.span());
  const std::uint32_t first = std::min(read.event, write.event);
  for (std::uint32_t i = 0; i < first && i < run.log.events.size(); ++i) {
    const Event& event = run.log.events[i];
    const bool writes = event.kind == Event::Kind::kLand ||
                        (event.kind == Event::Kind::kAct &&
                         (event.op == OpKind::kStore || event.op == OpKind::kRemoteStore ||
                          event.op == OpKind::kPut || event.op == OpKind::kWrite));
    if (!writes || event.target != read.target || event.window != read.region.window->index) {
      continue;
    }
    const auto span = static_cast<std::uint64_t>((event.rows - 1) * event.stride + event.row_bytes);
    if (event.offset < end && begin < event.offset + span) return true;
  }
  return false;
}

std::string_view key_of_read_write(const RecordedRun& run, const Access& read,
                                   const Access& write) {
  const bool pulls = read.op == OpKind::kRemoteLoad || read.op == OpKind::kGet;
  const bool earlier = had_earlier_data(run, read, write);
  if (pulls) return earlier ? "stale-round" : "zeros";
  if (read.op == OpKind::kPut) return "overwritten";
  if (write.op == OpKind::kPut) return chunks_of(run, write).several ? "torn" : "stale-dst";
  return "stale-slice";
}

// An update made by hand: two ranks store to one place what they have made of its value.
bool is_lost_update(const Race& race) {
  return race.kind == RaceKind::kWriteWrite && race.first.op == OpKind::kRemoteStore &&
         race.second.op == OpKind::kRemoteStore && same_line(race.first.where, race.second.where);
}

// The reader stores to the same place by the same line as the writer: both update it by hand.
bool updates_too(const RecordedRun& run, const Access& read, const Access& write) {
  if (read.op != OpKind::kRemoteLoad || write.op != OpKind::kRemoteStore) return false;
  return std::any_of(run.log.events.begin(), run.log.events.end(), [&](const Event& event) {
    return event.op == write.op && event.rank == read.rank && event.target == write.target &&
           same_line(event.where, write.where);
  });
}

std::string_view key_of(const RecordedRun& run, const Race& race) {
  const bool first_reads = race.first.kind == AccessKind::kRead;
  const Access& read = first_reads ? race.first : race.second;
  const Access& write = first_reads ? race.second : race.first;
  switch (race.kind) {
    case RaceKind::kSetAdd:
      return "set-and-add";
    case RaceKind::kCellAccess:
      return "cell";
    case RaceKind::kAtomicMix:
      return "atomic-mix";
    case RaceKind::kSourceOverwritten:
      return "source-overwritten";
    case RaceKind::kSharedOperands:
      return "shared-operands";
    default:
      break;
  }
  if (race.missing == MissingOrder::kReadRelease) return "load-overwritten";
  if (has_leftover_signal(run.log)) return "second-call";
  if (race.missing == MissingOrder::kWriteRelease) {
    const Chunks chunks = chunks_of(run, write);
    return chunks.several && chunks.is_last ? "partial-put" : "notify-overtakes";
  }
  if (race.kind == RaceKind::kAtomicPlain) return "sum";
  if (race.kind == RaceKind::kWriteWrite) {
    return is_lost_update(race) ? "lost-update" : "overwritten";
  }
  if (updates_too(run, read, write)) return "lost-update";
  return key_of_read_write(run, read, write);
}

std::string missing_order(const Race& race, const Model& model) {
  const bool both_write = race.first.writes() && race.second.writes();
  const Access& write = race.first.writes() ? race.first : race.second;
  const Access& other = race.first.writes() ? race.second : race.first;
  if (write.reads_source_late || other.reads_source_late) {
    const Access& source = write.reads_source_late ? write : other;
    const Access& writer = write.reads_source_late ? other : write;
    return absl::StrCat(op_at(source), " may read its source until it lands; nothing orders ",
                        op_at(writer), " after that");
  }
  if (race.missing == MissingOrder::kReadRelease) {
    return absl::StrCat(op_at(other),
                        " may take its value late; the notify behind it does not wait "
                        "for it under ",
                        std::string(model.name), ", so that nothing orders ", op_at(write),
                        " after it");
  }
  const std::string reaches =
      absl::StrCat(op_at(write), " reaches rank ", write.target, "'s slice; ");
  if (race.missing == MissingOrder::kWriteRelease) {
    return absl::StrCat(reaches, "the notify behind it does not wait for it under ",
                        std::string(model.name), ", so that nothing orders it before ",
                        op_at(other));
  }
  return absl::StrCat(reaches, "nothing orders it ", both_write ? "against " : "before ",
                      op_at(other));
}

Finding explain_race(const RecordedRun& run, const Race& race, const Model& model) {
  Finding finding;
  finding.kind = Finding::Kind::kRace;
  finding.race = race.kind;
  finding.symptom = find_symptom(key_of(run, race));
  finding.title = std::string(finding.symptom->text);
  finding.places = {place_of(race.first), place_of(race.second)};
  finding.missing = missing_order(race, model);
  finding.fix = std::string(finding.symptom->fix);
  finding.count = race.count;
  return finding;
}

// A wrong output, by what its data are; no symptom where they tell nothing.
Finding explain_mismatch(const RecordedRun& run, bool looked_for_races) {
  Finding finding;
  finding.kind = Finding::Kind::kMismatch;
  // A row that is another's input tells the most.
  const symrace::Mismatch* telling = &run.result.mismatches.front();
  for (const symrace::Mismatch& mismatch : run.result.mismatches) {
    if (mismatch.identity.find("where the golden is") == std::string::npos) continue;
    telling = &mismatch;
    break;
  }
  const std::string& identity = telling->identity;
  const bool by_put_or_get = std::any_of(
      run.log.events.begin(), run.log.events.end(),
      [](const Event& event) { return event.op == OpKind::kPut || event.op == OpKind::kGet; });
  std::string_view key;
  if (identity.find("where the golden is") != identity.npos) {
    key = by_put_or_get ? "golden-behind" : "wrong-direction";
  } else if (identity.find("the sum of") != identity.npos) {
    key = "sum";
  } else if (has_leftover_signal(run.log)) {
    key = "second-call";
  } else if (looked_for_races && identity.find("'s input") != identity.npos) {
    key = "wrong-rank";
  }
  finding.symptom = find_symptom(key);
  finding.title = finding.symptom != nullptr ? std::string(finding.symptom->text)
                                             : absl::StrCat("the output is ", identity);
  if (!looked_for_races) {
    finding.missing =
        "races were not looked for (--races off); with them, what is unordered is told";
  } else if (run.result.races.empty()) {
    finding.missing =
        "no two accesses of this schedule race: what is moved is not what should be, or not in the "
        "order of the program that was meant";
  }
  if (finding.symptom != nullptr) finding.fix = std::string(finding.symptom->fix);
  return finding;
}

}  // namespace

std::string_view finding_name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kRace:
      return "race";
    case Finding::Kind::kMismatch:
      return "mismatch";
    case Finding::Kind::kDeadlock:
      return "deadlock";
    case Finding::Kind::kStepBound:
      return "step-bound";
    case Finding::Kind::kTimeLimit:
      return "time-limit";
  }
  return "finding";
}

std::vector<Finding> diagnose(const RecordedRun& run, const Options& options,
                              const std::vector<Race>& of_all) {
  std::vector<Finding> findings;
  for (const Race& race : run.result.races) {
    Finding finding = explain_race(run, race, options.model);
    for (const Race& counted : of_all) {
      if (same_lines(counted, race)) finding.count = counted.count;
    }
    findings.push_back(std::move(finding));
  }
  const auto is_of_wrong_output = [&](const Finding& finding) {
    return std::any_of(run.result.mismatches.begin(), run.result.mismatches.end(),
                       [&](const symrace::Mismatch& mismatch) {
                         return std::any_of(finding.places.begin(), finding.places.end(),
                                            [&](const Finding::Place& place) {
                                              return place.rank == mismatch.rank &&
                                                     place.access == AccessKind::kRead;
                                            });
                       });
  };
  std::stable_partition(findings.begin(), findings.end(), is_of_wrong_output);
  if (run.result.outcome == Outcome::kMismatch) {
    Finding finding = explain_mismatch(run, options.detect_races);
    // Beside races only what they do not explain: data that are moved the wrong way.
    const bool is_news = findings.empty() || (finding.symptom != nullptr &&
                                              (finding.symptom->key == "golden-behind" ||
                                               finding.symptom->key == "wrong-direction" ||
                                               finding.symptom->key == "sum"));
    const bool is_known = std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
      return other.symptom == finding.symptom;
    });
    if (is_news && !is_known) findings.push_back(std::move(finding));
  }
  if (!run.result.stuck.empty()) findings.push_back(explain_stuck(run));
  return findings;
}

std::string finding_text(const Finding& finding) {
  std::string text =
      absl::StrCat(std::string(finding_name(finding.kind)), ": ", finding.title,
                   finding.count > 1 ? absl::StrCat(" (", finding.count, " times)") : "", "\n");
  if (!finding.places.empty()) {
    std::size_t widths[3] = {0, 0, 0};
    const auto cells = [](const Finding::Place& place) {
      return std::array<std::string, 3>{
          absl::StrCat("rank ", place.rank), std::string(symrace::op_name(place.op)),
          absl::StrCat(std::string(access_name(place.access)), " of rank ", place.target, "'s ",
                       place.range)};
    };
    for (const Finding::Place& place : finding.places) {
      for (std::size_t i = 0; i < 3; ++i) {
        widths[i] = std::max(widths[i], cells(place)[i].size());
      }
    }
    for (const Finding::Place& place : finding.places) {
      const auto [who, op, what] = cells(place);
      absl::StrAppend(&text, absl::StrFormat("  %-*s  %-*s  %-*s  %s\n", widths[0], who, widths[1],
                                             op, widths[2], what, place.where));
    }
  }
  for (const std::string& detail : finding.details) absl::StrAppend(&text, "  ", detail, "\n");
  if (!finding.missing.empty()) absl::StrAppend(&text, "  ", finding.missing, "\n");
  if (!finding.fix.empty()) absl::StrAppend(&text, "  fix: ", finding.fix, "\n");
  return text;
}

}  // namespace emu
