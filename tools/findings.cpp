#include "tools/findings.h"

#include <absl/strings/str_cat.h>

#include <iomanip>
#include <sstream>

#include "emu/replay.h"

namespace tools {
namespace {

constexpr std::size_t kLongestToken = 4000;  // decisions

}  // namespace

bool Findings::interrupted() const {
  if (exploration) return exploration->interrupted;
  if (determinism) return determinism->interrupted;
  return run && run->result.outcome == emu::Outcome::kInterrupted;
}

bool Findings::stopped_short() const {
  return request.is_exhaustive() && exploration && exploration->failed == 0 &&
         exploration->end != emu::Exploration::End::kComplete;
}

std::string Findings::costs_name() const {
  const std::optional<emu::CostModel> costs = request.options.costs;
  return costs ? costs->name : "";
}

std::string Findings::error() const {
  if (!run || run->result.outcome != emu::Outcome::kError) return "";
  if (!exploration) return run->result.error;
  if (request.is_exhaustive()) return run->result.error;
  return absl::StrCat("seed ", run->result.seed, ": ", run->result.error);
}

std::string_view outcome_name(emu::Outcome outcome) {
  switch (outcome) {
    case emu::Outcome::kOk:
      return "ok";
    case emu::Outcome::kMismatch:
      return "mismatch";
    case emu::Outcome::kDeadlock:
      return "deadlock";
    case emu::Outcome::kStepBound:
      return "step-bound";
    case emu::Outcome::kError:
      return "error";
    case emu::Outcome::kInterrupted:
      return "interrupted";
    case emu::Outcome::kAbandoned:
      return "abandoned";
  }
  return "unknown";
}

std::string hex(std::uint64_t hash) {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

std::string canonical_program(const RunRequest& request) {
  const symrace::Arguments& arguments = request.arguments;
  std::ostringstream text;
  text << request.program->name;
  for (const auto& [name, value] : arguments.flags) text << ' ' << name << '=' << value;
  text << " ranks=" << arguments.ranks << " size=" << arguments.size
       << " dtype=" << pl::dtype_name(arguments.dtype) << " data-seed=" << arguments.data_seed
       << " model=" << request.options.model.name << " burst=" << request.options.burst_bytes;
  return text.str();
}

std::string replay_command(const RunRequest& request, const emu::RecordedRun& run,
                           bool by_token_only) {
  std::ostringstream text;
  text << request.command;
  if (!request.replay_token.empty()) {
    text << " --replay " << request.replay_token;
  } else if (run.decisions.size() > kLongestToken && !by_token_only) {
    text << " --seed " << run.result.seed << " --strategy " << request.strategy;
  } else {
    text << " --replay "
         << emu::encode({emu::program_hash(canonical_program(request)), run.decisions});
  }
  return text.str();
}

}  // namespace tools
