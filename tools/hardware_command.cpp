#include "tools/hardware_command.h"

#include <iostream>
#include <memory>
#include <utility>

#include "core/acl_engine.h"
#include "core/kernel_faults.h"
#include "emu/explore.h"
#include "emu/strategies.h"
#include "tools/direct_command.h"
#include "tools/interrupt.h"
#include "tools/run_command.h"

namespace tools {
namespace {

using Outcome = symrace::DirectResult::Outcome;

// Makes the emulator's output the one that `program` expects; false when interrupted.
absl::StatusOr<bool> expect_emulated(const RunRequest& request, symrace::Program& program) {
  emu::Options options = request.options;
  options.detect_races = false;  // only the output is asked for
  absl::StatusOr<std::unique_ptr<emu::Explorer>> explorer =
      emu::Explorer::create(program, request.arguments.ranks, options);
  if (!explorer.ok()) return explorer.status();
  const emu::RunResult emulated = (*explorer)->run(*emu::make_random_strategy(), 0);
  switch (emulated.outcome) {
    case emu::Outcome::kOk:
    case emu::Outcome::kMismatch:
      program.expect_outputs();
      return true;
    case emu::Outcome::kInterrupted:
      return false;
    case emu::Outcome::kError:
      return absl::AbortedError(emulated.error);
    default:
      return absl::FailedPreconditionError(
          "--compare: on the emulator the program does not end, as it tells without -p a2a3; "
          "expected one that does");
  }
}

}  // namespace

absl::StatusOr<int> hardware_command(const RunRequest& request) {
  absl::StatusOr<std::unique_ptr<symrace::Program>> program =
      request.program->make(request.arguments);
  if (!program.ok()) return program.status();
  if (request.compares) {
    const absl::StatusOr<bool> ended = expect_emulated(request, **program);
    if (!ended.ok()) return ended.status();
    if (!*ended) {
      std::cout << "interrupted\n";
      return kExitInterrupted;
    }
  }
  absl::StatusOr<std::unique_ptr<symrace::AclEngine>> engine =
      symrace::AclEngine::create(**program, {.devices = request.options.devices,
                                             .time_limit = request.direct_time_limit,
                                             .interrupt = &interrupt_flag(),
                                             .cannot_end = symrace::end_watched_process});
  if (!engine.ok()) return engine.status();
  const symrace::DirectResult result = (*engine)->run();
  const absl::Status closed = (*engine)->close();
  if (result.outcome != Outcome::kError && !closed.ok()) return closed;
  return report_direct(request, result,
                       request.compares ? "a2a3, compared with the emulator" : "a2a3");
}

}  // namespace tools
