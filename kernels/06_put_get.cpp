// Step 06: the ring shift with the tensor-level moves, pushed by put or pulled by get.
#include "kernels/programs.h"
#include "kernels/put_get.h"

namespace kernels {

const symrace::ProgramInfo kPutGet = {
    .name = "06_put_get",
    .summary = "ring shift by put or get, whole, chunked or pipelined",
    .flags = put_get_flags(),
    .make = make_program<PutGet>,
};

}  // namespace kernels
