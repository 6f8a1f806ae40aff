// The one record of a run, from which come the text timeline and the trace hash.
#ifndef SYMRACE_EMU_EVENT_LOG_H_
#define SYMRACE_EMU_EVENT_LOG_H_

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "core/fabric.h"

namespace emu {

struct Event {
  // The values are part of the trace hash: append, never renumber.
  enum class Kind : std::uint8_t {
    kIssue,   // a rank posted a transfer; `piece` is its first piece
    kLand,    // a piece took effect at its target
    kAct,     // an op took effect in the rank's own step (read, wait, fence, SC write)
    kTake,    // a deferred read took its value
    kFinish,  // a rank's kernel returned
  };
  Kind kind = Kind::kAct;
  symrace::OpKind op = symrace::OpKind::kLoad;
  std::int32_t rank = 0;     // who issued it
  std::int32_t target = 0;   // whose slice
  std::int32_t window = -1;  // index, or none
  pl::DType dtype = pl::DType::INT32;
  std::uint32_t piece = 0;   // as in Decision; 0: none
  std::uint64_t offset = 0;  // in the window, bytes
  std::int64_t rows = 0, row_bytes = 0, stride = 0;
  std::int64_t value = 0;       // of a signal: what was added, set, expected or seen
  std::uint64_t data_hash = 0;  // XXH3 of the bytes moved; 0: none
  // Not part of the hash.
  std::source_location where;
  symrace::OpKind primitive = symrace::OpKind::kLoad;  // `op`, or what a collective did
  bool sets = false;                                    // a signal by NotifyOp::Set

  // A collective takes back what its own cell has counted.
  bool clears() const {
    return symrace::is_collective(op) && primitive == symrace::OpKind::kNotify &&
           kind == Kind::kAct && target == rank;
  }
};

// XXH3 of a packed or strided block.
std::uint64_t hash_bytes(const std::byte* bytes, std::int64_t count);
std::uint64_t hash_rows(const std::byte* bytes, std::int64_t stride, const symrace::Extent& extent);

struct EventLog {
  std::vector<Event> events;
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
