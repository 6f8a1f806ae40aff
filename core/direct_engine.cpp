#include "core/direct_engine.h"

#include <absl/strings/str_cat.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <system_error>
#include <utility>

#include "core/direct_fabric.h"
#include "core/direct_waits.h"
#include "core/error.h"
#include "core/kernel_faults.h"
#include "core/posix_heap.h"
#include "core/shared_array.h"

namespace symrace {
namespace {

// That this process may run on; not those of the machine.
std::int32_t cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
}

// Keeps the calling thread on the `number`-th core that this process may use, if there is one.
void stay_on_core(std::int32_t number) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || number-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);  // of this thread; if refused, it may move
    return;
  }
}

std::int64_t index_in_window(const Window& window, std::uint64_t offset) {
  return static_cast<std::int64_t>((offset - window.offset) / sizeof(std::int32_t));
}

DirectResult::Outcome outcome_of(RunWatch::End end) {
  switch (end) {
    case RunWatch::End::kFinished:
      break;
    case RunWatch::End::kDeadlock:
      return DirectResult::Outcome::kDeadlock;
    case RunWatch::End::kTimeLimit:
      return DirectResult::Outcome::kTimeLimit;
    case RunWatch::End::kError:
      return DirectResult::Outcome::kError;
    case RunWatch::End::kInterrupted:
      return DirectResult::Outcome::kInterrupted;
  }
  return DirectResult::Outcome::kOk;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DirectEngine>> DirectEngine::create(Program& program,
                                                                   std::int32_t ranks,
                                                                   DirectOptions options) {
  const RanksAs ranks_as = options.ranks_as;
  if (ranks_as == RanksAs::kProcesses) {
    if (absl::Status support = RankProcesses::check_support(); !support.ok()) return support;
  }
  absl::StatusOr<std::unique_ptr<PosixHeap>> created =
      PosixHeap::create(ranks, options.heap, "direct");
  if (!created.ok()) return created.status();
  PosixHeap& heap = **created;
  try {
    const auto shared = std::make_shared<SharedArray<DirectWaits>>(1, heap, ranks_as);
    DirectWaits& waits = (*shared)[0];
    std::unique_ptr<DirectEngine> engine(new DirectEngine(program, *std::move(created),
                                                          std::shared_ptr<RunWatch>(shared, &waits),
                                                          std::move(options)));
    if (ranks_as == RanksAs::kProcesses) {
      engine->processes_ = std::make_unique<DirectProcesses>(ranks, waits);
    }
    const bool oversubscribed = ranks > cores();
    absl::Status started = engine->start([&](std::int32_t rank) {
      return std::make_unique<DirectFabric>(rank, heap, waits, oversubscribed);
    });
    if (!started.ok()) return started;
    return engine;
  } catch (const boost::interprocess::interprocess_exception& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot share memory among ", ranks, " ranks: ", error.what()));
  }
}

DirectEngine::DirectEngine(Program& program, std::unique_ptr<SymmetricHeap> heap,
                           std::shared_ptr<RunWatch> watch, DirectOptions options)
    : program_(program),
      heap_(std::move(heap)),
      watch_(std::move(watch)),
      options_(std::move(options)),
      host_(*heap_) {}

absl::Status DirectEngine::start(
    const std::function<std::unique_ptr<RankFabric>(std::int32_t rank)>& make_fabric) {
  for (std::int32_t rank = 0; rank < heap_->ranks(); ++rank) {
    Rank& created = ranks_.emplace_back();
    created.fabric = make_fabric(rank);
    created.context.rank = rank;
    created.context.world_size = heap_->ranks();
    created.context.device =
        options_.devices.empty() ? rank : options_.devices[static_cast<std::size_t>(rank)];
    created.context.fabric = created.fabric.get();
    created.context.tiles = &created.tiles;
  }
  if (processes_) return absl::OkStatus();
  try {
    for (Rank& rank : ranks_) {
      threads_.emplace_back([this, &rank] { serve(rank); });
    }
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot start a thread for each of ", ranks_.size(), " ranks, only for ", threads_.size(),
        " of them: ", error.code().message(), "; use fewer ranks, or raise the limit of threads"));
  }
  return absl::OkStatus();
}

DirectEngine::~DirectEngine() {
  for (Rank& rank : ranks_) rank.give(Rank::Order::kLeave);
  for (std::thread& thread : threads_) thread.join();
}

