#include "tools/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "emu/model.h"
#include "emu/symptoms.h"
#include "kernels/programs.h"
#include "tools/cost_table.h"
#include "tools/flags.h"
#include "tools/help.h"
#include "tools/suggest.h"
#include "tools/usage_error.h"
#include "tools/values.h"

namespace tools {
namespace {

constexpr std::string_view kList = "list";
constexpr std::string_view kExplain = "explain";
constexpr std::string_view kCosts = "costs";
constexpr std::string_view kDevices = "devices";
constexpr std::string_view kHeap = "heap";

const symrace::ProgramInfo& find_program(std::string_view name) {
  if (const symrace::ProgramInfo* found = kernels::find_program(name)) return *found;
  std::vector<std::string_view> names = {kList, kExplain, kCosts, kDevices, kHeap};
  for (const symrace::ProgramInfo* program : kernels::programs()) names.push_back(program->name);
  throw UsageError("unknown program '", name, "'",
                   did_you_mean(name, names, "; expected one that 'a2a3sim list' names"));
}

// A flag that stands before PROGRAM, where only the engine's may stand.
void refuse_unknown_before(std::string_view program, const std::vector<std::string>& words,
                           const Flags& flags) {
  const auto end = std::find(words.begin(), words.end(), program);
  for (const std::string& unknown : flags.unknown_words()) {
    // The value of a program's flag may well be that of one of the engine's.
    if (!unknown.starts_with('-') || std::find(words.begin(), end, unknown) == end) continue;
    throw UsageError("unknown flag '", unknown.substr(0, unknown.find('=')),
                     "' before PROGRAM, where a program's own flags cannot stand",
                     did_you_mean(unknown, flags.names(), "; expected them behind its name"));
  }
}

void refuse_unknown(const Flags& flags, const symrace::ProgramInfo& program) {
  const std::vector<std::string> unknown = flags.unknown_words();
  if (unknown.empty()) return;
  const std::string& word = unknown.front();
  if (!word.starts_with('-')) {
    throw UsageError("unexpected word '", word, "'; expected only flags beside ", program.name);
  }
  const std::string name = word.substr(0, word.find('='));
  throw UsageError("unknown flag '", name, "' of ", program.name,
                   did_you_mean(name, flags.names(), "; expected one that --help names"));
}

void read_program_flags(const Flags& flags, RunRequest& request) {
  for (const symrace::Flag& flag : request.program->flags) {
    const std::string name = "--" + std::string(flag.name);
    if (!flags.given(name)) continue;
    std::string& value = request.arguments.flags[std::string(flag.name)];
    switch (flag.kind) {
      case symrace::Flag::Kind::kSwitch:
        value = "true";
        break;
      case symrace::Flag::Kind::kChoice:
        value = parse_choice(name, flags.value(name), flag.choices);
        break;
      case symrace::Flag::Kind::kInteger:
        value = std::to_string(parse_integer<std::int64_t>(name, flags.value(name), flag.smallest));
        break;
    }
  }
  const std::string_view mode = request.arguments.choice("mode");
  for (const symrace::Flag& flag : request.program->flags) {
    const std::string_view value = request.arguments.choice(flag.name);
    if (flag.mode.empty() || flag.mode == mode || value == flag.default_value) continue;
    throw UsageError("--", flag.name, " ", value, ": belongs to --mode ", flag.mode,
                     ", and the mode is ", mode, "; expected --mode ", flag.mode, " with it");
  }
}

void read_data_flags(const Flags& flags, const symrace::ProgramInfo& program,
                     symrace::Arguments& arguments) {
  if (flags.given("--size")) {
    arguments.size = parse_integer<std::int64_t>("--size", flags.value("--size"), 1);
  }
  if (flags.given("--dtype")) {
    arguments.dtype = pl::parse_dtype(parse_choice("--dtype", flags.value("--dtype"), kDTypes))
                          .value_or(arguments.dtype);
  }
  if (flags.given("--data-seed")) {
    arguments.data_seed =
        parse_integer<std::uint64_t>("--data-seed", flags.value("--data-seed"), 0);
  }
  if (program.sizes_a_row == nullptr) {
    check_fits_memory("--size", arguments, 1);
    return;
  }
  std::string at_fault = "--size";  // with all that may be
  for (const symrace::Flag& flag : program.flags) {
    const std::string name = "--" + std::string(flag.name);
    if (flag.kind == symrace::Flag::Kind::kInteger && flags.given(name)) at_fault += ", " + name;
  }
  check_fits_memory(at_fault, arguments, program.sizes_a_row(arguments));
}

void read_engine_flags(const Flags& flags, emu::Options& options) {
  if (flags.given("--model")) {
    options.model = emu::Model::parse(parse_choice("--model", flags.value("--model"), kModels))
                        .value_or(options.model);
  }
  if (flags.given("--vehicle") &&
      parse_choice("--vehicle", flags.value("--vehicle"), kVehicles) == "thread") {
    options.vehicle = emu::VehicleKind::kThread;
  }
  if (flags.given("--stack-size")) {
    if (options.vehicle == emu::VehicleKind::kThread) {
      throw UsageError(
          "--stack-size and --vehicle thread exclude each other; expected 'ulimit -s', "
          "which sizes the stacks of threads");
    }
    options.stack_bytes = parse_integer<std::size_t>("--stack-size", flags.value("--stack-size"),
                                                     std::size_t{1} << 14, std::size_t{1} << 30);
  }
  if (flags.given("--burst")) {
    options.burst_bytes = parse_integer<std::int64_t>("--burst", flags.value("--burst"), 0);
  }
  if (flags.given("--max-steps")) {
    options.max_steps = parse_integer<std::uint64_t>("--max-steps", flags.value("--max-steps"), 1);
  }
  if (flags.given("--races")) {
    options.detect_races = parse_choice("--races", flags.value("--races"), kSwitches) == "on";
  }
}

std::chrono::seconds read_time_limit(const Flags& flags) {
  return std::chrono::seconds(
      parse_integer<std::int64_t>("--time-limit", flags.value("--time-limit"), 1, 1000000));
}

symrace::KernelLimits read_limits(const Flags& flags) {
  symrace::KernelLimits limits{.hang_after = std::chrono::seconds(60),
                               .memory_bytes = available_memory()};
  if (flags.given("--hang-after")) {
    limits.hang_after = std::chrono::seconds(
        parse_integer<std::int64_t>("--hang-after", flags.value("--hang-after"), 0, 1000000));
  }
  if (flags.given("--memory-limit")) {
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
    limits.memory_bytes =
        kMiB * parse_integer<std::uint64_t>("--memory-limit", flags.value("--memory-limit"), 64,
                                            std::uint64_t{1} << 40);
  }
  return limits;
}

void refuse_together(const Flags& flags, std::string_view what,
                     std::initializer_list<const char*> others) {
  for (const char* other : others) {
    if (!flags.given(other)) continue;
    throw UsageError(what, " and ", other, " exclude each other; expected one of them");
  }
}

// The direct engine and the hardware have no schedule to choose, and keep no record of one.
void read_engine(const Flags& flags, RunRequest& request) {
  request.on_hardware =
      flags.given("-p") && parse_choice("-p", flags.value("-p"), kPlatforms) == "a2a3";
  if (request.on_hardware) refuse_together(flags, "-p a2a3", {"--engine", "--ranks-as", "--heap"});
  request.compares = flags.given("--compare");
  if (request.compares && !request.on_hardware) {
    throw UsageError("--compare without -p a2a3; expected both");
  }
  request.is_direct = flags.given("--engine") &&
                      parse_choice("--engine", flags.value("--engine"), kEngines) == "direct";
  if (flags.given("--ranks-as")) {
    const std::string kind = parse_choice("--ranks-as", flags.value("--ranks-as"), kRanksAs);
    if (!request.is_direct) {
      throw UsageError("--ranks-as without --engine direct; expected both");
    }
    if (kind == "processes") request.ranks_as = symrace::RanksAs::kProcesses;
  }
  if (!request.is_direct && !request.on_hardware) return;
  for (const char* emulator_only :
       {"--seed",      "--seeds",    "--fail-fast",  "--strategy",  "--max-executions", "--jobs",
        "--no-shrink", "--replay",   "--max-steps",  "--model",     "--burst",          "--races",
        "--vehicle",   "--timeline", "--json",       "--sarif",     "--trace",          "--report",
        "--clock",     "--costs",    "--stack-size", "--hang-after"}) {
    if (!flags.given(emulator_only)) continue;
    throw UsageError(request.on_hardware ? "-p a2a3" : "--engine direct", ": it takes no ",
                     emulator_only, ", which is the emulator's; expected either by itself");
  }
  if (flags.given("--time-limit")) request.direct_time_limit = read_time_limit(flags);
}

// pct:D with its depth, or one of the other names.
std::string parse_strategy(const std::string& text) {
  constexpr std::string_view kPct = "pct:";
  if (std::string_view(text).substr(0, 3) != "pct") {
    return parse_choice("--strategy", text, kStrategies);
  }
  if (!text.starts_with(kPct)) {
    throw UsageError("--strategy: '", text, "' has no depth; expected pct:D, as pct:3");
  }
  const auto depth =
      parse_integer<std::uint32_t>("--strategy pct:D", text.substr(kPct.size()), 1, 1000);
  return std::string(kPct) + std::to_string(depth);
}

void read_clock_flags(const Flags& flags, emu::Options& options) {
  if (flags.given("--clock")) {
    refuse_together(flags, "--clock", {"--costs"});
    options.costs = emu::CostModel::parse(parse_choice("--clock", flags.value("--clock"), kClocks));
  }
  if (flags.given("--costs")) options.costs = read_cost_table("--costs", flags.value("--costs"));
}

void read_heap_flags(const Flags& flags, RunRequest& request) {
  if (!flags.given("--heap")) {
    if (flags.given("--replace-heap")) {
      throw UsageError("--replace-heap without --heap; expected both");
    }
    return;
  }
  // Each thread has a heap of its own.
  refuse_together(flags, "--heap", {"--jobs"});
  symrace::HeapLabel& heap = request.options.heap;
  heap.name = flags.value("--heap");
  heap.program = request.program->name;
  heap.replaces = flags.given("--replace-heap");
  check_heap_name("--heap", heap.name);
}

void read_exhaustive_flags(const Flags& flags, RunRequest& request) {
  if (!request.is_exhaustive()) {
    for (const char* flag : {"--max-executions", "--time-limit"}) {
      if (flags.given(flag)) {
        throw UsageError(flag, " without --strategy exhaustive",
                         std::string_view(flag) == "--time-limit"
                             ? ", --engine direct or -p a2a3; expected one of them with it"
                             : "; expected both");
      }
    }
    return;
  }
  refuse_together(flags, "--strategy exhaustive", {"--seed", "--seeds", "--jobs"});
  request.explores = true;
  if (flags.given("--max-executions")) {
    request.bounds.max_executions =
        parse_integer<std::uint64_t>("--max-executions", flags.value("--max-executions"), 1);
  }
  if (flags.given("--time-limit")) request.bounds.time_limit = read_time_limit(flags);
}

void read_schedule_flags(const Flags& flags, RunRequest& request) {
  if (flags.given("--replay")) {
    refuse_together(flags, "--replay", {"--seed", "--seeds", "--strategy", "--jobs"});
    request.strategy = "replay";
    request.replay_token = flags.value("--replay");
    if (request.replay_token.empty()) {
      throw UsageError("--replay: the token is empty; expected one from an earlier report");
    }
  }
  if (flags.given("--strategy")) {
    request.strategy = parse_strategy(flags.value("--strategy"));
  }
  read_exhaustive_flags(flags, request);
  if (flags.given("--seed")) {
    request.seeds.first = parse_integer<std::uint64_t>("--seed", flags.value("--seed"), 0);
  }
  if (flags.given("--seeds")) {
    request.explores = true;
    const std::uint64_t above = std::numeric_limits<std::uint64_t>::max() - request.seeds.first;
    request.seeds.count = parse_integer<std::uint64_t>("--seeds", flags.value("--seeds"), 1);
    if (request.seeds.count - 1 > above) {
      throw UsageError("--seeds: ", request.seeds.count, " seeds from ", request.seeds.first,
                       " on pass the largest seed; expected at most ", above + 1);
    }
  }
  request.explores = request.explores || request.checks_determinism();
  request.seeds.stop_at_first_failure = flags.given("--fail-fast");
  if (request.seeds.stop_at_first_failure && !request.explores) {
    throw UsageError("--fail-fast without --seeds; expected both");
  }
  if (flags.given("--jobs")) {
    constexpr std::uint32_t kMostJobs = 1024;
    request.jobs = parse_integer<std::uint32_t>("--jobs", flags.value("--jobs"), 1, kMostJobs);
    if (!flags.given("--seeds") || request.checks_determinism()) {
      throw UsageError("--jobs: only --seeds is spread; expected it with --seeds");
    }
  }
  request.shrinks = !flags.given("--no-shrink");
}

void read_output_flags(const Flags& flags, RunRequest& request) {
  const char* to_stdout = nullptr;
  const std::pair<const char*, std::string*> files[] = {{"--json", &request.json_path},
                                                        {"--sarif", &request.sarif_path},
                                                        {"--trace", &request.trace_path},
                                                        {"--report", &request.report_path}};
  for (const auto& [flag, path] : files) {
    if (!flags.given(flag)) continue;
    *path = flags.value(flag);
    if (path->empty()) {
      throw UsageError(flag, ": the file name is empty; expected a file, or - for stdout");
    }
    for (const auto& [other, its_path] : files) {
      if (other == flag) break;
      if (*its_path == *path && *path != "-") {
        throw UsageError(other, " and ", flag, " both write '", *path,
                         "'; expected a file for each");
      }
    }
    if (*path != "-") continue;
    if (to_stdout != nullptr) {
      throw UsageError(to_stdout, " and ", flag, " both write to stdout; expected one of them");
    }
    to_stdout = flag;
  }
}

// As one word of a shell.
std::string quoted(const std::string& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,/:=+";
  if (value.find_first_not_of(kPlain) == std::string::npos) return value;
  std::string word = "'";
  for (const char c : value) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Every value has been checked, and none but a file's name needs quoting.
std::string command_of(const Flags& flags, const RunRequest& request, bool is_own_command) {
  std::string command;
  const auto add = [&](std::string_view word) {
    command.append(command.empty() ? "" : " ").append(word);
  };
  const auto add_flag = [&](std::string_view name) {
    if (!flags.given(name)) return;
    add(name);
    if (const std::string& value = flags.value(name); !value.empty()) add(quoted(value));
  };
  if (is_own_command) add(request.program->name);
  if (!is_own_command) {
    // The script that started us says how it was called itself.
    const char* called = std::getenv("A2A3SIM_COMMAND");
    add(called != nullptr ? called : "a2a3sim");
  }
  add_flag("-d");
  if (!is_own_command) add(request.program->name);
  for (const symrace::Flag& flag : request.program->flags) {
    add_flag("--" + std::string(flag.name));
  }
  for (const char* name : {"--size", "--dtype", "--data-seed", "--model", "--burst", "--max-steps",
                           "--races", "--vehicle", "--stack-size", "--clock", "--costs"}) {
    add_flag(name);
  }
  return command;
}

RunRequest read_run(const Flags& flags, const symrace::ProgramInfo& program, bool is_own_command) {
  refuse_unknown(flags, program);
  if (!flags.given("-d")) {
    throw UsageError("-d: missing; expected the devices to run on, as -d 0,1");
  }
  RunRequest request;
  request.program = &program;
  request.options.devices = parse_devices("-d", flags.value("-d"));
  const auto ranks = static_cast<std::int32_t>(request.options.devices.size());
  if (ranks < program.smallest_ranks) {
    throw UsageError("-d: ", ranks, ranks == 1 ? " device" : " devices", "; expected at least ",
                     program.smallest_ranks, ", the fewest that ", program.name, " runs on");
  }
  request.arguments = symrace::default_arguments(program, ranks);
  read_program_flags(flags, request);
  read_data_flags(flags, program, request.arguments);
  read_engine_flags(flags, request.options);
  read_engine(flags, request);
  request.limits = read_limits(flags);
  if (!request.is_direct && !request.on_hardware) {
    read_schedule_flags(flags, request);
    read_clock_flags(flags, request.options);
  }
  read_heap_flags(flags, request);
  read_output_flags(flags, request);
  request.timeline = flags.given("--timeline");
  request.command = command_of(flags, request, is_own_command);
  return request;
}

Request parse_explain(const std::vector<std::string>& words) {
  if (words.size() == 1) return ExplainRequest{};
  const std::string& symptom = words[1];
  std::vector<std::string_view> keys;
  for (const emu::Symptom& known : emu::symptoms()) keys.push_back(known.key);
  if (words.size() > 2 || words[0] != kExplain) {
    throw UsageError("explain: takes one symptom; expected 'a2a3sim explain SYMPTOM'");
  }
  for (const emu::Symptom& known : emu::symptoms()) {
    if (known.program == symptom) return ExplainRequest{std::string(known.key)};
  }
  if (emu::find_symptom(symptom) == nullptr) {
    throw UsageError("explain: unknown symptom '", symptom, "'",
                     did_you_mean(symptom, keys, "; expected one that 'a2a3sim explain' names"));
  }
  return ExplainRequest{symptom};
}

Request parse(const std::vector<std::string>& words, const symrace::ProgramInfo* own_program) {
  const Flags::Command command =
      own_program != nullptr ? Flags::Command::kOwn : Flags::Command::kA2a3sim;
  if (own_program == nullptr && !words.empty() && words.front() == kHeap) {
    Flags heap(Flags::Command::kHeap, nullptr);
    heap.parse({words.begin() + 1, words.end()});
    if (heap.given("--help")) return TextRequest{heap.help()};
    return parse_heap(heap);
  }
  const symrace::ProgramInfo* program = own_program;
  if (program == nullptr) {
    // PROGRAM says which flags there are, so it is looked for first, with the engine's flags only.
    Flags engine(command, nullptr);
    engine.parse(words);
    if (engine.given("--version")) return TextRequest{"a2a3sim " SYMRACE_VERSION "\n"};
    if (engine.program() == kHeap) {
      throw UsageError(
          "heap: flags stand before it; expected 'a2a3sim heap' and its own behind it");
    }
    if (engine.given("--help")) {
      const std::string help = command_help(engine.program());
      if (!help.empty()) return TextRequest{help};
    }
    if (engine.program() == kExplain) return parse_explain(words);
    if (engine.program().empty() || engine.program() == kList || engine.program() == kCosts ||
        engine.program() == kDevices) {
      if (engine.given("--help")) return TextRequest{engine.help()};
      if (engine.program() == kCosts) {
        if (words.size() > 1) throw UsageError("costs: takes no flags; expected 'a2a3sim costs'");
        return CostsRequest{};
      }
      if (engine.program() == kDevices) {
        if (words.size() > 1) {
          throw UsageError("devices: takes no flags; expected 'a2a3sim devices'");
        }
        return DevicesRequest{};
      }
      if (engine.program() == kList) {
        if (words.size() > 1) throw UsageError("list: takes no flags; expected 'a2a3sim list'");
        return ListRequest{};
      }
      const std::vector<std::string> unknown = engine.unknown_words();
      if (!unknown.empty()) refuse_unknown_before("", words, engine);
      throw UsageError(
          "PROGRAM is missing; expected 'a2a3sim -d IDS PROGRAM', where 'a2a3sim "
          "list' names the programs, or 'a2a3sim --help'");
    }
    refuse_unknown_before(engine.program(), words, engine);
    program = &find_program(engine.program());
  }
  Flags flags(command, program);
  flags.parse(words);
  if (flags.given("--help")) return TextRequest{flags.help()};
  if (flags.given("--version")) {
    return TextRequest{std::string(program->name) + " " SYMRACE_VERSION "\n"};
  }
  return read_run(flags, *program, own_program != nullptr);
}

}  // namespace

absl::StatusOr<Request> parse_command_line(const std::vector<std::string>& words,
                                           const symrace::ProgramInfo* own_program) {
  try {
    return parse(words, own_program);
  } catch (const UsageError& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace tools
