#include "tools/cli.h"

#include <csignal>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "core/kernel_faults.h"
#include "kernels/programs.h"
#include "tools/command_line.h"
#include "tools/costs_command.h"
#include "tools/devices_command.h"
#include "tools/explain_command.h"
#include "tools/heap_command.h"
#include "tools/list_command.h"
#include "tools/run_command.h"

namespace tools {
namespace {

absl::StatusOr<int> run(const char* command, const Request& request) {
  if (const auto* wanted = std::get_if<RunRequest>(&request)) {
    const symrace::FaultStack fault_stack;
    symrace::watch_kernels(command, wanted->limits);
    return run_command(*wanted);
  }
  if (const auto* wanted = std::get_if<HeapRequest>(&request)) {
    if (absl::Status done = heap_command(std::cout, *wanted); !done.ok()) return done;
    return kExitOk;
  }
  if (const auto* wanted = std::get_if<ExplainRequest>(&request)) {
    explain(std::cout, wanted->symptom);
    return kExitOk;
  }
  if (const auto* text = std::get_if<TextRequest>(&request)) {
    std::cout << text->text;
  } else if (std::holds_alternative<CostsRequest>(request)) {
    print_costs(std::cout);
  } else if (std::holds_alternative<DevicesRequest>(request)) {
    const absl::StatusOr<std::string> devices = devices_text();
    if (!devices.ok()) return devices.status();
    std::cout << *devices;
  } else {
    list_programs(std::cout);
  }
  return kExitOk;
}

// A line of text whatever the user's words in it hold, and no terminal sequences.
std::string one_line(const std::string& message) {
  constexpr std::size_t kLongest = 1000;
  std::string line;
  for (const char c : message.substr(0, kLongest)) {
    line.push_back(static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c);
  }
  return message.size() > kLongest ? line + "..." : line;
}

}  // namespace

int run_cli(int argc, char** argv, const char* own_program) {
  std::signal(SIGXFSZ, SIG_IGN);  // past a file-size limit, writes fail and are told of
  const char* command = own_program != nullptr ? own_program : "a2a3sim";
  const auto fail = [&](const auto& message) {
    std::cout.flush();  // what was found stands before what went wrong
    std::cerr << command << ": " << one_line(std::string(message)) << '\n';
    return kExitError;
  };
  const symrace::ProgramInfo* program =
      own_program != nullptr ? kernels::find_program(own_program) : nullptr;
  if (own_program != nullptr && program == nullptr) return fail("no program of this name");

  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
  absl::StatusOr<Request> request = parse_command_line(words, program);
  if (!request.ok()) return fail(request.status().message());
  const absl::StatusOr<int> status = run(command, *request);
  if (!status.ok()) return fail(status.status().message());
  std::cout.flush();
  if (!std::cout) return fail("stdout: cannot be written; expected it to take the report");
  return *status;
}

}  // namespace tools
