#include "tools/list_command.h"

#include <algorithm>
#include <iomanip>

#include "kernels/programs.h"

namespace tools {
namespace {

void list_bug(std::ostream& out, const symrace::ProgramInfo& program) {
  const symrace::BugInfo& bug = *program.bug;
  out << "  " << program.name << '\n' << "      " << program.summary << "\n      ";
  if (bug.document == "hw") {
    out << bug.reference;
  } else {
    out << "step " << bug.document;
  }
  out << ", from " << bug.ranks << (bug.ranks == 1 ? " rank" : " ranks") << " on: " << bug.symptom
      << '\n';
  if (bug.model != "documented") {
    out << "      under some schedules of --model " << bug.model
        << ", and never under documented or sc\n";
  } else if (bug.needs_late_delivery) {
    out << "      under some schedules, and never under --model sc\n";
  } else if (bug.order_dependent) {
    out << "      under some schedules\n";
  }
}

}  // namespace

void list_programs(std::ostream& out) {
  std::size_t width = 0;
  bool has_bugs = false;
  for (const symrace::ProgramInfo* program : kernels::programs()) {
    has_bugs = has_bugs || program->bug != nullptr;
    if (program->bug == nullptr) width = std::max(width, program->name.size());
  }
  out << "Programs:\n" << std::left;
  for (const symrace::ProgramInfo* program : kernels::programs()) {
    if (program->bug != nullptr) continue;
    out << "  " << std::setw(static_cast<int>(width)) << program->name << "  " << program->summary
        << '\n';
  }
  if (has_bugs) out << "\nSeeded bugs, and the symptom that each must show:\n";
  for (const symrace::ProgramInfo* program : kernels::programs()) {
    if (program->bug != nullptr) list_bug(out, *program);
  }
  out << "\n'a2a3sim PROGRAM --help' tells a program's flags.\n";
}

}  // namespace tools