void DirectEngine::Rank::give(Order what) {
  {
    const std::lock_guard lock(mutex);
    order = what;
  }
  changed.notify_one();
}

void DirectEngine::on_rank(std::int32_t rank, const std::function<void()>& task) {
  Rank& served = ranks_[static_cast<std::size_t>(rank)];
  served.task = &task;
  served.give(Rank::Order::kTask);
  std::unique_lock lock(served.mutex);
  served.changed.wait(lock, [&] { return served.task == nullptr; });
}

void DirectEngine::serve(Rank& rank) {
  const FaultStack fault_stack;
  if (options_.pins_ranks) stay_on_core(rank.context.rank);
  while (true) {
    Rank::Order order = Rank::Order::kNone;
    {
      std::unique_lock lock(rank.mutex);
      rank.changed.wait(lock, [&] { return rank.order != Rank::Order::kNone; });
      order = std::exchange(rank.order, Rank::Order::kNone);
    }
    switch (order) {
      case Rank::Order::kNone:
        break;
      case Rank::Order::kLeave:
        return;
      case Rank::Order::kRun:
        rank.is_running = true;
        run_kernel(rank, rank.context);
        rank.is_running = false;
        watch_->finish(rank.context.rank, !rank.error.empty());
        break;
      case Rank::Order::kTask:
        (*rank.task)();
        {
          const std::lock_guard lock(rank.mutex);
          rank.task = nullptr;
        }
        rank.changed.notify_one();
        break;
    }
  }
}

void DirectEngine::run_kernel(Rank& rank, RankContext& context) {
  context.ops = 0;
  internal::current_rank_pointer = &context;
  try {
    host_.task(context.rank).run();
    rank.fabric->end();
  } catch (const DirectCancelled&) {  // what it was in is known to watch_
  } catch (const KernelError& error) {
    rank.error = error.what();
  } catch (const std::exception& error) {
    // In a run that is over, the kernel may only have turned the end into an exception of its own.
    if (!watch_->is_over()) {
      rank.error = absl::StrCat(between_ops(context, "threw").data(), ": ", error.what());
    }
  } catch (...) {
    if (!watch_->is_over()) {
      rank.error = between_ops(context, "threw").data();
    }
  }
  internal::current_rank_pointer = nullptr;
}

void DirectEngine::run_in_process(Rank& rank, RankRecord& record) {
  record.context = rank.context;
  if (options_.pins_ranks) stay_on_core(rank.context.rank);
  run_kernel(rank, record.context);
  record.leave(rank.error, rank.fabric->signals());
}

absl::Status DirectEngine::clear_windows(std::uint64_t written_bytes) {
  for (std::int32_t rank = 0; written_bytes != 0 && rank < heap_->ranks(); ++rank) {
    std::memset(heap_->address(rank, 0), 0, written_bytes);
  }
  return absl::OkStatus();
}

std::string DirectEngine::prepare() {
  host_.begin_schedule();
  try {
    program_.orchestrate(host_);
  } catch (const std::exception& error) {
    return error.what();
  }
  if (absl::Status status = host_.check_dispatches(); !status.ok()) {
    return std::string(status.message());
  }
  for (std::int32_t rank = 0; processes_ && rank < heap_->ranks(); ++rank) {
    if (host_.task(rank).writes_outputs_only()) continue;
    return absl::StrCat("host: the kernel of device ", rank,
                        " captures variables or gets a pointer to one, and what it writes there "
                        "stays in its process; pass outputs as pl::Out arguments of a kernel "
                        "without captures, or run the ranks as threads");
  }
  if (absl::Status status = clear_windows(std::exchange(written_bytes_, 0)); !status.ok()) {
    return std::string(status.message());
  }
  written_bytes_ = heap_->used_bytes();
  heap_->list_windows(host_.windows(), host_.window_count());
  for (Rank& rank : ranks_) {
    rank.context.in_core_group = false;
    rank.context.deferred_gets = 0;
    rank.fabric->begin();
    rank.error.clear();
  }
  watch_->begin();
  return "";
}

RunWatch::End DirectEngine::run_threads(RunWatch::Clock::time_point deadline) {
  for (Rank& rank : ranks_) rank.give(Rank::Order::kRun);
  std::function<void()> overdue;
  if (options_.cannot_end) {
    overdue = [this] {
      const auto goes_on = std::find_if(ranks_.begin(), ranks_.end(),
                                        [](const Rank& rank) { return rank.is_running.load(); });
      if (goes_on == ranks_.end()) return;
      options_.cannot_end(endless(goes_on->context));
    };
  }
  return watch_->await_all(deadline, options_.interrupt, options_.patience, overdue);
}

