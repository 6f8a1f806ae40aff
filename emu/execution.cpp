#include "emu/execution.h"

#include <absl/strings/str_cat.h>

#include <exception>

#include "core/error.h"
#include "emu/own_view.h"

namespace emu {
namespace {

// Unwinds a rank whose schedule is over. Deliberately no std::exception: kernels should let it
// pass.
struct Cancelled {};

constexpr std::uint64_t kMaxStepsPerRank = 1'000'000;

}  // namespace

Execution::Execution(symrace::Program& program, symrace::SymmetricHeap& heap,
                     const Options& options)
    : program_(program),
      heap_(heap),
      options_(options),
      max_steps_(options.max_steps != 0
                     ? options.max_steps
                     : kMaxStepsPerRank * static_cast<std::uint64_t>(heap.ranks())),
      host_(heap),
      memory_(heap),
      transfers_(enabled_) {
  for (std::int32_t rank = 0; rank < heap.ranks(); ++rank) {
    RankState& created = ranks_.emplace_back(*this);
    created.context.rank = rank;
    created.context.world_size = heap.ranks();
    created.context.device =
        options.devices.empty() ? rank : options.devices[static_cast<std::size_t>(rank)];
    created.context.fabric = &created.fabric;
    created.context.tiles = &tiles_;
  }
  if (options.costs) {
    op_recorder_ = std::make_unique<OpRecorder>();
    virtual_time_ = std::make_unique<VirtualTime>(*options.costs);
  }
  if (options.detect_races) detector_ = std::make_unique<RaceDetector>();
  vehicle_ = options.vehicle == VehicleKind::kFiber
                 ? make_fiber_vehicle(heap.ranks(), options.stack_bytes, *this)
                 : make_thread_vehicle(heap.ranks(), *this);
}

Execution::~Execution() {
  shutting_down_ = true;
  for (std::int32_t rank = 0; rank < heap_.ranks(); ++rank) vehicle_->switch_to(main_seat(), rank);
  vehicle_.reset();
  transfers_.begin(heap_.ranks(), options_.model);  // gives tiles back before their pool goes
  if (!heap_.is_named()) memory_.reset();
}

RunResult Execution::run(Strategy& strategy, std::uint64_t seed, RecordedRun* record,
                         Footprints* footprints) {
  strategy_ = &strategy;
  record_ = record;
  footprints_ = footprints;
  if (begin(seed)) {
    vehicle_->switch_to(main_seat(), 0);
    symrace::internal::current_rank_pointer = nullptr;
    end();
    if (op_recorder_ != nullptr && result_.outcome != Outcome::kAbandoned) model_time();
  }
  if (record_ != nullptr) {
    for (std::size_t i = 0; i < host_.window_count(); ++i) {
      record_->log.window_names.emplace_back(host_.windows()[i].name);
    }
    record_->trace_hash = record_->log.hash();
    record_->result = result_;
    record_ = nullptr;
  }
  return std::move(result_);
}

bool Execution::begin(std::uint64_t seed) {
  result_ = {};
  result_.seed = seed;
  starting_ = 0;
  finished_ = 0;
  over_ = false;
  if (footprints_ != nullptr) footprints_->begin();  // has the start also of a run that never does
  transfers_.begin(heap_.ranks(), options_.model);
  memory_.reset();
  host_.begin_schedule();
  try {
    program_.orchestrate(host_);
  } catch (const std::exception& error) {
    fail(error.what());
    return false;
  }
  if (absl::Status status = host_.check_dispatches(); !status.ok()) {
    fail(std::string(status.message()));
    return false;
  }
  memory_.begin();
  heap_.list_windows(host_.windows(), host_.window_count());
  if (detector_ != nullptr) {
    detector_->begin(heap_.ranks(), options_.model, heap_.used_bytes());
  }
  transfers_.hold_signals(detector_ == nullptr || !detector_->wants_follows());
  if (op_recorder_ != nullptr) op_recorder_->begin(heap_.ranks());
  enabled_.begin(heap_.ranks());
  for (RankState& rank : ranks_) {
    rank.phase = RankState::Phase::kIdle;
    rank.parked = false;
    rank.context.in_core_group = false;
    rank.context.deferred_gets = 0;
    rank.context.ops = 0;
    rank.context.private_moves = rank.context.private_bytes = 0;
    rank.has_failed_test = false;
  }
  strategy_->begin(heap_.ranks(), seed);
  return true;
}

void Execution::end() {
  if (detector_ != nullptr && !detector_->races().empty()) result_.races = detector_->races();
  if (finished_ != heap_.ranks()) {
    if (result_.outcome == Outcome::kDeadlock || result_.outcome == Outcome::kStepBound) {
      describe_stuck();
    }
    if (footprints_ != nullptr) tell_stuck_waits();
    cancel_ranks();
    return;
  }
  if (result_.outcome != Outcome::kOk || program_.matches()) return;
  result_.outcome = Outcome::kMismatch;
  if (record_ != nullptr) result_.mismatches = program_.mismatches();
}

void Execution::model_time() {
  if (record_ == nullptr) {
    result_.rank_ps = virtual_time_->play(op_recorder_->ranks(), options_.model);
  } else {
    result_.rank_ps = virtual_time_->play(*op_recorder_, options_.model, record_->times);
  }
}

void Execution::ride(std::int32_t rank) {
  RankState& self = state(rank);
  while (!shutting_down_) {
    symrace::internal::current_rank_pointer = &self.context;
    self.phase = RankState::Phase::kRunning;
    try {
      host_.task(rank).run();
    } catch (const Cancelled&) {
    } catch (const symrace::KernelError& error) {
      if (!cancelling_) fail(error.what());
    } catch (const std::exception& error) {
      if (!cancelling_)
        fail(absl::StrCat(between_ops(self.context, "threw").data(), ": ", error.what()));
    } catch (...) {
      if (!cancelling_) fail(between_ops(self.context, "threw").data());
    }
    symrace::internal::current_rank_pointer = nullptr;
    self.phase = RankState::Phase::kFinished;
    std::int32_t next = main_seat();
    if (!cancelling_) {
      ++finished_;
      if (op_recorder_ != nullptr) op_recorder_->finish(self.context);
      if (recording()) {
        log(make_event(Event::Kind::kFinish, symrace::OpKind::kUse, rank, rank, {}, {}));
      }
      next = seat_after_start();
    }
    vehicle_->switch_to(rank, next);
  }
}

// Ranks start one after the other, each up to its first visible op; then decisions begin.
std::int32_t Execution::seat_after_start() {
  if (starting_ < heap_.ranks()) {
    if (over_) return main_seat();
    if (++starting_ < heap_.ranks()) return starting_;
  }
  return advance();
}

void Execution::step(RankState& rank) {
  if (cancelling_) throw Cancelled{};
  symrace::internal::current_rank_pointer = nullptr;  // what follows is not the kernel's
  rank.parked = true;
  if (is_enabled(rank)) enabled_.add_rank(rank.context.rank);
  const std::int32_t next = seat_after_start();
  if (next != rank.context.rank) {
    vehicle_->switch_to(rank.context.rank, next);
    symrace::internal::current_rank_pointer = &rank.context;
    if (cancelling_) throw Cancelled{};
  }
  symrace::internal::current_rank_pointer = &rank.context;
  rank.parked = false;
}

std::int32_t Execution::advance() {
  while (!over_) {
    if (enabled_.empty()) {
      if (finished_ != heap_.ranks()) result_.outcome = Outcome::kDeadlock;
      break;
    }
    if (result_.decisions == max_steps_) {
      result_.outcome = Outcome::kStepBound;
      break;
    }
    ++result_.decisions;
    if (interrupted()) break;
    const std::size_t choice = strategy_->choose(enabled_.list());
    if (choice == Strategy::kGiveUp) {
      fail(absl::StrCat("the schedule does not fit this program: decision ", result_.decisions,
                        " is not enabled; the program has changed since the token was made"));
      break;
    }
    if (choice == Strategy::kAbandon) {
      --result_.decisions;
      result_.outcome = Outcome::kAbandoned;
      break;
    }
    const Transition transition = enabled_.list()[choice];
    if (record_ != nullptr) record_->decisions.push_back(transition.decision);
    if (footprints_ != nullptr) footprints_->step(transition.decision);
    if (!transition.decision.is_delivery()) {
      enabled_.remove_rank(transition.decision.rank);
      return transition.decision.rank;
    }
    land(transition.slot);
  }
  over_ = true;
  return main_seat();
}

bool Execution::is_enabled(RankState& rank) {
  const Pending& pending = rank.pending;
  const std::int32_t me = rank.context.rank;
  switch (pending.enabled) {
    case Pending::Enabled::kAlways:
      return true;
    case Pending::Enabled::kCell:
      return pld::compare(pending.cmp, own_cell(me, pending.cell), pending.expected);
    case Pending::Enabled::kDrained:
      return transfers_.in_flight(me) == 0;
    case Pending::Enabled::kArrived:
      return pending.tile->state != symrace::TileBlock::State::kInFlight;
    case Pending::Enabled::kPrivate:
      return rank.context.deferred_gets == 0;
    case Pending::Enabled::kOwnReadable:
      return !transfers_.awaits_get(me, *pending.region);
    case Pending::Enabled::kOwnWritable:
      return !transfers_.awaits_own_write(me, *pending.region);
  }
  return false;
}

void Execution::refresh(RankState& rank) {
  if (!rank.parked) return;
  const bool enabled = is_enabled(rank);
  if (enabled == enabled_.has_rank(rank.context.rank)) return;
  if (enabled) {
    enabled_.add_rank(rank.context.rank);
  } else {
    enabled_.remove_rank(rank.context.rank);
  }
}

void Execution::wrote(std::int32_t rank, const symrace::WindowRegion& region) {
  RankState& owner = state(rank);
  if (!owner.parked || owner.pending.enabled != Pending::Enabled::kCell) return;
  const std::uint64_t cell = owner.pending.cell.offset;
  if (cell + sizeof(std::int32_t) <= region.offset || cell >= region.end()) return;
  refresh(owner);
}

void Execution::signal(std::int32_t target, std::uint64_t offset, std::int32_t value,
                       pld::NotifyOp op) {
  if (op == pld::NotifyOp::Set) {
    memory_.set_cell(target, offset, value);
  } else {
    memory_.add_to_cell(target, offset, value);
  }
}

void Execution::issue(const Piece& piece) {
  const std::int32_t rank = piece.rank;
  const std::uint32_t slot = transfers_.issue(
      [this](std::uint32_t earlier, std::uint32_t later) {
        if (detector_ != nullptr && detector_->wants_follows()) detector_->follows(earlier, later);
      },
      [this, rank](std::uint32_t unheld) {
        if (detector_ != nullptr) detector_->unheld(rank, unheld);
      });
  if (piece.effect == Piece::Effect::kReadTile) piece.tile->ticket = piece.number;
  if (detector_ != nullptr) {
    slot == Piece::kNone ? detector_->held(rank) : detector_->issued(piece, slot);
  }
  if (footprints_ != nullptr) {
    footprints_->issued(piece, options_.model.releases_class(piece.release_class));
  }
  if (interrupted()) throw Cancelled{};  // an op of many pieces may last
  ++state(rank).context.ops;
  if (!recording()) return;
  Event event =
      make_event(Event::Kind::kIssue, piece.op, rank, piece.target, piece.region, piece.where);
  event.primitive = piece.primitive();
  event.piece = piece.number;
  event.value = piece.value;
  event.sets = piece.is_set();
  log(event);
}

void Execution::land(std::uint32_t slot) {
  Piece& piece = transfers_.piece(slot);
  const std::int32_t rank = piece.rank;
  const std::byte* moved = piece.own_window == nullptr ? piece.memory : nullptr;
  std::int64_t moved_stride = piece.memory_stride;
  switch (piece.effect) {
    case Piece::Effect::kWrite:
      if (piece.reads_own_slice) {
        moved = memory_.bytes(rank, piece.own());
        moved_stride = piece.memory_stride;
      }
      memory_.write(piece.target, piece.region, moved, moved_stride, piece.atomic);
      break;
    case Piece::Effect::kSignal:
      signal(piece.target, piece.region.offset, piece.value, piece.notify_op);
      moved = nullptr;
      break;
    case Piece::Effect::kReadTile:
    case Piece::Effect::kReadPrivate:
      memory_.read(piece.target, piece.region, piece.memory, piece.memory_stride);
      break;
    case Piece::Effect::kReadWindow:
      moved = memory_.bytes(piece.target, piece.region);
      moved_stride = piece.region.extent.stride;
      memory_.write(rank, piece.own(), moved, moved_stride, pld::AtomicType::None_);
      break;
  }
  if (observing()) observe_landing(piece, slot);
  if (piece.effect == Piece::Effect::kReadTile) {
    piece.tile->state = symrace::TileBlock::State::kArrived;
  } else if (piece.effect == Piece::Effect::kReadPrivate) {
    --state(rank).context.deferred_gets;
  }
  if (recording()) {
    Event event = make_event(piece.writes_target() ? Event::Kind::kLand : Event::Kind::kTake,
                             piece.op, rank, piece.target, piece.region, piece.where);
    event.primitive = piece.primitive();
    event.piece = piece.number;
    event.value = piece.value;
    event.sets = piece.is_set();
    if (moved != nullptr) event.data_hash = hash_rows(moved, moved_stride, piece.region.extent);
    log(event);
  }
  const std::uint32_t unheld = transfers_.retire(slot);
  if (unheld != Piece::kNone && detector_ != nullptr) detector_->unheld(rank, unheld);
  RankState& issuer = state(rank);
  if (issuer.parked && issuer.pending.enabled != Pending::Enabled::kAlways) refresh(issuer);
  const Piece& landed = transfers_.piece(slot);
  if (landed.writes_target() && landed.target != rank) wrote(landed.target, landed.region);
}

void Execution::access(const Access& access) {
  if (detector_ != nullptr) detector_->access(access);
  if (footprints_ != nullptr) footprints_->access(access);
}

void Execution::observe_landing(const Piece& piece, std::uint32_t slot) {
  Access access;
  access.op = piece.op;
  access.rank = piece.rank;
  access.target = piece.target;
  access.piece = piece.number;
  access.region = piece.region;
  access.where = piece.where;
  access.value = piece.value;
  access.event = next_event();
  const auto tell = [&](AccessKind kind) {
    access.kind = kind;
    if (detector_ != nullptr) detector_->access(access, slot);
    if (footprints_ != nullptr) footprints_->access(access);
  };
  switch (piece.effect) {
    case Piece::Effect::kSignal:
      tell(piece.notify_op == pld::NotifyOp::Set ? AccessKind::kSignalSet : AccessKind::kSignalAdd);
      break;
    case Piece::Effect::kWrite:
      access.in_own_view = piece.target == piece.rank && !piece.reads_own_slice;
      tell(piece.atomic == pld::AtomicType::Add ? AccessKind::kAdd : AccessKind::kWrite);
      if (piece.reads_own_slice) {
        access.in_own_view = false;
        access.reads_source_late = true;
        access.target = piece.rank;
        access.region = piece.own();
        tell(AccessKind::kRead);
      }
      break;
    case Piece::Effect::kReadTile:
    case Piece::Effect::kReadPrivate:
      tell(AccessKind::kRead);
      break;
    case Piece::Effect::kReadWindow:
      tell(AccessKind::kRead);
      access.target = piece.rank;
      access.region = piece.own();
      tell(AccessKind::kWrite);
      break;
  }
  if (detector_ != nullptr) detector_->landed(piece, slot);
}

void Execution::read_own(std::int32_t rank, const symrace::WindowRegion& region, std::byte* to) {
  memory_.read(rank, region, to, region.extent.row_bytes);
  if (transfers_.has_own_writes(rank)) overlay_own_writes(transfers_, rank, region, to);
}

std::int32_t Execution::own_cell(std::int32_t rank, const symrace::Cell& cell) {
  std::int32_t value = memory_.cell(rank, cell.offset);
  if (transfers_.has_own_writes(rank)) {
    overlay_own_writes(transfers_, rank, cell_region(cell), reinterpret_cast<std::byte*>(&value));
  }
  return value;
}

bool Execution::interrupted() {
  if (options_.interrupt == nullptr || !options_.interrupt->load(std::memory_order_relaxed)) {
    return false;
  }
  result_.outcome = Outcome::kInterrupted;
  over_ = true;
  return true;
}

void Execution::fail(std::string message) {
  result_.outcome = Outcome::kError;
  result_.error = std::move(message);
  over_ = true;
}

void Execution::describe_stuck() {
  for (RankState& rank : ranks_) {
    if (rank.phase == RankState::Phase::kFinished) continue;
    const bool polls = rank.pending.enabled != Pending::Enabled::kCell && rank.has_failed_test;
    const Pending& pending = polls ? rank.last_failed_test : rank.pending;
    StuckRank stuck;
    stuck.rank = rank.context.rank;
    stuck.op = pending.site.op;
    stuck.where = pending.site.where;
    stuck.on_cell = polls || pending.enabled == Pending::Enabled::kCell;
    if (stuck.on_cell) {
      stuck.window = pending.cell.window->name;
      stuck.cell = static_cast<std::int64_t>((pending.cell.offset - pending.cell.window->offset) /
                                             sizeof(std::int32_t));
      stuck.expected = pending.expected;
      stuck.actual = own_cell(rank.context.rank, pending.cell);
      stuck.cmp = pending.cmp;
    }
    result_.stuck.push_back(std::move(stuck));
  }
}

void Execution::tell_stuck_waits() {
  for (RankState& rank : ranks_) {
    if (!rank.parked || rank.pending.enabled != Pending::Enabled::kCell || is_enabled(rank))
      continue;
    Access wait;
    wait.kind = AccessKind::kWait;
    wait.op = rank.pending.site.op;
    wait.rank = wait.target = rank.context.rank;
    wait.region = cell_region(rank.pending.cell);
    wait.where = rank.pending.site.where;
    wait.value = rank.pending.expected;
    wait.cmp = rank.pending.cmp;
    footprints_->stuck(wait);
  }
}

void Execution::cancel_ranks() {
  cancelling_ = true;
  for (RankState& rank : ranks_) {
    if (rank.phase == RankState::Phase::kRunning) {
      vehicle_->switch_to(main_seat(), rank.context.rank);
    }
  }
  cancelling_ = false;
  symrace::internal::current_rank_pointer = nullptr;
}

}  // namespace emu
