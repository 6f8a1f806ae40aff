// Where the events of a run stand in its Chrome trace: on which track, from when, for how long.
//
// With modelled times, time is theirs; transfers last from issue to arrival, and those of a rank
// that overlap get tracks of their own. Else an event's time is its number, as microseconds.
#ifndef SYMRACE_TOOLS_TRACE_AXIS_H_
#define SYMRACE_TOOLS_TRACE_AXIS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emu/run.h"

namespace tools {

class TraceAxis {
 public:
  struct Slice {
    int track = 0;
    double begin = 0, duration = 0;  // microseconds
    double last = 0;                 // where an arrow to its end may point
    bool repeats = false;            // what an earlier event shows already
  };
  struct Track {
    std::int32_t rank = 0;
    int id = 0;
    std::string name;
  };

  // `run` may be null: tracks only.
  TraceAxis(std::int32_t ranks, const emu::RecordedRun* run);

  const std::vector<Track>& tracks() const { return tracks_; }  // in the order to be shown
  const Slice& slice(std::size_t event) const { return slices_[event]; }
  static int rank_track(std::int32_t rank) { return 2 * rank + 1; }
  // Of modelled times.
  static Slice slice_of(const emu::TimeSpan& time, int track);

 private:
  void number_events(const emu::RecordedRun& run);
  void time_events(const emu::RecordedRun& run);
  // Gives each transfer of the rank the first fabric track that is free, and returns their count.
  int spread_transfers(std::int32_t rank, const emu::RecordedRun& run);
  int fabric_track(std::int32_t rank, int lane);

  std::int32_t ranks_;
  std::vector<Track> tracks_;
  std::vector<Slice> slices_;
  int next_track_;
};

// Whether the fabric did it, not the rank in its own step.
inline bool is_by_fabric(const emu::Event& event) {
  return event.kind == emu::Event::Kind::kLand || event.kind == emu::Event::Kind::kTake;
}

}  // namespace tools

#endif  // SYMRACE_TOOLS_TRACE_AXIS_H_
