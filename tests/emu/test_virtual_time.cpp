// Virtual time follows causes, not schedules: what ends when, and what it must not depend on.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "kernels/programs.h"
#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

using pld::AtomicType;
using pld::NotifyOp;
using pld::WaitCmp;
using Times = std::vector<Picoseconds>;

// 100 ps a move, 3 ps a remote byte, 1 ps a local one.
const CostModel kCosts{.name = "by hand",
                       .staged = {.start = 100, .remote_per_kib = 3 * 1024, .local_per_kib = 1024},
                       .async = {.start = 1000, .per_kib = 2 * 1024},
                       .signal_latency = 500,
                       .issue = 10};

Options timed(const Model& model = Model::documented(), const CostModel& costs = kCosts) {
  return {.model = model, .costs = costs};
}

// The modelled times of many schedules: all of them.
std::set<Times> times_of(symrace::Program& program, std::int32_t ranks, const Options& options,
                         std::uint64_t seeds = 100) {
  const auto explorer = make_explorer(program, ranks, options);
  const auto strategy = make_random_strategy();
  std::set<Times> times;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    RunResult result = explorer->run(*strategy, seed);
    REQUIRE_MESSAGE(result.outcome == Outcome::kOk, result.error);
    times.insert(std::move(result.rank_ps));
  }
  return times;
}

Times time_of(const KernelProgram::Kernel& kernel, std::int32_t ranks,
              const Options& options = timed()) {
  KernelProgram program(kernel);
  const std::set<Times> times = times_of(program, ranks, options);
  REQUIRE(times.size() == 1);
  return *times.begin();
}

TEST_CASE("loads take the rank's time; stores are posted, one after the other") {
  // A load of 16 bytes of own slice is 116, of a peer's 148.
  CHECK(time_of([](Data data, Data) { pl::load(data, {0, 0}, {1, 4}); }, 1) == Times{116});
  CHECK(time_of(
            [](Data data, Data) {
              pld::tile::remote_load(data, 0, {0, 0}, {1, 4});
            },
            1) == Times{116});
  CHECK(time_of(
            [](Data data, Data) {
              if (my_rank() == 0) pld::tile::remote_load(data, 1, {0, 0}, {1, 4});
            },
            2) == Times{148, 0});
  const auto two_stores = [](Data data, Data) {
    if (my_rank() != 0) return;
    pld::tile::remote_store(tile_of(1, 4), data, 1, {0, 0});
    pld::tile::remote_store(tile_of(1, 4), data, 1, {1, 0});
  };
  CHECK(time_of(two_stores, 2) == Times{2 * 148, 0});
  // A load goes on meanwhile, unless it reads what is being stored.
  CHECK(time_of(
            [](Data data, Data) {
              data = pl::store(tile_of(1, 4), {0, 0}, data);
              pl::load(data, {1, 0}, {1, 4});
            },
            1) == Times{10 + 116});
  CHECK(time_of(
            [](Data data, Data) {
              data = pl::store(tile_of(1, 4), {0, 0}, data);
              pl::load(data, {0, 3}, {1, 4});
            },
            1) == Times{116 + 116});
}

TEST_CASE("a fence ends when all transfers of its rank have landed") {
  for (const Model& model : {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()}) {
    CAPTURE(model.name);
    CHECK(time_of(
              [](Data data, Data) {
                if (my_rank() != 0) return;
                pld::tile::remote_store(tile_of(1, 4), data, 1, {0, 0});
                pld::system::fence();
                pl::load(data, {0, 0}, {1, 4});
              },
              2, timed(model)) == Times{148 + 116, 0});
  }
}

TEST_CASE("a wait ends when the signal has arrived, which waits for what it releases") {
  // Rank 1: the store lands at 148; the notify is issued at 10.
  const auto kernel = [](Data data, Data signal) {
    if (my_rank() == 0) return pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
    pld::tile::remote_store(tile_of(1, 4), data, 0, {0, 0});
    pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
  };
  const Times released{148 + 500, 148 + 500};
  const Times unreleased{10 + 500, 10 + 500};
  CHECK(time_of(kernel, 2, timed(Model::documented())) == released);
  CHECK(time_of(kernel, 2, timed(Model::a2a3())) == unreleased);
  CHECK(time_of(kernel, 2, timed(Model::weak())) == unreleased);
}

