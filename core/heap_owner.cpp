#include "core/heap_owner.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace symrace {
namespace {

struct Process {
  char state = 'X';  // as in ps
  std::uint64_t start = 0;
};

// Of proc(5)'s stat: the command's name in parentheses is the second field, and may hold anything.
Process look_at(std::int64_t process) {
  constexpr int kBetween = 18;  // fields, between the state (3) and the start (22)
  std::ifstream file(absl::StrCat("/proc/", process, "/stat"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  Process found;
  std::string skipped;
  fields >> found.state;
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  fields >> found.start;
  return fields ? found : Process{};
}

}  // namespace

HeapOwner this_process() {
  const std::int64_t process = getpid();
  return {process, look_at(process).start};
}

bool is_alive(const HeapOwner& owner) {
  const Process found = look_at(owner.process);
  const bool has_ended = found.state == 'Z' || found.state == 'X';
  return !has_ended && found.start == owner.start;
}

}  // namespace symrace