absl::StatusOr<RunWatch::End> DirectEngine::run_processes(RunWatch::Clock::time_point deadline) {
  std::vector<std::vector<PrivateRegion>> outputs;
  outputs.reserve(ranks_.size());
  for (const Rank& rank : ranks_) outputs.push_back(host_.task(rank.context.rank).outputs());
  const auto body = [this](std::int32_t rank, RankRecord& record) {
    run_in_process(ranks_[static_cast<std::size_t>(rank)], record);
  };
  absl::Status ran = processes_->run(body, outputs, deadline, options_.interrupt);
  if (!ran.ok()) return ran;
  for (Rank& rank : ranks_) {
    rank.error = processes_->error(rank.context.rank);
    processes_->record(rank.context.rank).bring_signals(rank.fabric->mutable_signals());
  }
  return watch_->ended();
}

DirectResult DirectEngine::run() {
  DirectResult result;
  result.error = prepare();
  if (!result.error.empty()) {
    result.outcome = DirectResult::Outcome::kError;
    return result;
  }
  const RunWatch::Clock::time_point deadline = options_.time_limit.count() != 0
                                                   ? RunWatch::Clock::now() + options_.time_limit
                                                   : RunWatch::kNever;
  const absl::StatusOr<RunWatch::End> end =
      processes_ ? run_processes(deadline) : run_threads(deadline);
  if (!end.ok()) {
    result.outcome = DirectResult::Outcome::kError;
    result.error = std::string(end.status().message());
    return result;
  }
  result.outcome = outcome_of(*end);

  if (result.outcome == DirectResult::Outcome::kError) {
    // Of several, not the first by the clock, which would be chance.
    const auto failed = std::find_if(ranks_.begin(), ranks_.end(),
                                     [](const Rank& rank) { return !rank.error.empty(); });
    result.error = failed->error;
    return result;
  }
  if (result.outcome == DirectResult::Outcome::kInterrupted) return result;
  if (result.outcome != DirectResult::Outcome::kOk) describe_stuck(result);
  // A run that came to its end while the time limit struck is no stuck one.
  if (!result.stuck.empty()) return result;
  result.outcome = DirectResult::Outcome::kOk;
  if (program_.matches()) return result;
  result.outcome = DirectResult::Outcome::kMismatch;
  result.mismatches = program_.mismatches();
  return result;
}

void DirectEngine::describe_stuck(DirectResult& result) {
  // Signals have no order here: a Set and an AtomicAdd on one cell are taken for a Set over a
  // count.
  struct Kinds {
    bool adds = false;
    bool sets = false;
  };
  std::map<std::pair<std::int32_t, std::uint64_t>, Kinds> kinds;  // of a rank's cell
  for (const Rank& rank : ranks_) {
    const std::int32_t me = rank.context.rank;
    for (const SignalRecord::Entry& entry : rank.fabric->signals().entries()) {
      result.signals.push_back({me, entry.target, entry.window->name,
                                index_in_window(*entry.window, entry.offset), entry.where,
                                entry.count});
      Kinds& on_cell = kinds[{entry.target, entry.offset}];
      on_cell.adds = on_cell.adds || entry.op == pld::NotifyOp::AtomicAdd;
      on_cell.sets = on_cell.sets || entry.op == pld::NotifyOp::Set;
    }
    result.has_all_signals = result.has_all_signals && rank.fabric->signals().is_complete();
  }
  for (const Rank& rank : ranks_) {
    const std::int32_t me = rank.context.rank;
    const DirectWait* wait = watch_->left_in(me);
    if (wait == nullptr) continue;
    StuckRank stuck;
    stuck.rank = me;
    stuck.op = wait->site.op;
    stuck.where = wait->site.where;
    stuck.on_cell = wait->on_cell;
    if (stuck.on_cell) {
      const Cell& cell = wait->cell;
      stuck.window = cell.window->name;
      stuck.cell = index_in_window(*cell.window, cell.offset);
      stuck.expected = wait->expected;
      stuck.actual = watch_->cell(me, cell);
      stuck.cmp = wait->cmp;
      const auto on_cell = kinds.find({me, cell.offset});
      stuck.count_lost = on_cell != kinds.end() && on_cell->second.adds && on_cell->second.sets;
    }
    result.stuck.push_back(std::move(stuck));
  }
}

}  // namespace symrace
