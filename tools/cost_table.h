// Cost tables of modelled time as files, and a table's parameters one by one, as text.
#ifndef SYMRACE_TOOLS_COST_TABLE_H_
#define SYMRACE_TOOLS_COST_TABLE_H_

#include <array>
#include <string>
#include <string_view>

#include "emu/cost_model.h"

namespace tools {

// One number of a cost table, by its place in the JSON file. docs/modelled-time.md has their list.
struct CostParameter {
  std::string_view group;  // empty: at the top
  std::string_view key;
  std::string_view unit;  // for people
  emu::Picoseconds largest;
  emu::Picoseconds& (*of)(emu::CostModel& model);
  std::string_view source;  // of the preset's value

  std::string name() const {
    return group.empty() ? std::string(key) : std::string(group) + "." + std::string(key);
  }
};
const std::array<CostParameter, 7>& cost_parameters();

// Reads a table of exactly these parameters, with "name" and "path". Throws UsageError, which names
// the flag, the file, the key, and what was expected.
emu::CostModel read_cost_table(std::string_view flag, const std::string& path);

// "12.345 us", to the nanosecond.
std::string microseconds(emu::Picoseconds time);

}  // namespace tools

#endif  // SYMRACE_TOOLS_COST_TABLE_H_
