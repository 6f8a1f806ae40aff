// How fast schedules are explored: step 05 in load mode, 64 floats, `documented`, `random`.
//
// `schedules_per_second` and `ns_per_decision` are of whole schedules: orchestration, both kernels,
// every decision, the comparison with the golden, and the reset. PlainCalls runs the same
// orchestration and kernels through a fabric that does each move at once, rank after rank, with no
// scheduler: the limit.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstring>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/pl.h"
#include "core/posix_heap.h"
#include "core/rank_context.h"
#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"

namespace {

std::unique_ptr<symrace::Program> make_step_05(std::int32_t ranks, std::int64_t size) {
  const symrace::ProgramInfo& info = *kernels::find_program("05_remote_load_store");
  symrace::Arguments arguments = symrace::default_arguments(info, ranks);
  arguments.size = size;
  return *info.make(arguments);
}

void explore(benchmark::State& state, symrace::Program& program, std::int32_t ranks,
             emu::VehicleKind vehicle, bool races = false,
             const std::optional<emu::CostModel>& costs = {}) {
  auto explorer = emu::Explorer::create(
      program, ranks, {.vehicle = vehicle, .detect_races = races, .costs = costs});
  if (!explorer.ok()) {
    state.SkipWithError(std::string(explorer.status().message()).c_str());
    return;
  }
  const auto strategy = emu::make_random_strategy();
  (*explorer)->run(*strategy, 0);  // fills the pools
  std::uint64_t seed = 0;
  std::uint64_t decisions = 0;
  for (auto _ : state) {
    const emu::RunResult result = (*explorer)->run(*strategy, seed++);
    if (result.outcome != emu::Outcome::kOk) state.SkipWithError("a schedule failed");
    decisions += result.decisions;
  }
  state.counters["schedules_per_second"] =
      benchmark::Counter(static_cast<double>(seed), benchmark::Counter::kIsRate);
  state.counters["decisions"] = static_cast<double>(decisions) / static_cast<double>(seed);
  state.counters["s_per_decision"] = benchmark::Counter(
      static_cast<double>(decisions), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void explore(benchmark::State& state, std::int32_t ranks, std::int64_t size,
             emu::VehicleKind vehicle, bool races = false) {
  explore(state, *make_step_05(ranks, size), ranks, vehicle, races);
}

void FiberVehicle(benchmark::State& state) { explore(state, 2, 64, emu::VehicleKind::kFiber); }
BENCHMARK(FiberVehicle);
// The same with race detection on, as runs of a2a3sim have it.
void Races(benchmark::State& state) { explore(state, 2, 64, emu::VehicleKind::kFiber, true); }
BENCHMARK(Races);
// The same with modelled time.
void Clock(benchmark::State& state) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  explore(state, *make_step_05(ranks, 64), ranks, emu::VehicleKind::kFiber, false,
          emu::CostModel::a2a3());
}
BENCHMARK(Clock)->Arg(2)->Arg(64);
void ThreadVehicle(benchmark::State& state) { explore(state, 2, 64, emu::VehicleKind::kThread); }
BENCHMARK(ThreadVehicle)->UseRealTime();

// Cost per decision as ranks grow: see s_per_decision.
void Ranks(benchmark::State& state) {
  explore(state, static_cast<std::int32_t>(state.range(0)), 64, emu::VehicleKind::kFiber);
}
BENCHMARK(Ranks)->Arg(2)->Arg(8)->Arg(64)->Arg(384);
void RacesAtRanks(benchmark::State& state) {
  explore(state, static_cast<std::int32_t>(state.range(0)), 64, emu::VehicleKind::kFiber, true);
}
BENCHMARK(RacesAtRanks)->Arg(8)->Arg(64)->Arg(384);

// A reset costs what the last schedule touched: one cell here, whatever the size of the window.
class IdleWindow final : public symrace::Program {
 public:
  explicit IdleWindow(std::int64_t bytes) : bytes_(bytes) {}
  void orchestrate(pld::Host& host) override {
    const auto buffer = host.alloc_window_buffer(bytes_);
    for (std::int32_t rank = 0; rank < host.world_size(); ++rank) {
      host.dispatch(
          pld::device(rank),
          [](pld::DistributedTensor<std::int32_t> window) {
            pl::write(window, {0, 0}, 1);
          },
          host.window<std::int32_t>(buffer, {1, 1}));
    }
  }
  bool matches() const override { return true; }
  std::vector<symrace::Mismatch> mismatches() const override { return {}; }

 private:
  std::int64_t bytes_;
};
void Reset(benchmark::State& state) {
  IdleWindow program(state.range(0));
  explore(state, program, 2, emu::VehicleKind::kFiber);
}
BENCHMARK(Reset)->Arg(4 << 10)->Arg(4 << 20)->Arg(512 << 20);

// 384 ranks with windows of 64 KiB: peak_MiB is the process's, measured after this run. It comes
// last, and must stay under 300.
void PeakMemory(benchmark::State& state) {
  explore(state, 384, 64 * 1024 / 4, emu::VehicleKind::kFiber);
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// Moves at once, no order but program order, waits never block: ranks simply run one by one.
class PlainFabric final : public symrace::Fabric {
 public:
  PlainFabric(symrace::SymmetricHeap& heap, std::int32_t rank) : heap_(heap), rank_(rank) {}

  void load(const symrace::WindowRegion& from, symrace::TileBlock& to,
            const symrace::Site&) override {
    copy_out(rank_, from, to.bytes());
  }
  void store(const symrace::TileRef& from, const symrace::WindowRegion& to, pld::AtomicType,
             const symrace::Site&) override {
    copy_in(rank_, to, from->bytes());
  }
  void remote_load(std::int32_t peer, const symrace::WindowRegion& from, const symrace::TileRef& to,
                   const symrace::Site&) override {
    copy_out(peer, from, to->bytes());
  }
  void remote_store(const symrace::TileRef& from, std::int32_t peer,
                    const symrace::WindowRegion& to, pld::AtomicType,
                    const symrace::Site&) override {
    copy_in(peer, to, from->bytes());
  }
  void put(std::int32_t, const symrace::WindowRegion&, const symrace::LocalRegion&, pld::AtomicType,
           const symrace::Chunking&, const symrace::Site&) override {}
  void get(const symrace::LocalRegion&, std::int32_t, const symrace::WindowRegion&,
           const symrace::Chunking&, const symrace::Site&) override {}
  void notify(std::int32_t peer, const symrace::Cell& cell, std::int32_t value, pld::NotifyOp,
              const symrace::Site&) override {
    add(peer, cell, value);
  }
  void wait(const symrace::Cell& cell, std::int32_t, pld::WaitCmp, const symrace::Site&) override {
    benchmark::DoNotOptimize(heap_.address(rank_, cell.offset));
  }
  bool test(const symrace::Cell&, std::int32_t, pld::WaitCmp, const symrace::Site&) override {
    return true;
  }
  void fence(const symrace::Site&) override {}
  void add_to_own_cell(const symrace::Cell& cell, std::int32_t delta,
                       const symrace::Site&) override {
    add(rank_, cell, delta);
  }
  void use(symrace::TileBlock&, const symrace::Site&) override {}
  void use_private_memory(const symrace::Site&) override {}

 private:
  void copy_out(std::int32_t rank, const symrace::WindowRegion& from, std::byte* to) {
    symrace::copy_rows(to, from.extent.row_bytes, heap_.address(rank, from.offset),
                       from.extent.stride, from.extent.rows, from.extent.row_bytes);
  }
  void copy_in(std::int32_t rank, const symrace::WindowRegion& to, const std::byte* from) {
    symrace::copy_rows(heap_.address(rank, to.offset), to.extent.stride, from, to.extent.row_bytes,
                       to.extent.rows, to.extent.row_bytes);
  }
  void add(std::int32_t rank, const symrace::Cell& cell, std::int32_t value) {
    std::int32_t sum = 0;
    std::memcpy(&sum, heap_.address(rank, cell.offset), sizeof(sum));
    sum += value;
    std::memcpy(heap_.address(rank, cell.offset), &sum, sizeof(sum));
  }

  symrace::SymmetricHeap& heap_;
  std::int32_t rank_;
};

void PlainCalls(benchmark::State& state) {
  constexpr std::int32_t kRanks = 2;
  const auto program = make_step_05(kRanks, 64);
  auto heap = symrace::PosixHeap::create(kRanks);
  if (!heap.ok()) {
    state.SkipWithError(std::string(heap.status().message()).c_str());
    return;
  }
  pld::Host host(**heap);
  symrace::TilePool tiles;
  PlainFabric fabrics[kRanks] = {{**heap, 0}, {**heap, 1}};
  symrace::RankContext contexts[kRanks];
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    contexts[rank] = {
        .rank = rank, .world_size = kRanks, .fabric = &fabrics[rank], .tiles = &tiles};
  }
  for (auto _ : state) {
    host.begin_schedule();
    program->orchestrate(host);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      symrace::internal::current_rank_pointer = &contexts[rank];
      host.task(rank).run();
    }
    benchmark::DoNotOptimize(program->matches());
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      std::memset((*heap)->address(rank, 0), 0, 64 * sizeof(float));
    }
  }
  symrace::internal::current_rank_pointer = nullptr;
}
BENCHMARK(PlainCalls);
BENCHMARK(PeakMemory)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
