// The one record of a run, from which come the text timeline and the trace hash.
#ifndef SYMRACE_EMU_EVENT_LOG_H_
#define SYMRACE_EMU_EVENT_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/region.h"
#include "emu/event_list.h"

namespace emu {

// XXH3 of a packed or strided block.
std::uint64_t hash_bytes(const std::byte* bytes, std::int64_t count);
std::uint64_t hash_rows(const std::byte* bytes, std::int64_t stride, const symrace::Extent& extent);

struct EventLog {
  EventList events;
  std::vector<std::string> window_names;  // by Event::window

  // XXH3 of every event's fields but `where`, little-endian.
  std::uint64_t hash() const;
};

// "data[0:1, 0:64]": a window by its name, elements in tensor coordinates.
std::string region_text(const EventLog& log, const Event& event);
std::string region_text(const symrace::WindowRegion& region);

// One line an event: number, rank or fabric, what happened, file:line. Fits 80 columns.
std::string timeline(const EventLog& log);

}  // namespace emu

#endif  // SYMRACE_EMU_EVENT_LOG_H_
