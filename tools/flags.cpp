#include "tools/flags.h"

#include <sstream>

#include "tools/help.h"
#include "tools/usage_error.h"

namespace tools {
namespace {

std::string joined(const auto& words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : "|").append(word);
  return text;
}

// CLI11 tells what is wrong in its own words, behind the flag's name; this says it in ours.
[[noreturn]] void rethrow(const CLI::ArgumentMismatch& error) {
  const std::string message = error.what();
  const std::string flag = message.substr(0, message.find_first_of(": "));
  if (message.ends_with("missing")) {
    throw UsageError(flag, ": its value is missing; expected one behind it");
  }
  if (message.ends_with("override")) {  // names the flag without its dashes
    throw UsageError("--", flag, ": takes no value; expected --", flag, " alone");
  }
  throw UsageError(flag, ": given more than once; expected it once");
}

}  // namespace

Flags::Flags(Command command, const symrace::ProgramInfo* program) {
  app_.set_help_flag();
  app_.allow_extras();
  app_.formatter(help_formatter());
  if (command == Command::kHeap) {
    app_.description(heap_introduction());
    add_heap_flags();
    return;
  }
  app_.footer(exit_statuses());
  app_.description(program == nullptr ? general_introduction()
                                      : program_introduction(*program, command == Command::kOwn));
  if (command == Command::kA2a3sim) app_.add_option("PROGRAM", program_);
  if (program != nullptr) add_program_flags(*program);
  add_engine_flags();
}

void Flags::add_value(const char* names, const char* form, const char* group,
                      const std::string& help) {
  const std::string text = names;
  const std::string name = text.substr(text.rfind(',') + 1);
  options_[name] = app_.add_option(text, values_[name], help)->option_text(form)->group(group);
}

void Flags::add_switch(const char* names, const char* group, const std::string& help) {
  const std::string text = names;
  const std::string name = text.substr(text.rfind(',') + 1);
  options_[name] = app_.add_flag(text, help)
                       ->disable_flag_override()
                       ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
                       ->group(group);
}

void Flags::add_engine_flags() {
  const char* devices = "Devices";
  add_value("-d", "IDS", devices, "device ids, as 0,1 or 0-7: rank r runs on the r-th (required)");
  add_value("-p", joined(kPlatforms).c_str(), devices,
            "a2a3sim emulates; a2a3 runs on cards, by the ACL runtime (default a2a3sim)");
  add_switch("--compare", devices,
             "with -p a2a3: run the emulator on the same input first, and compare the outputs bit "
             "for bit");

  const char* data = "Data";
  add_value("--size", "N", data, "elements of a rank's row (default: the program's)");
  add_value("--dtype", "TYPE", data, "element type: " + joined(kDTypes) + " (default fp32)");
  add_value("--data-seed", "D", data, "seed of the input; a schedule never changes it (default 0)");

  const char* schedules = "Schedules";
  add_value("--seed", "S", schedules, "the schedule to run, or the first of --seeds (default 0)");
  add_value("--seeds", "N", schedules, "run the N schedules S..S+N-1 and count the failures");
  add_switch("--fail-fast", schedules, "stop --seeds at the first failure");
  add_value("--strategy", "NAME", schedules,
            "how schedules are chosen (default random):\n"
            "random             a draw among what may happen next\n"
            "round-robin        everyone in turn\n"
            "pct:D              by priorities, for bugs of depth D, as pct:3\n"
            "uniform            every interleaving as likely as every other\n"
            "exhaustive         all of them, one of each kind: a proof\n"
            "check-determinism  each twice: is the program a function?");
  add_value("--max-executions", "N", schedules, "where exhaustive stops (default: at the end)");
  add_value("--time-limit", "SECONDS", schedules,
            "the same by time, between executions; with --engine\n"
            "direct or -p a2a3, after which a run counts as stuck\n"
            "(default 60)");
  add_value("--jobs", "N", schedules,
            "threads that --seeds is spread over; what comes out is the same (default 1)");
  add_switch("--no-shrink", schedules,
             "show the failure that an exploration found as it is, not at its simplest");
  add_value("--replay", "TOKEN", schedules,
            "repeat the schedule of a failure; takes the place of the flags above");
  add_value("--max-steps", "N", schedules,
            "decisions after which a run counts as stuck (default: a million a rank)");

  const char* memory = "Memory";
  add_value("--model", "NAME", memory,
            "what may arrive late (default documented):\n"
            "sc          nothing, as in a plain simulator\n"
            "documented  all writes; a notify releases all writes before it\n"
            "a2a3        as observed on the hardware: a notify releases neither\n"
            "            remote_stores nor the last chunk of a chunked put\n"
            "weak        all writes and reads; only a fence orders");
  add_value("--burst", "BYTES", memory,
            "cut transfers into pieces of at most so many bytes; 0: do not (default)");

  add_value("--races", joined(kSwitches).c_str(), memory,
            "look for accesses that nothing orders (default on)");

  const char* engine = "Engine";
  add_value("--engine", joined(kEngines).c_str(), engine,
            "the emulator owns the schedule; direct runs the ranks really in parallel, at full "
            "speed, in whatever order comes (default emulator)");
  add_value("--ranks-as", joined(kRanksAs).c_str(), engine,
            "with --engine direct, what a rank is; as processes, one that dies is named, and ends "
            "the others (default threads)");
  add_value("--vehicle", "KIND", engine,
            "what a rank runs on: " + joined(kVehicles) +
                "; the schedule is the same either way (default fiber)");

  add_value("--clock", "NAME", engine,
            "model the time that the program takes on hardware (default none):\n"
            "a2a3        put and get are staged through the on-core buffer\n"
            "a2a3-async  put and get go by the copy engine");
  add_value("--costs", "FILE", engine,
            "model time by the cost table of a JSON file; see docs/modelled-time.md");

  const char* limits = "Limits";
  add_value("--stack-size", "BYTES", limits,
            "of each rank's fiber, from 16384 to 1073741824 (default 262144)");
  add_value("--hang-after", "SECONDS", limits,
            "longest time from one op of a kernel to its next; 0: none (default 60)");
  add_value("--memory-limit", "MIB", limits,
            "resident memory of the run, in MiB (default: what the machine has free)");

  add_value("--heap", "NAME", engine,
            "keep the windows as a named heap, for 'a2a3sim heap' to look at in the run and after");
  add_switch("--replace-heap", engine, "in place of an ended or stale heap of that name");

  const char* output = "Output";
  add_switch("--timeline", output, "print every event of the run, or of the first failing one");
  add_value("--json", "FILE", output,
            "write all of it as JSON too; - writes JSON to stdout and the text to stderr");
  add_value("--sarif", "FILE", output, "write the findings as SARIF, for code hosts; - as above");
  add_value("--trace", "FILE", output, "write the run as Chrome trace JSON, for Perfetto");
  add_value("--report", "FILE", output, "write the run and its findings as one HTML page");
  add_switch("-h,--help", output, "print this; after PROGRAM: what that program does");
  add_switch("--version", output, "print the version");
}

