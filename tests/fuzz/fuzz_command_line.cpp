// Any words, one a line of the input, as the command line of a2a3sim: a request, or one line that
// says what is wrong. The command that a run prints for its repetition must be one, and its own.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "core/named_heap.h"
#include "kernels/programs.h"
#include "tests/fuzz/expect.h"
#include "tools/command_line.h"

namespace {

using Words = std::vector<std::string>;

void check_run(const tools::RunRequest& run, const symrace::ProgramInfo* own_program) {
  fuzz::expect(run.program != nullptr, "a program");
  fuzz::expect(run.options.devices.size() == static_cast<std::size_t>(run.arguments.ranks) &&
                   run.arguments.ranks >= run.program->smallest_ranks,
               "a rank for each device, as many as the program needs", run.command);
  fuzz::expect(run.arguments.size >= 1 && run.seeds.count >= 1 && run.jobs >= 1, "counts from 1 on",
               run.command);
  if (run.command.find('\'') != std::string::npos) return;  // has a word that a shell would split
  std::istringstream text(run.command);
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  words.erase(words.begin());
  const auto again = tools::parse_command_line(words, own_program);
  fuzz::expect(again.ok(), "a command that is accepted", run.command);
  const auto* same = std::get_if<tools::RunRequest>(&*again);
  fuzz::expect(same != nullptr && same->command == run.command, "the same command again",
               run.command);
}

void check(const Words& words, const symrace::ProgramInfo* own_program) {
  const auto request = tools::parse_command_line(words, own_program);
  if (!request.ok()) {
    fuzz::expect_one_line(request.status());
  } else if (const auto* run = std::get_if<tools::RunRequest>(&*request)) {
    check_run(*run, own_program);
  } else if (const auto* heap = std::get_if<tools::HeapRequest>(&*request)) {
    fuzz::expect(heap->action == tools::HeapRequest::Action::kList ||
                     symrace::check_heap_name(heap->name).ok(),
                 "the name of a heap", heap->name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Words words(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      words.emplace_back();
    } else if (data[i] != 0) {  // no word of a command line has one
      words.back().push_back(static_cast<char>(data[i]));
    }
  }
  if (words.back().empty()) words.pop_back();  // the last line ends too
  check(words, nullptr);
  if (words.empty()) return 0;
  const symrace::ProgramInfo* program = kernels::find_program(words.front());
  if (program != nullptr) check({words.begin() + 1, words.end()}, program);
  return 0;
}
