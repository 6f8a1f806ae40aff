// From the words of a command line to a checked request.
#ifndef SYMRACE_TOOLS_COMMAND_LINE_H_
#define SYMRACE_TOOLS_COMMAND_LINE_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "core/kernel_faults.h"
#include "core/program.h"
#include "core/ranks_as.h"
#include "emu/explore.h"
#include "emu/run.h"
#include "tools/heap_request.h"

namespace tools {

struct RunRequest {
  const symrace::ProgramInfo* program = nullptr;
  symrace::Arguments arguments;
  emu::Options options;
  bool is_direct = false;    // --engine direct: of `options`, the devices and the heap only
  bool on_hardware = false;  // -p a2a3: the devices only
  bool compares = false;     // with the emulator's output, on hardware
  std::chrono::seconds direct_time_limit{60};              // of either
  symrace::RanksAs ranks_as = symrace::RanksAs::kThreads;  // of --engine direct
  symrace::KernelLimits limits;
  // "random", ...; "replay" with a token; "exhaustive" and "check-determinism" are ways to explore.
  std::string strategy = "random";
  std::string replay_token;  // empty: none
  emu::Seeds seeds;
  bool explores = false;  // --seeds was given, or the strategy is a way to explore
  emu::Bounds bounds;     // of exhaustive
  std::uint32_t jobs = 1;
  bool shrinks = true;  // a failure that an exploration found
  bool timeline = false;
  std::string json_path;   // empty: none; "-": stdout
  std::string sarif_path;  // likewise, each
  std::string trace_path;
  std::string report_path;

  bool is_exhaustive() const { return strategy == "exhaustive"; }
  bool checks_determinism() const { return strategy == "check-determinism"; }
  // The command that asks for the same program under the same engine, but for the schedule.
  std::string command;
};

struct ListRequest {};

// `a2a3sim costs`.
struct CostsRequest {};

// `a2a3sim devices`.
struct DevicesRequest {};

// `a2a3sim explain [SYMPTOM]`.
struct ExplainRequest {
  std::string symptom;  // empty: all
};

// --help and --version.
struct TextRequest {
  std::string text;
};

using Request = std::variant<RunRequest, ListRequest, CostsRequest, DevicesRequest, ExplainRequest,
                             HeapRequest, TextRequest>;

// `words` without the command's own name. `own_program`: the program that is the command itself;
// null for a2a3sim, where PROGRAM is a word. InvalidArgument has a message of one line.
absl::StatusOr<Request> parse_command_line(const std::vector<std::string>& words,
                                           const symrace::ProgramInfo* own_program);

}  // namespace tools

#endif  // SYMRACE_TOOLS_COMMAND_LINE_H_