void Flags::add_heap_flags() {
  const char* group = "Flags of show";
  add_value("--window", "WINDOW", group, "show what a window holds, by its name or its number");
  add_value("--rank", "R", group, "of this rank alone (default: of all)");
  add_value("--offset", "N", group, "from the N-th element of the view on (default 0)");
  add_value("--count", "N", group, "so many elements (default: at most 64, of hex 256)");
  add_value("--as", joined(kHeapViews).c_str(), group,
            "what the elements are; of hex, bytes (default: the window's own type)");
  add_switch("--signals", group, "show the signal cells that are not 0");
  add_switch("-h,--help", group, "print this");
}

void Flags::add_program_flags(const symrace::ProgramInfo& info) {
  const std::string group = "Flags of " + std::string(info.name);
  for (const symrace::Flag& flag : info.flags) {
    const std::string name = "--" + std::string(flag.name);
    std::string help(flag.help);
    if (flag.kind == symrace::Flag::Kind::kSwitch) {
      add_switch(name.c_str(), group.c_str(), help);
      continue;
    }
    help.append(" (default ").append(flag.default_value).append(")");
    const std::string form =
        flag.kind == symrace::Flag::Kind::kChoice ? joined(flag.choices) : std::string("N");
    add_value(name.c_str(), form.c_str(), group.c_str(), help);
  }
}

void Flags::parse(const std::vector<std::string>& words) {
  // CLI11 takes its words from the back.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app_.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& error) {
    rethrow(error);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  for (const auto& [flag, value] : values_) {
    if (value.size() > 2 && value.substr(0, 2) == "--") {
      throw UsageError(flag, ": its value is missing; expected one before ", value);
    }
  }
}

bool Flags::given(std::string_view flag) const {
  const auto found = options_.find(flag);
  return found != options_.end() && found->second->count() > 0;
}

const std::string& Flags::value(std::string_view flag) const {
  static const std::string none;
  const auto found = values_.find(flag);
  return found == values_.end() ? none : found->second;
}

std::vector<std::string_view> Flags::names() const {
  std::vector<std::string_view> names;
  names.reserve(options_.size());
  for (const auto& [name, option] : options_) names.push_back(name);
  return names;
}

}  // namespace tools
