// Why ranks wait for ever: what each waits for, and who signalled something else that they may have
// meant.
#ifndef SYMRACE_EMU_STUCK_H_
#define SYMRACE_EMU_STUCK_H_

#include <string_view>
#include <vector>

#include "core/stuck_rank.h"
#include "emu/diagnosis.h"

namespace emu {

// `run` has stuck ranks (deadlock or step bound).
Finding explain_stuck(const RecordedRun& run);
// The same of a run of any engine; `kind` is kDeadlock, kStepBound or kTimeLimit. `signals` are all
// that were sent, in an order that keeps each rank's own.
Finding explain_stuck(Finding::Kind kind, const std::vector<StuckRank>& stuck,
                      const std::vector<symrace::SentSignal>& signals);

// ">=" and so on.
std::string_view symbol(pld::WaitCmp cmp);

}  // namespace emu

#endif  // SYMRACE_EMU_STUCK_H_
