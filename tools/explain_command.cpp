#include "tools/explain_command.h"

#include <algorithm>
#include <iomanip>

#include "emu/symptoms.h"

namespace tools {

void explain(std::ostream& out, std::string_view symptom) {
  if (const emu::Symptom* row = emu::find_symptom(symptom)) {
    out << "symptom: " << row->text << "\ncause:   " << row->cause << "\nfix:     " << row->fix
        << "\nsource:  " << row->source << '\n';
    if (!row->program.empty()) out << "program: " << row->program << '\n';
    return;
  }
  std::size_t width = 0;
  for (const emu::Symptom& row : emu::symptoms()) width = std::max(width, row.key.size());
  out << std::left;
  for (const emu::Symptom& row : emu::symptoms()) {
    out << "  " << std::setw(static_cast<int>(width)) << row.key << "  " << row.text << '\n';
  }
  out << "\n'a2a3sim explain SYMPTOM' tells its cause and its fix.\n";
}

}  // namespace tools
