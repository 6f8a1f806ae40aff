// Modelled time: the operations that a schedule executed, played again in virtual time by a
// discrete-event simulation. What takes how long is the cost model's answer; what a notify waits
// for is the memory model's.
//
// The schedule gives only each rank's operations in program order. When they are the same, so is
// the modelled time, whatever the order in which the schedule ran them: a wait ends when the first
// signals that make it true have arrived in virtual time, which may be other ones than those that
// the schedule delivered first. See docs/modelled-time.md.
#ifndef SYMRACE_EMU_VIRTUAL_TIME_H_
#define SYMRACE_EMU_VIRTUAL_TIME_H_

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "emu/cost_model.h"
#include "emu/model.h"
#include "emu/op_recorder.h"

namespace emu {

struct TimeSpan {
  Picoseconds begin = 0, end = 0;
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

// Of a recorded run, by op of a rank.
struct OpTimes {
  std::vector<TimeSpan> ops;     // the rank's own time
  std::vector<TimeSpan> flight;  // of what it posted, to its landing; else empty
  std::vector<TimeSpan> chunks;  // as RankOps::chunk_bytes: first load to landing
};

// Of a recorded run's events.
struct EventTimes {
  // By index in the log: the time of the op, or of its chunk; of a landing, from issue to arrival.
  std::vector<TimeSpan> events;
  // Moves of rank-private memory, which are no events.
  struct PrivateMoves {
    std::int32_t rank = 0;
    std::uint64_t moves = 0;
    std::uint64_t bytes = 0;
    TimeSpan time;
  };
  std::vector<PrivateMoves> private_moves;
};

class VirtualTime {
 public:
  explicit VirtualTime(CostModel costs) : costs_(std::move(costs)) {}

  // Plays the ops, and returns the time at which each rank has ended: its last op has, and what it
  // sent has landed. With `times`, tells every op's there, a rank each.
  const std::vector<Picoseconds>& play(const std::vector<RankOps>& ranks, const Model& model,
                                       std::vector<OpTimes>* times = nullptr);
  // The same for a recorded run, with the times of its events.
  const std::vector<Picoseconds>& play(const OpRecorder& recorder, const Model& model,
                                       EventTimes& times);

 private:
  static constexpr std::size_t kClasses = 6;  // of ReleaseClass

  struct OwnWrite {
    std::uint64_t begin, end;
    Picoseconds arrival;
  };
  // A rank's clock runs; its store pipe and its copy engine may be busy for longer.
  struct Clock {
    Picoseconds now = 0;
    Picoseconds stores_until = 0;
    Picoseconds engine_until = 0;
    Picoseconds arrived[kClasses] = {};  // the latest of what it sent, by class
    std::vector<OwnWrite> own_writes;    // that may still be on their way
    std::size_t next = 0;                // op
    bool waits = false;                  // for its next op's cell
  };
  struct Signal {
    Picoseconds arrival;
    std::uint64_t number;  // in sending order: among those of one arrival, the first sent is first
    std::int32_t target;
    std::uint64_t cell;
    std::int32_t value;
    pld::NotifyOp op;
  };
  struct Cell {
    std::int32_t value = 0;
    Picoseconds last_arrival = 0;
  };

  void play_until_look(std::size_t rank);
  void play_op(std::size_t rank, const TimedOp& op);
  void play_look(std::size_t rank);
  void play_transfer(std::size_t rank, const TimedOp& op);
  void play_notify(Clock& clock, const TimedOp& op);
  void deliver_next();
  // Lets the waiting rank that is behind all others go on, as it did in the schedule.
  bool give_way();
  void pass(std::size_t rank);
  bool is_true(const TimedOp& op, const Cell& cell) const {
    return pld::compare(op.cmp, cell.value, op.value);
  }
  Picoseconds release_of(const Clock& clock) const;
  // Once own writes to the op's own bytes have landed.
  static Picoseconds own_ready(Clock& clock, const TimedOp& op);
  Cell& cell(std::int32_t rank, std::uint64_t offset) { return cells_[{rank, offset}]; }
  const TimedOp& next_op(std::size_t rank) const { return (*ranks_)[rank].ops[clocks_[rank].next]; }
  bool is_later(const Signal& a, const Signal& b) const {
    return a.arrival != b.arrival ? a.arrival > b.arrival : a.number > b.number;
  }

  const CostModel costs_;
  const std::vector<RankOps>* ranks_ = nullptr;
  Model model_;
  std::vector<OpTimes>* times_ = nullptr;
  std::vector<Clock> clocks_;
  std::vector<Signal> signals_;                               // a heap, the earliest first
  std::vector<std::pair<Picoseconds, std::size_t>> looking_;  // a heap: who looks at a cell when
  absl::flat_hash_map<std::pair<std::int32_t, std::uint64_t>, Cell> cells_;
  std::uint64_t sent_ = 0;
  std::vector<Picoseconds> ends_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_VIRTUAL_TIME_H_
