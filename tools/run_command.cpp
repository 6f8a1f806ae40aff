#include "tools/run_command.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "emu/parallel.h"
#include "emu/replay.h"
#include "emu/shrink.h"
#include "emu/strategies.h"
#include "tools/chrome_trace.h"
#include "tools/direct_command.h"
#include "tools/findings.h"
#include "tools/hardware_command.h"
#include "tools/html_report.h"
#include "tools/interrupt.h"
#include "tools/json_report.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/sarif_report.h"

namespace tools {
namespace {

absl::StatusOr<std::unique_ptr<emu::Strategy>> strategy_of(const RunRequest& request) {
  if (request.is_exhaustive()) return nullptr;
  if (request.checks_determinism()) return emu::make_random_strategy();
  if (request.replay_token.empty()) return emu::make_strategy(request.strategy);
  absl::StatusOr<emu::ReplayToken> token =
      emu::decode(request.replay_token, emu::program_hash(canonical_program(request)));
  if (!token.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--replay: ", token.status().message()));
  }
  return emu::make_replay_strategy(std::move(token->decisions));
}

absl::StatusOr<emu::Exploration> explore(const RunRequest& request, emu::Explorer& explorer,
                                         emu::Strategy* strategy) {
  Progress progress(request.is_exhaustive() ? request.bounds.max_executions : request.seeds.count);
  const auto update = [&](std::uint64_t done) { progress.update(done); };
  if (request.is_exhaustive()) {
    return explorer.exhaust(request.bounds, request.seeds.stop_at_first_failure, update);
  }
  if (request.jobs == 1) return explorer.explore(*strategy, request.seeds, update);
  return emu::explore_in_parallel([&] { return request.program->make(request.arguments); },
                                  request.arguments.ranks, request.options, request.strategy,
                                  request.seeds, request.jobs, update);
}

// Runs what is asked for; `strategy` is null for an exhaustive exploration.
absl::Status find(Findings& findings, emu::Explorer& explorer, emu::Strategy* strategy) {
  const RunRequest& request = findings.request;
  if (request.checks_determinism()) {
    findings.determinism = emu::check_determinism(explorer, *strategy, request.seeds);
    return absl::OkStatus();
  }
  if (!request.explores) {
    findings.run = explorer.record(*strategy, request.seeds.first);
  } else {
    absl::StatusOr<emu::Exploration> exploration = explore(request, explorer, strategy);
    if (!exploration.ok()) return exploration.status();
    findings.exploration = *std::move(exploration);
    const emu::Exploration& sum = *findings.exploration;
    if (!sum.first_failure) return absl::OkStatus();
    // The failure is still to be shown: only another Ctrl-C ends that.
    interrupt_flag() = false;
    if (request.is_exhaustive()) {
      const auto replay = emu::make_replay_strategy(sum.first_failure_decisions);
      findings.run = explorer.record(*replay, sum.first_failure->seed);
    } else {
      findings.run = explorer.record(*strategy, sum.first_failure->seed);
    }
    if (request.shrinks && findings.run->result.outcome != emu::Outcome::kError) {
      emu::Shrunk shrunk = emu::shrink(explorer, *findings.run);
      // Else the failure stays as it was found.
      if (!interrupt_flag() && shrunk.after < shrunk.before) findings.shrunk = std::move(shrunk);
      if (findings.shrunk) findings.run = findings.shrunk->run;
    }
  }
  findings.findings =
      emu::diagnose(*findings.run, request.options,
                    findings.exploration ? findings.exploration->races : std::vector<emu::Race>{});
  findings.replay_command = replay_command(request, *findings.run,
                                           request.is_exhaustive() || findings.shrunk.has_value());
  return absl::OkStatus();
}

int exit_status(const Findings& findings) {
  if (findings.interrupted() || interrupt_flag()) return kExitInterrupted;
  if (findings.determinism) return findings.determinism->divergence ? kExitFinding : kExitOk;
  if (findings.exploration) return findings.exploration->failed > 0 ? kExitFinding : kExitOk;
  return findings.findings.empty() ? kExitOk : kExitFinding;
}

// A named heap shall hold what is reported, but other schedules have been run since.
void restore_heap(const Findings& findings, emu::Explorer& explorer) {
  if (findings.request.options.heap.name.empty() || !findings.run || interrupt_flag()) return;
  const auto replay = emu::make_replay_strategy(findings.run->decisions);
  explorer.run(*replay, findings.run->result.seed);
}

// A file that was asked for beside the text report, and what makes its contents.
struct Output {
  const char* flag = nullptr;
  const std::string* path = nullptr;
  std::string (*text)(const Findings&) = nullptr;
  std::unique_ptr<OutputFile> file = nullptr;  // null: stdout

  bool to_stdout() const { return *path == "-"; }
};

// Opens them all before any work is done.
absl::StatusOr<std::vector<Output>> open_outputs(const RunRequest& request) {
  std::vector<Output> outputs;
  for (Output& output : std::array<Output, 4>{{{"--json", &request.json_path, json_report},
                                               {"--sarif", &request.sarif_path, sarif_report},
                                               {"--trace", &request.trace_path, chrome_trace},
                                               {"--report", &request.report_path, html_report}}}) {
    if (output.path->empty()) continue;
    if (!output.to_stdout()) {
      absl::StatusOr<std::unique_ptr<OutputFile>> file =
          OutputFile::open(output.flag, *output.path);
      if (!file.ok()) return file.status();
      for (const Output& other : outputs) {
        if (other.to_stdout() || !other.file->is_same_file(**file)) continue;
        return absl::InvalidArgumentError(absl::StrCat(other.flag, " and ", output.flag,
                                                       " both write '", *output.path,
                                                       "'; expected a file for each"));
      }
      output.file = *std::move(file);
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Text to stdout; or, when a file of another form goes there, to stderr.
absl::StatusOr<int> report(const Findings& findings, const std::vector<Output>& outputs) {
  const bool taken = std::any_of(outputs.begin(), outputs.end(),
                                 [](const Output& output) { return output.to_stdout(); });
  std::ostream& out = taken ? std::cerr : std::cout;
  print_report(out, findings);
  for (const Output& output : outputs) {
    if (output.to_stdout()) {
      std::cout << output.text(findings);
    } else if (absl::Status written = output.file->write(output.text(findings)); !written.ok()) {
      return written;
    }
  }
  if (const std::string error = findings.error(); !error.empty()) return absl::AbortedError(error);
  const int status = exit_status(findings);
  if (status == kExitOk && !findings.stopped_short()) out << "OK\n";
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
  absl::StatusOr<std::vector<Output>> outputs = open_outputs(request);
  if (!outputs.ok()) return outputs.status();

  Findings findings{.request = request};
  if (absl::Status found = find(findings, **explorer, strategy->get()); !found.ok()) return found;
  restore_heap(findings, **explorer);
  return report(findings, *outputs);
}

}  // namespace

absl::StatusOr<int> run_command(RunRequest request) {
  catch_interrupts();
  request.options.interrupt = &interrupt_flag();
  try {
    if (request.on_hardware) return hardware_command(request);
    return request.is_direct ? direct_command(request) : run_checked(request);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory with --size ", request.arguments.size, " on ",
                     request.arguments.ranks, " ranks; make the size smaller, or use fewer ranks"));
  }
}

}  // namespace tools
