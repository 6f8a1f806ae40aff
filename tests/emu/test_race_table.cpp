// The race detector against the rules: every scenario of race_scenarios.h under every model, over
// all its executions; then what one op a rank cannot show, by hand.
#include "tests/emu/race_scenarios.h"

namespace emu::testing {
namespace {

#ifdef SYMRACE_FEWER_CASES
constexpr std::uint64_t kEvery = 7;  // of the scenarios
#else
constexpr std::uint64_t kEvery = 1;
#endif

// What is wrong with the schedules of a scenario; "" if nothing.
std::string fault_of(const Exploration& sum, const Scenario& scenario, const Cast& ranks,
                     const Verdict& verdict) {
  if (sum.failures() != 0 || sum.schedules == 0 || sum.end != Exploration::End::kComplete) {
    return "a schedule failed or got stuck";
  }
  if (sum.first_failure && sum.first_failure->outcome != Outcome::kOk) {
    return "a schedule ended in: " + sum.first_failure->error;
  }
  if (!verdict.race && sum.racy > 0) return "reported";
  if (verdict.race && !scenario.sync->by_chance && sum.racy != sum.schedules) {
    return "not reported by " + std::to_string(sum.schedules - sum.racy) + " of " +
           std::to_string(sum.schedules) + " schedules";
  }
  if (sum.races.size() > 1) return "more than one race";
  for (const Race& race : sum.races) {
    for (const Access& access : {race.first, race.second}) {
      if (!same_line(access.where, kFirstOp) && !same_line(access.where, kSecondOp)) {
        return "an end at line " + std::to_string(access.where.line());
      }
      const bool is_first = same_line(access.where, kFirstOp);
      const Role role = is_first ? Role::kA : Role::kB;
      const Role slice = is_first ? scenario.first_slice : scenario.second_slice;
      if (access.rank != ranks[static_cast<std::size_t>(role)] ||
          access.target != ranks[static_cast<std::size_t>(slice)]) {
        return "an end of the wrong rank or slice";
      }
    }
    if (same_line(race.first.where, race.second.where)) return "both ends at one op";
    if (verdict.race && race.kind != *verdict.race) {
      return "called " + std::string(race_name(race.kind)) + ", expected " +
             std::string(race_name(*verdict.race));
    }
  }
  return "";
}

struct Matrix {
  std::uint64_t true_positives = 0, false_positives = 0, true_negatives = 0, false_negatives = 0;
};

// Judges every `every`-th scenario under `rules`.
void check_table(Rules rules, std::int64_t burst_bytes, std::uint64_t every) {
  const Scenario* now = nullptr;
  Cast ranks{};
  RaceProgram program([&](const Windows& windows) { play(*now, ranks, windows); });
  const Options options{.model = model_of(rules), .burst_bytes = burst_bytes};
  const std::array explorers = {make_explorer(program, 2, options),
                                make_explorer(program, 3, options)};
  const auto random = make_random_strategy();
  Matrix matrix;
  std::uint64_t index = 0, executions = 0, faults = 0;
  for_each_scenario([&](const Scenario& scenario) {
    if (index++ % every != 0) return;
    now = &scenario;
    ranks = index % 2 == 0 ? Cast{0, 1, 2} : Cast{1, 0, 2};
    Explorer& explorer = *explorers[static_cast<std::size_t>(scenario.ranks() - 2)];
    const Verdict verdict = judge(scenario, rules);
    const Exploration all = explorer.exhaust({});
    executions += all.schedules;
    const bool reported = all.racy > 0;
    ++(verdict.race ? (reported ? matrix.true_positives : matrix.false_negatives)
                    : (reported ? matrix.false_positives : matrix.true_negatives));
    std::string fault = fault_of(all, scenario, ranks, verdict);
    if (verdict.race && !reported) fault = "not reported";
    // Any schedule will do, not just the one of its class that `exhaust` visits.
    const Exploration some = explorer.explore(*random, {.first = index, .count = 2});
    if (fault.empty()) fault = fault_of(some, scenario, ranks, verdict);
    if (fault.empty() || ++faults > 20) return;
    const std::string expected = verdict.race ? "a race" : "none";
    FAIL_CHECK("under ", options.model.name, ": ", scenario.text(), ". Expected ", expected, " (",
               std::string(verdict.reason), "), but: ", fault);
  });
  CHECK(faults == 0);
  CHECK(matrix.false_positives == 0);
  CHECK(matrix.false_negatives == 0);
  CHECK(matrix.true_positives > 0);
  CHECK(matrix.true_negatives > 0);
  MESSAGE(options.model.name, ": ", matrix.true_positives, " races reported, ",
          matrix.true_negatives, " without one passed, ", matrix.false_positives,
          " false positives, ", matrix.false_negatives, " false negatives, over ", executions,
          " executions");
}

TEST_CASE("race table: no race is missed and none is made up, under every model") {
  for (const Rules rules : kAllRules) check_table(rules, 0, kEvery);
}

TEST_CASE("race table: moves that are cut in bursts") {
  for (const Rules rules : kAllRules) check_table(rules, 8, 5 * kEvery);
}

// --- By hand ------------------------------------------------------------------------------------

using Kernel = std::function<void(const Windows&)>;
using pld::AtomicType;
using pld::NotifyOp;
constexpr auto kPlain = AtomicType::None_;
constexpr auto kAdd = AtomicType::Add;

pl::Tile<std::int32_t> ones(std::int64_t cols = 1) { return tile_of(1, cols); }
void notify(const Windows& w, std::int32_t peer, NotifyOp op = NotifyOp::AtomicAdd) {
  pld::system::notify(w.signal, peer, {0, 1}, 1, op);
}
void wait(const Windows& w, std::int32_t least = 1) {
  pld::system::wait(w.signal, {0, 1}, least, pld::WaitCmp::Ge);
}
std::int32_t next_rank() { return (my_rank() + 1) % pld::world_size().value(); }
void put(const Windows& w, std::int32_t peer, std::int64_t to_row, std::int64_t from_row,
         AtomicType atomic = kPlain, std::int64_t chunk_cols = 0) {
  pld::tensor::put(w.data, peer, w.data, atomic,
                   {.dst_offsets = pl::Offsets{to_row, 0},
                    .src_offsets = pl::Offsets{from_row, 0},
                    .shape = pl::Shape{1, 4},
                    .chunk_cols = chunk_cols});
}
void get(const Windows& w, std::int32_t peer, std::int64_t to_row, std::int64_t from_row) {
  pld::tensor::get(w.data, peer, w.data,
                   {.dst_offsets = pl::Offsets{to_row, 0},
                    .src_offsets = pl::Offsets{from_row, 0},
                    .shape = pl::Shape{1, 4}});
}
void load(const Windows& w, std::int64_t row, std::int64_t col = 0, std::int64_t cols = 4) {
  pl::load(w.data, {row, col}, {1, cols});
}
void store(const Windows& w, std::int64_t row, std::int64_t col = 0, AtomicType atomic = kPlain) {
  pl::store(ones(4), {row, col}, w.data, atomic);
}
void remote_store(const Windows& w, std::int32_t peer, std::int64_t row, std::int64_t col = 0,
                  AtomicType atomic = kPlain) {
  pld::tile::remote_store(ones(4), w.data, peer, {row, col}, atomic);
}
void add_float(const Windows& w, std::int32_t peer) {
  pld::tile::remote_store(pl::full<float>({1, 4}, 1), w.floats, peer, {0, 0}, kAdd);
}
pl::Tile<std::int32_t> remote_load(const Windows& w, std::int32_t peer, std::int64_t row,
                                   std::int64_t col = 0) {
  return pld::tile::remote_load(w.data, peer, {row, col}, {1, 4});
}

// A kernel of one part a rank.
Kernel parts(Kernel a, Kernel b, Kernel c = nullptr) {
  return [=](const Windows& w) { (my_rank() == 0 ? a : my_rank() == 1 ? b : c)(w); };
}
#define PART [](const Windows& w)
// Rank 0 works; rank 1 does nothing to the same bytes.
Kernel alone(Kernel kernel) {
  return parts(std::move(kernel), [](const Windows& w) { load(w, 7); });
}

// All executions, and some random schedules; none may fail.
std::vector<Exploration> explorations(const Model& model, std::int32_t ranks,
                                      const Kernel& kernel) {
  RaceProgram program(kernel);
  const auto explorer = make_explorer(program, ranks, {.model = model});
  const auto random = make_random_strategy();
  std::vector<Exploration> sums;
  sums.push_back(explorer->exhaust({}));
  sums.push_back(explorer->explore(*random, {.count = 50}));
  for (const Exploration& sum : sums) {
    CHECK(sum.end == Exploration::End::kComplete);
    CHECK(sum.failures() == 0);
    CHECK((!sum.first_failure || sum.first_failure->outcome == Outcome::kOk));
  }
  return sums;
}

struct Case {
  const char* name;
  std::int32_t ranks;
  Rules from;     // the strongest model under which it races; the weaker ones follow
  RaceKind kind;  // what every race is
  Kernel kernel;
  std::optional<RaceKind> under_weak = std::nullopt;  // where that is another kind
  bool by_chance = false;  // a wait may see the second signal too, which orders
};

// clang-format off
const Case kCases[] = {
    {"store beside a peer's remote_load", 2, Rules::kSc, RaceKind::kReadWrite,
     parts(PART { store(w, 0); }, PART { remote_load(w, 0, 0); })},
    {"remote_load beside a get into the same bytes", 2, Rules::kSc, RaceKind::kReadWrite,
     parts(PART { get(w, 1, 0, 1); }, PART { remote_load(w, 0, 0); })},
    {"remote_store beside the owner's store", 2, Rules::kSc, RaceKind::kWriteWrite,
     parts(PART { remote_store(w, 1, 0); }, PART { store(w, 0); })},
    {"two puts to one target", 3, Rules::kSc, RaceKind::kWriteWrite,
     parts(PART { put(w, 2, 0, 1); }, PART { put(w, 2, 0, 1); }, PART { load(w, 2); })},
    {"get destination beside a remote_store", 2, Rules::kSc, RaceKind::kWriteWrite,
     parts(PART { get(w, 1, 0, 1); }, PART { remote_store(w, 0, 0); })},

    {"atomic add beside a load", 2, Rules::kSc, RaceKind::kAtomicPlain,
     parts(PART { remote_store(w, 1, 0, 0, kAdd); }, PART { load(w, 0); })},
    {"put Add beside a remote_store", 3, Rules::kSc, RaceKind::kAtomicPlain,
     parts(PART { put(w, 2, 0, 1, kAdd); }, PART { remote_store(w, 2, 0); }, PART { load(w, 2); })},
    {"local store Add beside a put", 2, Rules::kSc, RaceKind::kAtomicPlain,
     parts(PART { store(w, 0, 0, kAdd); }, PART { put(w, 0, 0, 1); })},
    {"the initial store after the barrier instead of before", 2, Rules::kSc, RaceKind::kAtomicPlain,
     parts(PART { pld::tensor::barrier(w.signal); store(w, 0); },
           PART { pld::tensor::barrier(w.signal); remote_store(w, 0, 0, 0, kAdd); })},

    {"adds of two dtypes to one element", 2, Rules::kSc, RaceKind::kAtomicMix,
     parts(PART { remote_store(w, 1, 0, 0, kAdd); },
           PART { add_float(w, 1); })},
    {"an FP32 add to a cell that is notified", 2, Rules::kSc, RaceKind::kAtomicMix,
     parts(PART { pld::system::notify(w.data, 1, {0, 1}, 1, NotifyOp::AtomicAdd); },
           PART { add_float(w, 1); })},
    {"a data add to a cell that is Set", 2, Rules::kSc, RaceKind::kAtomicMix,
     parts(PART { notify(w, 1, NotifyOp::Set); },
           PART { pl::store(ones(), {0, 1}, w.signal, kAdd); })},

    {"Set and AtomicAdd of two ranks on one cell", 3, Rules::kSc, RaceKind::kSetAdd,
     parts(PART { notify(w, 2); }, PART { notify(w, 2, NotifyOp::Set); }, PART { wait(w); })},
    {"the owner's Set beside an AtomicAdd", 2, Rules::kSc, RaceKind::kSetAdd,
     parts(PART { notify(w, 1); }, PART { notify(w, 1, NotifyOp::Set); })},
    {"Set, then AtomicAdd of a rank that was told", 3, Rules::kA2a3, RaceKind::kSetAdd,
     parts(PART { pld::system::notify(w.signal, 2, {0, 0}, 1, NotifyOp::Set); notify(w, 1); },
           PART { wait(w); pld::system::notify(w.signal, 2, {0, 0}, 1, NotifyOp::AtomicAdd); },
           PART { load(w, 0); })},

    {"a cell polled by pl::read", 2, Rules::kSc, RaceKind::kCellAccess,
     parts(PART { notify(w, 1); }, PART { pl::read(w.signal, {0, 1}); })},
    {"a peer's cell polled by remote_load", 3, Rules::kSc, RaceKind::kCellAccess,
     parts(PART { notify(w, 1); }, PART { wait(w); },
           PART { pld::tile::remote_load(w.signal, 1, {0, 0}, {1, 4}); })},
    {"a cell cleared while the next round may notify it", 2, Rules::kSc, RaceKind::kCellAccess,
     parts(PART { notify(w, 1); notify(w, 1); },
           PART { wait(w); pl::write(w.signal, {0, 1}, 0); }), std::nullopt, true},
    {"a remote_store as a signal", 2, Rules::kSc, RaceKind::kCellAccess,
     parts(PART { pld::tile::remote_store(ones(), w.signal, 1, {0, 1}); }, PART { wait(w); })},
    {"an add of data as a signal", 2, Rules::kSc, RaceKind::kCellAccess,
     parts(PART { pld::tile::remote_store(ones(), w.signal, 1, {0, 1}, kAdd); },
           PART { wait(w); })},
    {"a put over a row of cells", 3, Rules::kSc, RaceKind::kCellAccess,
     parts(PART { pld::tensor::put(w.signal, 2, w.data, kPlain); }, PART { notify(w, 2); },
           PART { load(w, 0); })},

    {"own put, then own store to its source", 2, Rules::kWeak, RaceKind::kSourceOverwritten,
     alone(PART { put(w, 1, 0, 1); store(w, 1, 2); })},
    {"own put, then a get over its source", 2, Rules::kWeak, RaceKind::kSourceOverwritten,
     alone(PART { put(w, 1, 0, 1); get(w, 1, 1, 2); })},
    {"a put's source overwritten by who was told", 2, Rules::kWeak, RaceKind::kSourceOverwritten,
     parts(PART { put(w, 1, 0, 1); notify(w, 1); }, PART { wait(w); remote_store(w, 0, 1); })},
    {"a put's source overwritten by who was not told", 2, Rules::kSc, RaceKind::kReadWrite,
     parts(PART { put(w, 1, 0, 1); }, PART { remote_store(w, 0, 1); }),
     RaceKind::kSourceOverwritten},

    {"a ring of puts from and to one window", 2, Rules::kSc, RaceKind::kSharedOperands,
     PART { put(w, next_rank(), 0, 0); }},
    {"the same of three ranks", 3, Rules::kSc, RaceKind::kSharedOperands,
     PART { put(w, next_rank(), 0, 0); }},
    {"a ring of gets from and to one window", 2, Rules::kSc, RaceKind::kSharedOperands,
     PART { get(w, next_rank(), 0, 0); }},
    {"a ring of puts Add from and to one window", 2, Rules::kSc, RaceKind::kSharedOperands,
     PART { put(w, next_rank(), 0, 0, kAdd); }},

    {"remote_store, then remote_load by one rank", 2, Rules::kDocumented, RaceKind::kReadWrite,
     alone(PART { remote_store(w, 1, 0); remote_load(w, 1, 0); })},
    {"remote_load, then remote_store by one rank", 2, Rules::kWeak, RaceKind::kReadWrite,
     alone(PART { remote_load(w, 1, 0); remote_store(w, 1, 0); })},
    {"remote_load of own slice, then own store", 2, Rules::kWeak, RaceKind::kReadWrite,
     alone(PART { remote_load(w, 0, 0); store(w, 0); })},
    {"consumed is told before the tile is used", 2, Rules::kWeak, RaceKind::kReadWrite,
     parts(PART { const auto tile = remote_load(w, 1, 0); notify(w, 1); pl::add(tile, 1); },
           PART { wait(w); store(w, 0); })},

    {"the first of two loads, of which the second is used", 2, Rules::kWeak, RaceKind::kReadWrite,
     parts(PART { remote_load(w, 1, 0); pl::add(remote_load(w, 1, 1), 1); notify(w, 1); },
           PART { wait(w); store(w, 0); })},

    {"the last chunk of a chunked put", 2, Rules::kA2a3, RaceKind::kReadWrite,
     parts(PART { put(w, 1, 0, 1, kPlain, 2); notify(w, 1); },
           PART { wait(w); load(w, 0, 2, 2); })},
    {"the first chunk of a chunked put", 2, Rules::kWeak, RaceKind::kReadWrite,
     parts(PART { put(w, 1, 0, 1, kPlain, 2); notify(w, 1); },
           PART { wait(w); load(w, 0, 0, 2); })},
    // Two writes of one rank to the same bytes land in order, so that what a notify waits for can
    // have waited for what it does not.
    {"a put over a part of a remote_store", 2, Rules::kWeak, RaceKind::kReadWrite,
     parts(PART { remote_store(w, 1, 0, 2); put(w, 1, 0, 1); notify(w, 1); },
           PART { wait(w); load(w, 0, 0, 8); })},
    {"a put Add to the bytes of a remote_store", 2, Rules::kWeak, RaceKind::kAtomicPlain,
     parts(PART { remote_store(w, 1, 0); put(w, 1, 0, 1, kAdd); notify(w, 1); },
           PART { wait(w); store(w, 0, 0, kAdd); })},
    {"a store over a part of a remote_store to own slice", 2, Rules::kWeak, RaceKind::kReadWrite,
     parts(PART { remote_store(w, 0, 0, 2); load(w, 7); store(w, 0); notify(w, 1); },
           PART { wait(w); remote_load(w, 0, 0, 2); })},
    {"a put beside a remote_store carries nothing", 2, Rules::kA2a3, RaceKind::kReadWrite,
     parts(PART { remote_store(w, 1, 0, 4); put(w, 1, 0, 1); notify(w, 1); },
           PART { wait(w); load(w, 0, 4); })},
    {"a remote_store that lands after a put", 2, Rules::kA2a3, RaceKind::kReadWrite,
     parts(PART { put(w, 1, 0, 1); remote_store(w, 1, 0); notify(w, 1); },
           PART { wait(w); load(w, 0); })},

    {"round 2 is sent before round 1 was read", 2, Rules::kSc, RaceKind::kReadWrite,
     parts(PART { put(w, 1, 0, 1); notify(w, 1); put(w, 1, 0, 1); notify(w, 1); },
           PART { wait(w, 1); load(w, 0); wait(w, 2); load(w, 0); }), std::nullopt, true},
    {"round 2 is sent when round 1 was read", 2, Rules::kWeak, RaceKind::kReadWrite,
     parts(PART { put(w, 1, 0, 1); notify(w, 1); wait(w); put(w, 1, 0, 1); notify(w, 1); },
           PART { wait(w, 1); load(w, 0); notify(w, 0); wait(w, 2); load(w, 0); })},
    {"no barrier before the slice is used again", 3, Rules::kSc, RaceKind::kReadWrite,
     PART { store(w, 0); pld::tensor::barrier(w.signal); remote_load(w, next_rank(), 0);
            store(w, 0); }},
};
// clang-format on

TEST_CASE("races by hand: under which models, and of which kind") {
  for (const Case& row : kCases) {
    for (const Rules rules : kAllRules) {
      INFO(std::string(row.name), " under ", std::string(model_of(rules).name));
      const RaceKind kind = rules == Rules::kWeak ? row.under_weak.value_or(row.kind) : row.kind;
      for (const Exploration& sum : explorations(model_of(rules), row.ranks, row.kernel)) {
        const bool races = rules >= row.from;
        CHECK_MESSAGE(
            (row.by_chance && races ? sum.racy > 0 : sum.racy == (races ? sum.schedules : 0)),
            "reported by ", sum.racy, " of ", sum.schedules, " schedules");
        for (const Race& race : sum.races) CHECK(race_name(race.kind) == race_name(kind));
      }
    }
  }
}

// --- No races, under any model ------------------------------------------------------------------

struct Clean {
  const char* name;
  std::int32_t ranks;
  Kernel kernel;
};

// clang-format off
const Clean kClean[] = {
    {"atomic adds of one dtype by several ranks, a notify among them", 3,
     parts(PART { store(w, 0, 0, kAdd); },
           PART { put(w, 0, 0, 1, kAdd); remote_store(w, 0, 0, 1, kAdd); },
           PART { pld::system::notify(w.data, 0, {0, 2}, 1, NotifyOp::AtomicAdd); })},
    {"FP32 adds by several ranks", 3, PART { add_float(w, 0); }},
    {"a chain of ranks that fence", 5,
     PART {
       if (my_rank() > 0) wait(w);
       pl::add(remote_load(w, 0, 0), 1); remote_store(w, 0, 0); put(w, 0, 1, 2);
       pld::system::fence();
       if (next_rank() != 0) notify(w, next_rank());
     }},
    {"elements of one cache line, a rank each", 4,
     PART { pld::tile::remote_store(ones(), w.data, 0, {0, my_rank()}); remote_load(w, 0, 1); }},
    {"everybody reads", 4, PART { remote_load(w, 0, 0); get(w, 0, 1, 0); }},
    {"phases between barriers", 3,
     PART {
       store(w, 0); pld::tensor::barrier(w.signal);
       get(w, next_rank(), 1, 0); pld::tensor::barrier(w.signal);
       put(w, next_rank(), 0, 1); pld::tensor::barrier(w.signal);
       load(w, 0);
     }},
    {"store, load", 2, alone(PART { store(w, 0); load(w, 0); load(w, 0, 1, 2); })},
    {"load, store", 2, alone(PART { load(w, 0); store(w, 0); store(w, 0, 2); })},
    {"store, store Add, load", 2,
     alone(PART { store(w, 0); store(w, 0, 2, kAdd); load(w, 0, 0, 8); })},
    {"store, put from it", 2, alone(PART { store(w, 0); put(w, 1, 1, 0); })},
    {"store, get over it, load", 2, alone(PART { store(w, 0); get(w, 1, 0, 1); load(w, 0); })},
    {"get, store over it, load", 2, alone(PART { get(w, 1, 0, 1); store(w, 0); load(w, 0); })},
    {"get, put from it", 2, alone(PART { get(w, 1, 0, 1); put(w, 1, 2, 0); })},
    {"remote_store to own slice, load", 2, alone(PART { remote_store(w, 0, 0); load(w, 0); })},
    {"store, remote_load of own slice", 2, alone(PART { store(w, 0); remote_load(w, 0, 0); })},
    {"own cell written, notified, awaited", 2,
     alone(PART { pl::write(w.signal, {0, 1}, 0); notify(w, 0); wait(w); })},
    {"remote_load, used, remote_store", 2,
     alone(PART { pl::add(remote_load(w, 1, 0), 1); remote_store(w, 1, 0); })},
    {"the second of two loads, which is used", 2,
     parts(PART { remote_load(w, 1, 0); pl::add(remote_load(w, 1, 1), 1); notify(w, 1); },
           PART { wait(w); store(w, 1); })},
    {"remote_store, fence, remote_load", 2,
     alone(PART { remote_store(w, 1, 0); pld::system::fence(); remote_load(w, 1, 0); })},
    {"several writes of one rank to the same bytes of one target", 2,
     alone(PART {
       remote_store(w, 1, 0); put(w, 1, 0, 1); remote_store(w, 1, 0, 2, kAdd);
       put(w, 1, 0, 1, kAdd); put(w, 1, 0, 1, kPlain, 1); remote_store(w, 1, 0);
     })},
    {"Set, then AtomicAdd by one rank", 2,
     parts(PART { notify(w, 1, NotifyOp::Set); notify(w, 1); }, PART { wait(w, 2); })},
    {"a ring of puts whose source and destination differ", 3, PART { put(w, next_rank(), 0, 1); }},
};
// clang-format on

TEST_CASE("no race by hand, under any model") {
  for (const Clean& row : kClean) {
    for (const Rules rules : kAllRules) {
      INFO(std::string(row.name), " under ", std::string(model_of(rules).name));
      for (const Exploration& sum : explorations(model_of(rules), row.ranks, row.kernel)) {
        for (const Race& race : sum.races) {
          FAIL_CHECK("reported: ", race_name(race.kind), ", lines ", race.first.where.line(),
                     " and ", race.second.where.line());
        }
      }
    }
  }
}

// --- What one schedule reports ------------------------------------------------------------------

struct Unordered {
  const char* name;
  std::int32_t ranks;
  std::uint64_t reports;  // pairs of lines
  std::uint64_t pairs;    // of accesses that conflict: nothing orders them
  Kernel kernel;
};

// clang-format off
const Unordered kUnordered[] = {
    {"five pairs at two lines", 2, 1, 5,
     parts(PART { for (std::int64_t i = 0; i < 5; ++i) remote_store(w, 1, i); },
           PART { for (std::int64_t i = 0; i < 5; ++i) load(w, i); })},
    {"three writers at one line", 3, 1, 3, PART { remote_store(w, 0, 0); }},
    {"two writers, two readers", 4, 2, 5,
     PART { if (my_rank() < 2) { remote_store(w, 0, 0); } else { remote_load(w, 0, 0); } }},
    {"two adds, two readers", 4, 1, 4,
     PART { if (my_rank() < 2) { put(w, 0, 0, 1, kAdd); } else { remote_load(w, 0, 0); } }},
    {"adds, of which one is FP32", 3, 1, 2,
     PART {
       if (my_rank() < 2) { remote_store(w, 0, 0, 0, kAdd); } else { add_float(w, 0); }
     }},
    {"Sets and AtomicAdds", 4, 1, 4,
     PART { notify(w, 0, my_rank() < 2 ? NotifyOp::Set : NotifyOp::AtomicAdd); }},
    {"a write, an ordered and an unordered reader", 3, 1, 1,
     parts(PART { store(w, 0); pld::system::fence(); notify(w, 1); },
           PART { wait(w); remote_load(w, 0, 0); }, PART { remote_load(w, 0, 0); })},
    {"a write, an ordered write, an unordered reader", 3, 2, 2,
     parts(PART { store(w, 0); pld::system::fence(); notify(w, 1); },
           PART { wait(w); remote_store(w, 0, 0); }, PART { remote_load(w, 0, 0); })},
    {"an INT32 add, an ordered and an unordered FP32 add", 3, 1, 1,
     parts(PART { remote_store(w, 0, 0, 0, kAdd); pld::system::fence(); notify(w, 1); },
           PART { wait(w); add_float(w, 0); }, PART { add_float(w, 0); })},
};
// clang-format on

TEST_CASE("every schedule reports every unordered pair, once a pair of lines") {
  for (const Unordered& row : kUnordered) {
    RaceProgram program(row.kernel);
    for (const Rules rules : kAllRules) {
      INFO(std::string(row.name), " under ", std::string(model_of(rules).name));
      const auto explorer = make_explorer(program, row.ranks, {.model = model_of(rules)});
      const auto random = make_random_strategy();
      std::set<std::int32_t> firsts;
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const RunResult result = explorer->run(*random, seed);
        std::uint64_t pairs = 0;
        for (const Race& race : result.races) pairs += race.count;
        CHECK(result.races.size() == row.reports);
        CHECK(pairs == row.pairs);
        if (!result.races.empty()) firsts.insert(result.races[0].first.rank);
      }
      CHECK(firsts.size() > 1);  // `first` is what took effect first
      const Exploration sum = explorer->exhaust({});
      std::uint64_t pairs = 0;
      for (const Race& race : sum.races) pairs += race.count;
      CHECK(sum.races.size() == row.reports);
      CHECK(pairs == row.pairs * sum.schedules);
    }
  }
}

// Rank 1 waits for the signal of rank 0 or 2, and overwrites what rank 0 has read before its
// signal. With S0, S2 and W for signals and wait, and an execution more where the store can come
// before the load: S0 W S2, S2 W S0 (twice), S0 S2 W, S2 S0 W; the last two are one for AtomicAdd.
TEST_CASE("Set replaces what a cell tells, AtomicAdd adds to it") {
  for (const NotifyOp op : {NotifyOp::Set, NotifyOp::AtomicAdd}) {
    RaceProgram program([&](const Windows& w) {
      if (my_rank() == 0) load(w, 0);
      if (my_rank() != 1) return notify(w, 1, op);
      wait(w);
      remote_store(w, 0, 0);
    });
    const Exploration sum = make_explorer(program, 3)->exhaust({});
    CHECK(sum.schedules == (op == NotifyOp::Set ? 5 : 4));
    CHECK(sum.racy == (op == NotifyOp::Set ? 3 : 2));
  }
}

}  // namespace
}  // namespace emu::testing
