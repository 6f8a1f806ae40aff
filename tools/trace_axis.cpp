#include "tools/trace_axis.h"

#include <algorithm>

namespace tools {
namespace {

using emu::Event;

double in_microseconds(emu::Picoseconds time) { return static_cast<double>(time) / 1e6; }

}  // namespace

TraceAxis::TraceAxis(std::int32_t ranks, const emu::RecordedRun* run)
    : ranks_(ranks), next_track_(2 * ranks + 1) {
  const bool timed = run != nullptr && !run->times.events.empty();
  if (run != nullptr) {
    slices_.resize(run->log.events.size());
    if (timed) {
      time_events(*run);
    } else {
      number_events(*run);
    }
  }
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::string name = "rank " + std::to_string(rank);
    tracks_.push_back({rank, rank_track(rank), name});
    const int lanes = timed ? std::max(spread_transfers(rank, *run), 1) : 1;
    for (int lane = 0; lane < lanes; ++lane) {
      tracks_.push_back({rank, lane == 0 ? rank_track(rank) + 1 : next_track_ - lanes + lane,
                         name + " fabric" + (lane == 0 ? "" : " " + std::to_string(lane + 1))});
    }
  }
}

TraceAxis::Slice TraceAxis::slice_of(const emu::TimeSpan& time, int track) {
  constexpr emu::Picoseconds kTick = 1000;  // Perfetto's, a nanosecond
  const emu::Picoseconds duration = time.end - time.begin;
  return {.track = track,
          .begin = in_microseconds(time.begin),
          .duration = in_microseconds(duration),
          .last = in_microseconds(duration >= kTick ? time.end - kTick : time.begin)};
}

void TraceAxis::number_events(const emu::RecordedRun& run) {
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const Event& event = run.log.events[i];
    const int track = rank_track(event.rank) + (is_by_fabric(event) ? 1 : 0);
    const auto time = static_cast<double>(i);
    slices_[i] = {.track = track, .begin = time, .duration = 1, .last = time};
  }
}

void TraceAxis::time_events(const emu::RecordedRun& run) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> last(static_cast<std::size_t>(ranks_), kNone);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const Event& event = run.log.events[i];
    slices_[i] = slice_of(run.times.events[i], rank_track(event.rank));
    if (event.kind != Event::Kind::kIssue) continue;
    // The pieces of one transfer are posted by one op.
    std::size_t& before = last[static_cast<std::size_t>(event.rank)];
    slices_[i].repeats = before != kNone && run.times.events[before] == run.times.events[i] &&
                         run.log.events[before].where.line() == event.where.line();
    before = i;
  }
}

int TraceAxis::spread_transfers(std::int32_t rank, const emu::RecordedRun& run) {
  std::vector<std::size_t> transfers;
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const Event& event = run.log.events[i];
    if (event.rank == rank && is_by_fabric(event)) transfers.push_back(i);
  }
  const auto& times = run.times.events;
  const auto is_same = [&](std::size_t a, std::size_t b) {
    return times[a] == times[b] && run.log.events[a].where.line() == run.log.events[b].where.line();
  };
  std::ranges::stable_sort(transfers, {}, [&](std::size_t i) { return times[i].begin; });
  std::vector<std::size_t> latest;  // by lane
  for (const std::size_t i : transfers) {
    std::size_t lane = 0;
    for (; lane < latest.size(); ++lane) {
      slices_[i].repeats = is_same(latest[lane], i);  // the bursts of a chunk
      if (slices_[i].repeats || times[latest[lane]].end <= times[i].begin) break;
    }
    if (lane == latest.size()) latest.push_back(i);
    latest[lane] = i;
    slices_[i].track = fabric_track(rank, static_cast<int>(lane));
  }
  const int lanes = static_cast<int>(latest.size());
  next_track_ += std::max(lanes - 1, 0);
  return lanes;
}

int TraceAxis::fabric_track(std::int32_t rank, int lane) {
  return lane == 0 ? rank_track(rank) + 1 : next_track_ + lane - 1;
}

}  // namespace tools
