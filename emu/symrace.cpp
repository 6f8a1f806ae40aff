#include "emu/symrace.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "emu/replay.h"
#include "emu/shrink.h"
#include "emu/strategies.h"

namespace emu {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // clang 16 wants it said

// What a token must agree with.
std::string canonical(const ExploreOptions& options) {
  return absl::StrCat(
      options.name, " ranks=", options.ranks, " model=", std::string(options.model.name),
      " releases=", static_cast<int>(options.model.releases), " burst=", options.burst_bytes);
}

// Null for an exhaustive exploration.
absl::StatusOr<std::unique_ptr<Strategy>> strategy_of(const ExploreOptions& options) {
  using Made = absl::StatusOr<std::unique_ptr<Strategy>>;
  return std::visit(
      Overloaded{[](Random) -> Made { return make_random_strategy(); },
                 [](RoundRobin) -> Made { return make_round_robin_strategy(); },
                 [](Uniform) -> Made { return make_uniform_strategy(); },
                 [](const Pct& pct) -> Made {
                   if (pct.depth == 0) {
                     return absl::InvalidArgumentError("Pct: depth 0; expected at least 1");
                   }
                   return make_pct_strategy(pct.depth);
                 },
                 [](const Exhaustive&) -> Made { return nullptr; },
                 [&](const Replay& replay) -> Made {
                   absl::StatusOr<ReplayToken> token =
                       decode(replay.token, program_hash(canonical(options)));
                   if (!token.ok()) {
                     return absl::InvalidArgumentError(
                         absl::StrCat("Replay: ", std::string(token.status().message())));
                   }
                   return make_replay_strategy(std::move(token->decisions));
                 }},
      options.strategy);
}

// The windows go with the engine; places are kept by the findings.
void detach(std::vector<Race>& races) {
  for (Race& race : races) race.first.region.window = race.second.region.window = nullptr;
}

void show_failure(ExploreResult& result, const RunResult& failure, Explorer& explorer,
                  Strategy* strategy, const ExploreOptions& options) {
  const Exploration& sum = result.exploration;
  const auto replay = make_replay_strategy(sum.first_failure_decisions);
  Strategy& again = strategy != nullptr ? *strategy : *replay;
  result.run = explorer.record(again, failure.seed);
  if (result.run->result.outcome == Outcome::kError) {
    result.error = result.run->result.error;
    return;
  }
  if (options.shrink) result.run = shrink(explorer, *result.run).run;
  result.findings = diagnose(
      *result.run, {.model = options.model, .detect_races = options.detect_races}, sum.races);
  result.replay_token = encode({program_hash(canonical(options)), result.run->decisions});
  detach(result.run->result.races);
}

}  // namespace

bool ExploreResult::has(std::string_view symptom_or_kind) const {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return (finding.symptom != nullptr && finding.symptom->key == symptom_or_kind) ||
           finding_name(finding.kind) == symptom_or_kind;
  });
}

std::string ExploreResult::text() const {
  std::string text = absl::StrCat(name, ", ", ranks, " ranks, model ", model, ": ");
  if (!error.empty()) return absl::StrCat(text, error, "\n");
  if (verified()) {
    return absl::StrCat(text, "verified: all ", exploration.schedules, " executions\n");
  }
  absl::StrAppend(&text, exploration.failed, " of ", exploration.schedules,
                  is_exhaustive ? " executions failed\n" : " schedules failed\n");
  if (is_exhaustive && exploration.end != Exploration::End::kComplete) {
    absl::StrAppend(&text, "not all executions were visited\n");
  }
  if (run) {
    for (const symrace::Mismatch& m : run->result.mismatches) {
      absl::StrAppend(&text, "rank ", m.rank, ": ", m.differing, " of ", m.total,
                      " elements differ: ", m.identity, "\n");
    }
  }
  for (const Finding& finding : findings) absl::StrAppend(&text, finding_text(finding));
  if (!replay_token.empty()) absl::StrAppend(&text, "replay token: ", replay_token, "\n");
  return text;
}

ExploreResult explore(symrace::Program& program, const ExploreOptions& options) {
  ExploreResult result;
  result.name = options.name;
  result.ranks = options.ranks;
  result.model = std::string(options.model.name);
  const auto fail = [&](const absl::Status& status) {
    result.error = std::string(status.message());
    return result;
  };
  absl::StatusOr<std::unique_ptr<Strategy>> strategy = strategy_of(options);
  if (!strategy.ok()) return fail(strategy.status());
  const auto explorer = Explorer::create(program, options.ranks,
                                         {.model = options.model,
                                          .vehicle = options.vehicle,
                                          .burst_bytes = options.burst_bytes,
                                          .max_steps = options.max_steps,
                                          .detect_races = options.detect_races,
                                          .costs = options.costs});
  if (!explorer.ok()) return fail(explorer.status());
  if (const auto* exhaustive = std::get_if<Exhaustive>(&options.strategy)) {
    result.is_exhaustive = true;
    result.exploration = (*explorer)->exhaust({exhaustive->max_executions, exhaustive->time_limit},
                                              options.stop_at_first_failure);
  } else {
    const bool is_replay = std::holds_alternative<Replay>(options.strategy);
    const Seeds seeds{options.seed, is_replay ? 1 : options.schedules,
                      options.stop_at_first_failure};
    result.exploration = (*explorer)->explore(**strategy, seeds);
  }
  if (const auto& failure = result.exploration.first_failure) {
    show_failure(result, *failure, **explorer, strategy->get(), options);
  }
  detach(result.exploration.races);
  return result;
}

std::ostream& operator<<(std::ostream& out, const ExploreResult& result) {
  return out << result.text();
}

}  // namespace emu
