// Spreads the seeds of an exploration over threads. What comes out does not depend on how many.
#ifndef SYMRACE_EMU_PARALLEL_H_
#define SYMRACE_EMU_PARALLEL_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "emu/explore.h"

namespace emu {

using ProgramFactory = std::function<absl::StatusOr<std::unique_ptr<symrace::Program>>()>;

// As Explorer::explore with the strategy of that name. Each of `jobs` threads has a program, a heap
// and an execution of its own; blocks of seeds are summed up in their order. Races in the result
// have counts and places; their regions are no longer to be looked into.
absl::StatusOr<Exploration> explore_in_parallel(
    const ProgramFactory& make_program, std::int32_t ranks, const Options& options,
    const std::string& strategy, const Seeds& seeds, std::uint32_t jobs,
    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace emu

#endif  // SYMRACE_EMU_PARALLEL_H_