TEST_CASE("under a2a3 a notify waits for all but the last chunk of a put") {
  // Chunks land at 264 and 528; the put returns with its last load, at 264 + 116.
  const auto kernel = [](Data data, Data signal) {
    if (my_rank() == 0) return pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
    pld::tensor::put(data, 0, data, AtomicType::None_,
                     {.dst_offsets = pl::Offsets{0, 0},
                      .src_offsets = pl::Offsets{1, 0},
                      .shape = pl::Shape{1, 8},
                      .chunk_cols = 4});
    pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::Set);
  };
  CHECK(time_of(kernel, 2, timed(Model::documented())) == Times{528 + 500, 528 + 500});
  CHECK(time_of(kernel, 2, timed(Model::a2a3())) == Times{380 + 500, 380 + 500});
}

TEST_CASE("a wait for k of several signals ends with the k-th to arrive, in every schedule") {
  // Rank r sends after r loads of its own slice, at 116 r.
  for (const std::int32_t k : {1, 2, 3}) {
    const Times times = time_of(
        [k](Data data, Data signal) {
          if (my_rank() == 0) return pld::system::wait(signal, {0, 0}, k, WaitCmp::Ge);
          for (std::int32_t i = 0; i < my_rank(); ++i) pl::load(data, {0, 0}, {1, 4});
          pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
        },
        4);
    CHECK(times[0] == static_cast<Picoseconds>(116 * k + 500));
  }
}

TEST_CASE("a polling loop ends like a wait, however often a schedule polls") {
  CHECK(time_of(
            [](Data data, Data signal) {
              if (my_rank() == 0) {
                while (!pld::system::test(signal, {0, 0}, 1, WaitCmp::Ge)) {
                }
                return;
              }
              pl::load(data, {0, 0}, {1, 4});
              pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
            },
            2) == Times{116 + 500, 116 + 500});
}

TEST_CASE("a barrier costs its notifies and one latency") {
  // The last of N-1 notifies is issued at 10 (N-2), and arrives 500 later, when its sender is long
  // done with its own; then N-1 cells are cleared.
  for (const std::int32_t ranks : {2, 3, 8}) {
    const Times times = time_of([](Data, Data signal) { pld::tensor::barrier(signal); }, ranks);
    const auto peers = static_cast<Picoseconds>(ranks - 1);
    for (const Picoseconds time : times) CHECK(time == 10 * (peers - 1) + 500 + 10 * peers);
  }
}

TEST_CASE("an Eq that virtual time has passed by, and a cell written as data, end as they did") {
  // In virtual time both signals have arrived before rank 0 looks.
  KernelProgram eq([](Data data, Data signal) {
    if (my_rank() == 0) {
      for (int i = 0; i < 100; ++i) pl::load(data, {0, 0}, {1, 4});
      pld::system::wait(signal, {0, 0}, 1, WaitCmp::Eq);
      pld::system::notify(signal, 1, {0, 0}, 1, NotifyOp::Set);
    } else {
      pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
      pld::system::wait(signal, {0, 0}, 1, WaitCmp::Eq);
    }
    pld::system::notify(signal, 1 - my_rank(), {1, 0}, 1, NotifyOp::Set);
  });
  CHECK(times_of(eq, 2, timed()).size() == 1);
  CHECK(time_of(
            [](Data, Data signal) {
              pl::write(signal, {0, 0}, 7);
              pld::system::wait(signal, {0, 0}, 7, WaitCmp::Eq);
            },
            1) == Times{104});
  // The schedule saw 1 before 2; here rank 2's is there long before rank 0 looks at all.
  KernelProgram missed([](Data data, Data signal) {
    if (my_rank() == 1) pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
    if (my_rank() == 2) {
      pld::system::wait(signal, {1, 0}, 1, WaitCmp::Ge);
      pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::AtomicAdd);
    }
    if (my_rank() != 0) return;
    for (int i = 0; i < 50; ++i) pl::load(data, {0, 0}, {1, 4});
    pld::system::wait(signal, {0, 0}, 1, WaitCmp::Eq);
    pld::system::notify(signal, 2, {1, 0}, 1, NotifyOp::Set);
    pld::system::wait(signal, {0, 0}, 2, WaitCmp::Eq);
  });
  CHECK(times_of(missed, 3, timed()).size() == 1);
}

TEST_CASE("private memory is moved in the rank's time, tensor-level values are on core") {
  std::array<float, 4> memory{};
  KernelProgram program([&](Data, Data) {
    pl::Tensor<float> x(memory.data(), 1, 4);
    pl::Out<pl::Tensor<float>> y(x);
    y = pl::store(pl::load(x, {0, 0}, {1, 4}), {0, 0}, y);
  });
  CHECK(times_of(program, 1, timed()) == std::set<Times>{{2 * 116}});
  KernelProgram tensors([&](Data, Data) {
    pl::Tensor<float> x(memory.data(), 1, 4);
    pl::at(pl::Level::CORE_GROUP, [&] { pl::add(pl::add(x, 1), 2); });
  });
  CHECK(times_of(tensors, 1, timed()) == std::set<Times>{{116}});
}

