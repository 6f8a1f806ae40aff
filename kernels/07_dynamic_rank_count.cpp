// Step 07: step 06 at any number of ranks. Its kernels learn the rank count when they run, so
// nothing changes but who may call them: with one rank there is no ring.
#include "kernels/programs.h"
#include "kernels/put_get.h"

namespace kernels {

const symrace::ProgramInfo kDynamicRankCount = {
    .name = "07_dynamic_rank_count",
    .summary = "step 06 at any number of ranks from two",
    .smallest_ranks = 2,
    .flags = put_get_flags(),
    .make = make_program<PutGet>,
};

}  // namespace kernels
