// The documented symptoms, each with its likely cause and fix: the tables of the two documents and
// of the bugs that hardware showed. What a finding is explained by, and `a2a3sim explain` prints.
#ifndef SYMRACE_EMU_SYMPTOMS_H_
#define SYMRACE_EMU_SYMPTOMS_H_

#include <span>
#include <string_view>

namespace emu {

struct Symptom {
  std::string_view key;   // "zeros"
  std::string_view text;  // what one sees, in the documents' words
  std::string_view cause;
  std::string_view fix;
  std::string_view program;  // the seeded bug that shows it; "" when none is a program
  std::string_view source;   // document and section, or the bug's number
};

std::span<const Symptom> symptoms();
// Null when there is none.
const Symptom* find_symptom(std::string_view key);

}  // namespace emu

#endif  // SYMRACE_EMU_SYMPTOMS_H_
