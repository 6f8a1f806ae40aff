// Step 06, put mode, compared with get mode's golden.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"

namespace kernels {
namespace {

template <class T>
class GoldenOtherDirection final : public PutGet<T> {
 public:
  explicit GoldenOtherDirection(const symrace::Arguments& arguments)
      : PutGet<T>(arguments, PutGet<T>::Mode::kPut, {}) {
    if (!arguments.is_set("fixed")) this->expect_ring_shift(+1);
  }
};

// In no order right: the kernel is, its golden is not.
const symrace::BugInfo kGoldenOtherDirectionBug = {.document = "06",
                                                   .symptom = "golden is one step behind",
                                                   .order_dependent = false,
                                                   .needs_late_delivery = false,
                                                   .ranks = 3};

}  // namespace

const symrace::ProgramInfo kBugGoldenOtherDirection = bug_program<GoldenOtherDirection>(
    "bug_06_golden_other_direction", "put mode compared with the golden of get mode",
    kGoldenOtherDirectionBug);

}  // namespace kernels
