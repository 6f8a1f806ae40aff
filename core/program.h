// A program: host orchestration, its input, and the golden that its output is compared with. What
// an engine runs; it never learns which engine that is.
#ifndef SYMRACE_CORE_PROGRAM_H_
#define SYMRACE_CORE_PROGRAM_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/host.h"

namespace symrace {

// How one rank's output differs from its golden.
struct Mismatch {
  std::int32_t rank = 0;
  std::int64_t differing = 0;  // elements
  std::int64_t total = 0;
  std::int64_t index = 0;  // first differing element of the row
  std::string expected;
  std::string actual;
  // What the actual values are: "zeros", "rank 2's input", "rank 0's round 1 data", "the sum of
  // ...", "a mixture: [0:32) ..., [32:64) ...", or "no known data".
  std::string identity;
};

class Program {
 public:
  virtual ~Program() = default;

  // Allocates windows and dispatches every rank. Called once a schedule, on fresh windows; resets
  // the program's outputs, so that nothing of an earlier schedule survives. Must be deterministic.
  virtual void orchestrate(pld::Host& host) = 0;
  // Whether the outputs of the schedule that just ended equal the golden, bit for bit.
  virtual bool matches() const = 0;
  // A row for each rank whose output differs; empty when matches().
  virtual std::vector<Mismatch> mismatches() const = 0;
  // Takes the outputs of the schedule that just ended for the golden of later ones.
  virtual void expect_outputs() {}
};

// A flag of one program, beside --size and --dtype which all have.
struct Flag {
  enum class Kind { kChoice, kInteger, kSwitch };
  std::string_view name;  // "mode" for --mode
  Kind kind = Kind::kChoice;
  std::string_view default_value;              // "" for a switch
  std::vector<std::string_view> choices = {};  // of a kChoice
  std::int64_t smallest = 0;                   // of a kInteger
  std::string_view mode = "";                  // the --mode that it belongs to; "": any
  std::string_view help;
};

// What a program is made from. Every value has been checked against its Flag.
struct Arguments {
  std::int32_t ranks = 2;
  std::int64_t size = 64;  // elements a rank
  pl::DType dtype = pl::DType::FP32;
  std::uint64_t data_seed = 0;
  std::map<std::string, std::string, std::less<>> flags;

  std::string_view choice(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  bool is_set(std::string_view name) const;
};

// What a seeded bug is, for `a2a3sim list` and the tests.
struct BugInfo {
  std::string_view document;              // "05" or "06"; "hw" for a bug seen on hardware
  std::string_view symptom;               // what must be observed, in the documents' words
  bool order_dependent = false;           // shows under some schedules only
  bool needs_late_delivery = false;       // never shows under `sc`
  std::int32_t ranks = 2;                 // fewest that show it
  std::string_view model = "documented";  // the strongest but `sc` under which it shows
  std::string_view reference = "";        // where it was reported: "PTOAS 711, pypto 1561"
};

struct ProgramInfo {
  std::string_view name;     // "05_remote_load_store"
  std::string_view summary;  // one line
  std::int32_t smallest_ranks = 1;
  std::int64_t default_size = 64;
  std::vector<Flag> flags = {};
  // InvalidArgument names the flag that does not fit the others.
  absl::StatusOr<std::unique_ptr<Program>> (*make)(const Arguments&) = nullptr;
  const BugInfo* bug = nullptr;  // null for the tutorial programs
  // How many times --size the longest row of its input or output has; null: once.
  std::int64_t (*sizes_a_row)(const Arguments&) = nullptr;
};

// The largest value where it overflows. Of non-negative factors.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

// The Arguments of `info` with every flag at its default.
Arguments default_arguments(const ProgramInfo& info, std::int32_t ranks);

}  // namespace symrace

#endif  // SYMRACE_CORE_PROGRAM_H_
