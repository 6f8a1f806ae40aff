// An Execution owns all state of one schedule: ranks, slices, transfers in flight, the enabled set.
// run() may be called again and again; a new schedule costs what the last one touched.
#ifndef SYMRACE_EMU_EXECUTION_H_
#define SYMRACE_EMU_EXECUTION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/heap.h"
#include "core/host.h"
#include "core/program.h"
#include "core/rank_context.h"
#include "emu/emulated_fabric.h"
#include "emu/enabled_set.h"
#include "emu/footprints.h"
#include "emu/op_recorder.h"
#include "emu/race_detector.h"
#include "emu/run.h"
#include "emu/slice_memory.h"
#include "emu/strategy.h"
#include "emu/transfers.h"
#include "emu/vehicle.h"

namespace emu {

// What a parked rank waits for: its next visible op, with what enables it.
struct Pending {
  enum class Enabled : std::uint8_t {
    kAlways,
    kCell,         // own cell compares true
    kDrained,      // none of the rank's transfers is in flight (fence)
    kArrived,      // a deferred remote_load has filled `tile`
    kPrivate,      // deferred gets into private memory have arrived
    kOwnReadable,  // no deferred get into own `region` is in flight
    kOwnWritable,  // no own write to own `region` is in flight
  };
  Enabled enabled = Enabled::kAlways;
  symrace::Site site = {};
  symrace::Cell cell = {};
  std::int32_t expected = 0;
  pld::WaitCmp cmp = pld::WaitCmp::Eq;
  symrace::TileBlock* tile = nullptr;
  const symrace::WindowRegion* region = nullptr;
};

struct RankState {
  enum class Phase : std::uint8_t { kIdle, kRunning, kFinished };

  explicit RankState(Execution& execution) : fabric(execution, *this) {}

  symrace::RankContext context;
  EmulatedFabric fabric;
  Phase phase = Phase::kIdle;
  bool parked = false;
  Pending pending;
  bool has_failed_test = false;
  Pending last_failed_test;
};

class Execution final : public Passenger {
 public:
  // `program` and `heap` outlive the execution.
  Execution(symrace::Program& program, symrace::SymmetricHeap& heap, const Options& options);
  ~Execution() override;

  // One schedule. With `record`, its log, trace hash and decisions are kept there; with
  // `footprints`, what its transitions touched.
  RunResult run(Strategy& strategy, std::uint64_t seed, RecordedRun* record = nullptr,
                Footprints* footprints = nullptr);

  // Of the schedules from now on.
  void set_model(const Model& model) { options_.model = model; }

  // --- For EmulatedFabric, on the running rank ---
  const Options& options() const { return options_; }
  const Model& model() const { return options_.model; }
  SliceMemory& memory() { return memory_; }
  Transfers& transfers() { return transfers_; }
  bool recording() const { return record_ != nullptr; }
  void log(const Event& event) {
    if (op_recorder_ != nullptr) op_recorder_->logged(event);
    record_->log.events.push_back(event);
  }

  // Whether anyone wants to know of accesses: race detection, exploration.
  bool observing() const { return detector_ != nullptr || footprints_ != nullptr; }
  // Index of the event that is logged next; 0 when none are kept.
  std::uint32_t next_event() const {
    return recording() ? static_cast<std::uint32_t>(record_->log.events.size()) : 0;
  }
  // An access in the step that runs, to be told before its event is logged.
  void access(const Access& access);
  RaceDetector* detector() { return detector_.get(); }
  Footprints* footprints() { return footprints_; }
  // Null: no time is modelled.
  OpRecorder* op_recorder() { return op_recorder_.get(); }

  // Issues the piece that transfers().prepare() gave.
  void issue(const Piece& piece);
  void signal(std::int32_t target, std::uint64_t offset, std::int32_t value, pld::NotifyOp op);
  // Parks the rank before its next visible op; returns when a strategy has chosen it.
  void step(RankState& rank);
  // To be called after bytes of `rank`'s slice changed: whoever waits on a cell there looks again.
  void wrote(std::int32_t rank, const symrace::WindowRegion& region);
  // Own view of own slice: landed bytes under the rank's own writes in flight. `to` is packed.
  void read_own(std::int32_t rank, const symrace::WindowRegion& region, std::byte* to);
  std::int32_t own_cell(std::int32_t rank, const symrace::Cell& cell);

  void ride(std::int32_t rank) override;

 private:
  RankState& state(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  std::int32_t main_seat() const { return heap_.ranks(); }

  bool begin(std::uint64_t seed);
  void end();
  void model_time();
  // Decides until a rank is to run or the schedule is over; returns the seat to switch to.
  std::int32_t advance();
  std::int32_t seat_after_start();
  bool is_enabled(RankState& rank);
  void refresh(RankState& rank);
  void land(std::uint32_t slot);
  // Tells the accesses by which a piece takes effect.
  void observe_landing(const Piece& piece, std::uint32_t slot);
  // Looks at Options::interrupt, and ends the schedule when it is set.
  bool interrupted();
  void fail(std::string message);
  void describe_stuck();
  void tell_stuck_waits();
  void cancel_ranks();

  symrace::Program& program_;
  symrace::SymmetricHeap& heap_;
  Options options_;
  std::uint64_t max_steps_;
  pld::Host host_;
  symrace::TilePool tiles_;
  SliceMemory memory_;
  EnabledSet enabled_;
  Transfers transfers_;
  std::deque<RankState> ranks_;
  std::unique_ptr<Vehicle> vehicle_;
  std::unique_ptr<RaceDetector> detector_;  // null: races are not looked for
  std::unique_ptr<OpRecorder> op_recorder_;

  // Of the schedule that runs.
  Strategy* strategy_ = nullptr;
  RecordedRun* record_ = nullptr;
  Footprints* footprints_ = nullptr;
  RunResult result_;
  std::int32_t starting_ = 0;  // the rank being started; ranks: all have started
  std::int32_t finished_ = 0;
  bool over_ = false;
  bool cancelling_ = false;
  bool shutting_down_ = false;

  std::unique_ptr<VirtualTime> virtual_time_;  // null: no time is modelled
};

}  // namespace emu

#endif  // SYMRACE_EMU_EXECUTION_H_
