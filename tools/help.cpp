#include "tools/help.h"

#include <sstream>

namespace tools {
namespace {

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string text = app->get_description();
    for (const std::string& group : app->get_groups()) {
      const std::vector<const CLI::Option*> options =
          app->get_options([&](const CLI::Option* option) {
            return option->get_group() == group && option->nonpositional();
          });
      if (!options.empty()) text += make_group(group, false, options);
    }
    return text + "\n" + app->get_footer();
  }

  // Wrapped to the width of a terminal; its own line breaks stay.
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    for (std::size_t begin = 0; text.size() - begin > kWidth;) {
      std::size_t end = text.find('\n', begin);
      if (end == std::string::npos || end - begin > kWidth) {
        end = text.rfind(' ', begin + kWidth);
        if (end == std::string::npos || end <= begin) break;  // one long word
        text[end] = '\n';
      }
      begin = end + 1;
    }
    return text;
  }

 private:
  static constexpr std::size_t kColumn = 26;
  static constexpr std::size_t kWidth = 98 - kColumn;
};

}  // namespace

std::string general_introduction() {
  return
      R"(Runs distributed tile kernels on one machine, under a scheduler that owns every ordering
decision: one seed, one schedule, every time.

Usage:
  a2a3sim -d IDS PROGRAM [flags]   run a program, one rank a device
  a2a3sim list                     name the programs and the seeded bugs
  a2a3sim explain [SYMPTOM]        tell a documented symptom's cause and fix
  a2a3sim costs                    tell what operations cost in modelled time
  a2a3sim heap list|show|rm        look at the heaps of runs with --heap
  a2a3sim devices                  tell which cards there are, for -p a2a3
  a2a3sim PROGRAM --help           tell what a program does, and its own flags

Examples:
  a2a3sim -d 0,1 05_remote_load_store --mode load
      One schedule on two ranks; the last line is OK when every rank's output is right.
  a2a3sim -d 0-3 05_remote_load_store --mode store --seeds 1000
      A thousand schedules on four ranks. A failure is told with its values and with the command
      that repeats its schedule.
  a2a3sim -d 0,1 05_remote_load_store --seeds 1000 --model sc
      The same under sequential consistency, as a plain simulator has it.
  a2a3sim -d 0,1 05_remote_load_store --seed 7 --timeline
      What happened under seed 7, event by event.
  a2a3sim -d 0,1 05_remote_load_store --strategy exhaustive
      A proof: every execution, one of each kind.

Flags stand before or after PROGRAM; a program's own flags stand after it.
)";
}

std::string program_introduction(const symrace::ProgramInfo& info, bool is_own_command) {
  std::ostringstream text;
  text << info.name << ": " << info.summary << "\n\nUsage:\n  ";
  if (!is_own_command) text << "a2a3sim -d IDS ";
  text << info.name << (is_own_command ? " -d IDS" : "") << " [flags]\n\nRuns on "
       << info.smallest_ranks << (info.smallest_ranks == 1 ? " rank" : " ranks") << " or more.\n";
  if (const symrace::BugInfo* bug = info.bug; bug != nullptr) {
    if (bug->document == "hw") {
      text << "A bug of hardware (" << bug->reference << "), seen under --model " << bug->model
           << " from ";
    } else {
      text << "A seeded bug of step " << bug->document << ", seen from ";
    }
    text << bug->ranks << " ranks on: " << bug->symptom << "\n";
  }
  return text.str();
}

std::string heap_introduction() {
  return
      R"(Looks at the heaps that runs with --heap NAME have made, from outside.

Usage:
  a2a3sim heap list               name the heaps: running, ended, or stale (the run died)
  a2a3sim heap show NAME [flags]  tell a heap's windows, or what they hold
  a2a3sim heap rm NAME            remove the heap of a run that is over
)";
}

std::string command_help(std::string_view command) {
  if (command == "list") {
    return R"(Names the programs with what each does, and the seeded bugs with what each shows.

Usage:
  a2a3sim list
)";
  }
  if (command == "explain") {
    return R"(Tells a documented symptom's cause and fix; without a word, which symptoms there are.

Usage:
  a2a3sim explain [SYMPTOM]
)";
  }
  if (command == "costs") {
    return R"(Tells what operations cost in modelled time (--clock a2a3), and where each figure is from.

Usage:
  a2a3sim costs
)";
  }
  if (command == "devices") {
    return R"(Tells which cards there are for -p a2a3: SoC, free memory, and who can access whose memory.

Usage:
  a2a3sim devices
)";
  }
  return "";
}

std::string exit_statuses() {
  return R"(Exit status:
  0    OK
  1    a finding: a race, an output that differs, a deadlock, or the step bound
  2    bad input, a file that cannot be written, or a kernel that failed by itself or asked for
       what the hardware cannot do
  130  interrupted by Ctrl-C, after telling what was found so far
)";
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace tools
