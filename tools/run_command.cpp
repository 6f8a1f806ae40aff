#include "tools/run_command.h"

#include <absl/strings/str_cat.h>

#include <iostream>
#include <memory>
#include <new>
#include <utility>

#include "emu/replay.h"
#include "emu/strategies.h"
#include "tools/findings.h"
#include "tools/interrupt.h"
#include "tools/json_report.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/report.h"

namespace tools {
namespace {

absl::StatusOr<std::unique_ptr<emu::Strategy>> strategy_of(const RunRequest& request) {
  if (request.replay_token.empty()) return emu::make_strategy(request.strategy);
  absl::StatusOr<emu::ReplayToken> token =
      emu::decode(request.replay_token, emu::program_hash(canonical_program(request)));
  if (!token.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--replay: ", token.status().message()));
  }
  return emu::make_replay_strategy(std::move(token->decisions));
}

void find(Findings& findings, emu::Explorer& explorer, emu::Strategy& strategy) {
  const RunRequest& request = findings.request;
  std::uint64_t seed = request.seeds.first;
  if (request.explores) {
    Progress progress(request.seeds.count);
    findings.exploration = explorer.explore(strategy, request.seeds,
                                            [&](std::uint64_t done) { progress.update(done); });
    if (!findings.exploration->first_failure) return;
    seed = findings.exploration->first_failure->seed;
    // The failure is still to be shown: only another Ctrl-C ends that.
    interrupt_flag() = false;
  }
  findings.run = explorer.record(strategy, seed);
  findings.replay_command = replay_command(request, *findings.run);
}

int exit_status(const Findings& findings) {
  if (findings.interrupted()) return kExitInterrupted;
  if (findings.exploration) return findings.exploration->failures() > 0 ? kExitFinding : kExitOk;
  return findings.run && findings.run->result.outcome == emu::Outcome::kOk ? kExitOk : kExitFinding;
}

absl::StatusOr<std::unique_ptr<OutputFile>> json_file_of(const RunRequest& request) {
  if (request.json_path.empty() || request.json_path == "-") return nullptr;
  return OutputFile::open(request.json_path);
}

// Text to stdout and JSON to its file; or, with `--json -`, text to stderr and JSON to stdout.
absl::StatusOr<int> report(const Findings& findings, OutputFile* json_file) {
  const bool json_to_stdout = findings.request.json_path == "-";
  std::ostream& out = json_to_stdout ? std::cerr : std::cout;
  print_report(out, findings);
  if (json_to_stdout) std::cout << json_report(findings);
  if (json_file != nullptr) {
    if (absl::Status written = json_file->write(json_report(findings)); !written.ok()) {
      return written;
    }
  }
  if (const std::string error = findings.error(); !error.empty()) return absl::AbortedError(error);
  const int status = exit_status(findings);
  if (status == kExitOk) out << "OK\n";
  return status;
}

absl::StatusOr<int> run_checked(const RunRequest& request) {
  absl::StatusOr<std::unique_ptr<emu::Strategy>> strategy = strategy_of(request);
  if (!strategy.ok()) return strategy.status();
  absl::StatusOr<std::unique_ptr<symrace::Program>> program =
      request.program->make(request.arguments);
  if (!program.ok()) return program.status();
  absl::StatusOr<std::unique_ptr<emu::Explorer>> explorer =
      emu::Explorer::create(**program, request.arguments.ranks, request.options);
  if (!explorer.ok()) return explorer.status();
  absl::StatusOr<std::unique_ptr<OutputFile>> json_file = json_file_of(request);
  if (!json_file.ok()) return json_file.status();

  Findings findings{.request = request, .exploration = {}, .run = {}, .replay_command = {}};
  find(findings, **explorer, **strategy);
  return report(findings, json_file->get());
}

}  // namespace

absl::StatusOr<int> run_command(RunRequest request) {
  catch_interrupts();
  request.options.interrupt = &interrupt_flag();
  try {
    return run_checked(request);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory with --size ", request.arguments.size, " on ",
                     request.arguments.ranks, " ranks; make the size smaller, or use fewer ranks"));
  }
}

}  // namespace tools
