// The Chrome trace JSON that --trace writes, for Perfetto: a track for each rank and one for its
// fabric, arrows from issue to landing and from a signal to the wait that sees it, races marked.
// Its time is the modelled time, or without one the number of the event (tools/trace_axis.h).
#ifndef SYMRACE_TOOLS_CHROME_TRACE_H_
#define SYMRACE_TOOLS_CHROME_TRACE_H_

#include <string>

#include "tools/findings.h"

namespace tools {

std::string chrome_trace(const Findings& findings);

}  // namespace tools

#endif  // SYMRACE_TOOLS_CHROME_TRACE_H_
