// The flags of a2a3sim: their names, help and groups, and their values as still unchecked text.
#ifndef SYMRACE_TOOLS_FLAGS_H_
#define SYMRACE_TOOLS_FLAGS_H_

#include <CLI/CLI.hpp>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/program.h"

namespace tools {

inline constexpr std::array<std::string_view, 2> kPlatforms = {"a2a3sim", "a2a3"};
inline constexpr std::array<std::string_view, 4> kModels = {"sc", "documented", "a2a3", "weak"};
inline constexpr std::array<std::string_view, 6> kStrategies = {
    "random", "round-robin", "pct:D", "uniform", "exhaustive", "check-determinism"};
inline constexpr std::array<std::string_view, 3> kClocks = {"none", "a2a3", "a2a3-async"};
inline constexpr std::array<std::string_view, 2> kSwitches = {"on", "off"};
inline constexpr std::array<std::string_view, 2> kEngines = {"emulator", "direct"};
inline constexpr std::array<std::string_view, 2> kRanksAs = {"threads", "processes"};
inline constexpr std::array<std::string_view, 2> kVehicles = {"fiber", "thread"};
inline constexpr std::array<std::string_view, 7> kHeapViews = {"fp32",  "fp16", "bf16", "int32",
                                                               "int16", "int8", "hex"};
inline constexpr std::array<std::string_view, 6> kDTypes = {"fp32",  "fp16",  "bf16",
                                                            "int32", "int16", "int8"};

class Flags {
 public:
  // Which words a command line starts with: `a2a3sim PROGRAM`, the program as its own command, or
  // `a2a3sim heap`.
  enum class Command { kA2a3sim, kOwn, kHeap };

  // The engine's flags, and with `program` that program's; of kHeap its own alone.
  Flags(Command command, const symrace::ProgramInfo* program);
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Throws UsageError for a flag without its value, given twice, or given one it does not take.
  void parse(const std::vector<std::string>& words);

  bool given(std::string_view flag) const;
  // What stands on the command line and is no flag: PROGRAM first.
  const std::string& program() const { return program_; }
  const std::string& value(std::string_view flag) const;
  // Words that are neither a known flag nor PROGRAM.
  std::vector<std::string> unknown_words() const { return app_.remaining(); }
  // "--model" and so on, for suggestions.
  std::vector<std::string_view> names() const;
  std::string help() const { return app_.help(); }

 private:
  void add_value(const char* names, const char* form, const char* group, const std::string& help);
  void add_switch(const char* names, const char* group, const std::string& help);
  void add_engine_flags();
  void add_heap_flags();
  void add_program_flags(const symrace::ProgramInfo& info);

  CLI::App app_;
  std::string program_;
  std::map<std::string, CLI::Option*, std::less<>> options_;  // by longest name, dashes included
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace tools

#endif  // SYMRACE_TOOLS_FLAGS_H_
