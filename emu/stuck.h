// Why ranks wait for ever: what each waits for, and who signalled something else that they may have
// meant.
#ifndef SYMRACE_EMU_STUCK_H_
#define SYMRACE_EMU_STUCK_H_

#include "emu/diagnosis.h"

namespace emu {

// `run` has stuck ranks (deadlock or step bound).
Finding explain_stuck(const RecordedRun& run);

// ">=" and so on.
std::string_view symbol(pld::WaitCmp cmp);

}  // namespace emu

#endif  // SYMRACE_EMU_STUCK_H_
