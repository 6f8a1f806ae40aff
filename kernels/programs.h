// The programs of this folder, in the order that `a2a3sim list` shows.
#ifndef SYMRACE_KERNELS_PROGRAMS_H_
#define SYMRACE_KERNELS_PROGRAMS_H_

#include <span>
#include <string_view>

#include "core/program.h"

namespace kernels {

// The tutorial steps, then the seeded bugs.
std::span<const symrace::ProgramInfo* const> programs();
// Null when there is none of that name.
const symrace::ProgramInfo* find_program(std::string_view name);

extern const symrace::ProgramInfo kRemoteLoadStore;

}  // namespace kernels

#endif  // SYMRACE_KERNELS_PROGRAMS_H_