TEST_CASE("times do not depend on the seed, and hashes not on the clock, for every program") {
  for (const symrace::ProgramInfo* info : kernels::programs()) {
    if (info->bug != nullptr) continue;
    for (const std::int32_t ranks : {2, 3, 5}) {
      if (ranks < info->smallest_ranks) continue;
      CAPTURE(info->name);
      CAPTURE(ranks);
      const auto program = info->make(symrace::default_arguments(*info, ranks));
      REQUIRE(program.ok());
      for (const CostModel& costs : {kCosts, CostModel::a2a3(), CostModel::a2a3_async()}) {
        CHECK(times_of(**program, ranks, timed(Model::documented(), costs)).size() == 1);
      }
    }
  }
}

TEST_CASE("the clock changes no schedule, and the vehicle no time") {
  for (const char* name : {"05_remote_load_store", "06_put_get"}) {
    const symrace::ProgramInfo& info = *kernels::find_program(name);
    symrace::Arguments arguments = symrace::default_arguments(info, 3);
    if (info.name == "06_put_get") arguments.flags["chunk-cols"] = "7";
    const auto program = info.make(arguments);
    REQUIRE(program.ok());
    for (const Model& model : {Model::sc(), Model::documented()}) {
      Options with = timed(model);
      with.burst_bytes = 12;
      Options without = with;
      without.costs.reset();
      Options on_threads = with;
      on_threads.vehicle = VehicleKind::kThread;
      const auto strategy = make_random_strategy();
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const RecordedRun a = make_explorer(**program, 3, with)->record(*strategy, seed);
        const RecordedRun b = make_explorer(**program, 3, without)->record(*strategy, seed);
        const RecordedRun c = make_explorer(**program, 3, on_threads)->record(*strategy, seed);
        CHECK(a.trace_hash == b.trace_hash);
        CHECK(a.decisions == b.decisions);
        CHECK(b.result.rank_ps.empty());
        CHECK(b.times.events.empty());
        CHECK(a.result.rank_ps == c.result.rank_ps);
        CHECK(a.times.events == c.times.events);
      }
    }
  }
}

TEST_CASE("a recorded run's events have times: in program order, landings after their issue") {
  const symrace::ProgramInfo& info = *kernels::find_program("06_put_get");
  for (const char* mode : {"put", "get"}) {
    for (const Model& model : {Model::sc(), Model::documented(), Model::a2a3(), Model::weak()}) {
      symrace::Arguments arguments = symrace::default_arguments(info, 3);
      arguments.flags["mode"] = mode;
      arguments.flags["chunk-cols"] = "20";
      const auto program = info.make(arguments);
      REQUIRE(program.ok());
      Options options = timed(model);
      options.burst_bytes = 24;
      const auto explorer = make_explorer(**program, 3, options);
      const RecordedRun run = explorer->record(*make_random_strategy(), 7);
      const std::vector<Event> events(run.log.events.begin(), run.log.events.end());
      REQUIRE(run.times.events.size() == events.size());
      Times now(3), landed(3);
      for (std::size_t i = 0; i < events.size(); ++i) {
        CAPTURE(i);
        const TimeSpan& time = run.times.events[i];
        const auto rank = static_cast<std::size_t>(events[i].rank);
        CHECK(time.begin <= time.end);
        if (events[i].kind == Event::Kind::kLand || events[i].kind == Event::Kind::kTake) {
          landed[rank] = std::max(landed[rank], time.end);
          const auto issue = std::find_if(events.begin(), events.end(), [&](const Event& e) {
            return e.kind == Event::Kind::kIssue && e.rank == events[i].rank &&
                   e.piece == events[i].piece;
          });
          REQUIRE(issue != events.end());
          const auto at = static_cast<std::size_t>(issue - events.begin());
          CHECK(time.begin >= run.times.events[at].begin);
          continue;
        }
        CHECK(time.begin >= now[rank]);
        now[rank] = std::max(now[rank], time.begin);
        if (events[i].kind == Event::Kind::kFinish) CHECK(time.end == run.result.rank_ps[rank]);
      }
      for (std::size_t rank = 0; rank < 3; ++rank) CHECK(landed[rank] <= run.result.rank_ps[rank]);
    }
  }
}

}  // namespace
}  // namespace emu::testing
