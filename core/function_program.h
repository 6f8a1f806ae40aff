// A program from two functions: what the host does, and whether the outputs are right. The shortest
// way to run a kernel of one's own, as in a test.
#ifndef SYMRACE_CORE_FUNCTION_PROGRAM_H_
#define SYMRACE_CORE_FUNCTION_PROGRAM_H_

#include <functional>
#include <utility>
#include <vector>

#include "core/program.h"

namespace symrace {

class FunctionProgram final : public Program {
 public:
  // `host` allocates windows and dispatches every rank, and resets the outputs; it is called once a
  // schedule. `is_right` is asked after each schedule that ended; without it, races and deadlocks
  // are all that is looked for.
  explicit FunctionProgram(
      std::function<void(pld::Host&)> host, std::function<bool()> is_right = [] { return true; })
      : host_(std::move(host)), is_right_(std::move(is_right)) {}

  void orchestrate(pld::Host& host) override { host_(host); }
  bool matches() const override { return is_right_(); }
  std::vector<Mismatch> mismatches() const override {
    if (matches()) return {};
    Mismatch wrong;
    wrong.identity = "not what the program expects";
    return {wrong};
  }

 private:
  std::function<void(pld::Host&)> host_;
  std::function<bool()> is_right_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_FUNCTION_PROGRAM_H_
