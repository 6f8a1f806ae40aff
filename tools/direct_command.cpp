#include "tools/direct_command.h"

#include <iostream>
#include <memory>

#include "core/kernel_faults.h"
#include "emu/diagnosis.h"
#include "emu/stuck.h"
#include "tools/interrupt.h"
#include "tools/report.h"
#include "tools/run_command.h"

namespace tools {
namespace {

using Outcome = symrace::DirectResult::Outcome;

emu::Finding stuck_finding(const symrace::DirectResult& result) {
  emu::Finding finding =
      emu::explain_stuck(result.outcome == Outcome::kDeadlock ? emu::Finding::Kind::kDeadlock
                                                              : emu::Finding::Kind::kTimeLimit,
                         result.stuck, result.signals);
  if (!result.has_all_signals) {
    finding.details.emplace_back(
        "some rank has signalled so many cells that only the first of them are known here");
  }
  return finding;
}

}  // namespace

absl::StatusOr<int> direct_command(const RunRequest& request) {
  absl::StatusOr<std::unique_ptr<symrace::Program>> program =
      request.program->make(request.arguments);
  if (!program.ok()) return program.status();
  absl::StatusOr<std::unique_ptr<symrace::DirectEngine>> engine =
      symrace::DirectEngine::create(**program, request.arguments.ranks,
                                    {.devices = request.options.devices,
                                     .ranks_as = request.ranks_as,
                                     .time_limit = request.direct_time_limit,
                                     .interrupt = &interrupt_flag(),
                                     .cannot_end = symrace::end_watched_process,
                                     .heap = request.options.heap});
  if (!engine.ok()) return engine.status();
  return report_direct(request, (*engine)->run(), "direct");
}

absl::StatusOr<int> report_direct(const RunRequest& request, const symrace::DirectResult& result,
                                  std::string_view engine) {
  if (result.outcome == Outcome::kError) return absl::AbortedError(result.error);

  std::cout << request.program->name << " · " << request.arguments.ranks
            << (request.arguments.ranks == 1 ? " rank" : " ranks") << " · " << engine << '\n';
  switch (result.outcome) {
    case Outcome::kInterrupted:
      std::cout << "interrupted\n";
      return kExitInterrupted;
    case Outcome::kMismatch:
      print_mismatches(std::cout, result.mismatches);
      break;
    case Outcome::kDeadlock:
    case Outcome::kTimeLimit:
      std::cout << emu::finding_text(stuck_finding(result));
      break;
    case Outcome::kOk:
    case Outcome::kError:
      std::cout << "OK\n";
      return kExitOk;
  }
  // This schedule is gone; the emulator has others that fail, with their reasons.
  if (result.outcome == Outcome::kMismatch) {
    std::cout << "to see why: " << request.command << " --seeds 1000\n";
  }
  return kExitFinding;
}

}  // namespace tools
