// Every small scenario of two ops by two ranks, as data, with what the rules of the memory models
// say of it: whether the ops race, how the race is called, and why. The verdicts are written here
// from docs/memory-model.md; nothing of the race detector's code is asked for them.
#ifndef SYMRACE_TESTS_EMU_RACE_SCENARIOS_H_
#define SYMRACE_TESTS_EMU_RACE_SCENARIOS_H_

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/emu/kernel_program.h"

namespace emu::testing {

// --- What a scenario is made of -----------------------------------------------------------------

// Rank A does the first op, then its part of the synchronisation; rank B its part, then the second
// op. A third rank C owns a slice or passes a signal on, where one is needed.
enum class Role : std::uint8_t { kA, kB, kC };

// The op under test, named by its end that is under test: the other end of a put or get lies on
// bytes that nobody else touches.
enum class Op : std::uint8_t {
  kLoad,
  kStore,
  kStoreAdd,
  kRemoteLoad,
  kRemoteStore,
  kRemoteAdd,
  kRemoteAddFloat,  // through an FP32 view of the same window
  kPut,
  kPutAdd,
  kPutChunked,  // a chunk a row
  kPutSource,
  kGetSource,
  kGetDestination,
  kNotifySet,
  kNotifyAdd,
  kWait,  // for what always holds, so that it never blocks
  kTest,
};

enum class Does : std::uint8_t { kReads, kWrites, kAdds, kAddsFloat, kSets, kSignals, kLooks };

// When an op of A has taken effect, beside "at once under sc".
enum class Effect : std::uint8_t {
  kInOwnStep,     // at once, under every model
  kReadOnReturn,  // on return, under `weak` when its value is used
  kReadOnIssue,   // on issue, under `weak` when the put lands
  kLocalStore,
  kRemoteStore,
  kPut,
  kSignal,
};

struct OpInfo {
  Op op;
  const char* name;
  Does does;
  Effect effect;
  bool own_slice_only;
};
inline constexpr OpInfo kOps[] = {
    {Op::kLoad, "load", Does::kReads, Effect::kInOwnStep, true},
    {Op::kStore, "store", Does::kWrites, Effect::kLocalStore, true},
    {Op::kStoreAdd, "store Add", Does::kAdds, Effect::kLocalStore, true},
    {Op::kRemoteLoad, "remote_load", Does::kReads, Effect::kReadOnReturn, false},
    {Op::kRemoteStore, "remote_store", Does::kWrites, Effect::kRemoteStore, false},
    {Op::kRemoteAdd, "remote_store Add", Does::kAdds, Effect::kRemoteStore, false},
    {Op::kRemoteAddFloat, "remote_store Add FP32", Does::kAddsFloat, Effect::kRemoteStore, false},
    {Op::kPut, "put", Does::kWrites, Effect::kPut, false},
    {Op::kPutAdd, "put Add", Does::kAdds, Effect::kPut, false},
    {Op::kPutChunked, "chunked put", Does::kWrites, Effect::kPut, false},
    {Op::kPutSource, "put (its source)", Does::kReads, Effect::kReadOnIssue, true},
    {Op::kGetSource, "get (its source)", Does::kReads, Effect::kReadOnReturn, false},
    {Op::kGetDestination, "get (its destination)", Does::kWrites, Effect::kReadOnReturn, true},
    {Op::kNotifySet, "notify Set", Does::kSets, Effect::kSignal, false},
    {Op::kNotifyAdd, "notify AtomicAdd", Does::kSignals, Effect::kSignal, false},
    {Op::kWait, "wait", Does::kLooks, Effect::kInOwnStep, true},
    {Op::kTest, "test", Does::kLooks, Effect::kInOwnStep, true},
};
inline bool on_cell(const OpInfo& op) { return op.op >= Op::kNotifySet; }

// What a synchronisation orders before B's op: nothing, what A has completed or a notify releases,
// or everything.
enum class Orders : std::uint8_t { kNothing, kReleased, kEverything };

// What each rank does, a letter a step:
//   o: the op under test; O: the op, and a use of what it has read; f: fence; b: barrier
//   1, 2: AtomicAdd to B's cell 1, 2; s: Set of B's cell 1; c: AtomicAdd to C's cell 1
//   w, W: waits until own cell 1 is >= 1, 2; x: until own cell 2 is >= 1
//   t: tests own cell 1 for >= 1, and ends if that fails; i, I: tests for >= 1, 2, and goes on
struct Sync {
  const char* name;
  Orders orders;
  const char* reason;
  const char* a;
  const char* b;
  const char* c = "";
  // Whether it depends on the schedule that a race is there, as it does if B's look at a cell can
  // have several outcomes.
  bool by_chance = false;
  bool needs_third() const { return *c != 0 && *c != 'b'; }
};
inline constexpr Sync kSyncs[] = {
    // clang-format off
    {"nothing", Orders::kNothing, "nothing orders the ranks", "o", "o"},
    {"a signal before the op", Orders::kNothing, "the signal was sent before the op", "1o", "wo"},
    {"a signal nobody awaits", Orders::kNothing, "nobody waits for the signal", "o1", "o"},
    {"a wait on the wrong cell", Orders::kNothing, "another cell is awaited", "2o1", "xo"},
    {"a wait on a third rank", Orders::kNothing, "another rank is awaited", "o1", "xo", "2"},
    {"a fence", Orders::kNothing, "a fence tells no peer", "of", "o"},
    {"a test, ignored", Orders::kNothing, "B goes on if it fails", "o1", "io", "", true},
    {"a test that never holds", Orders::kNothing, "the test fails", "o1", "Io"},
    {"two signals, one awaited", Orders::kNothing, "the first is enough", "1o1", "wo", "", true},
    {"two ranks' signals, one awaited", Orders::kNothing, "C's is enough", "o1", "wo", "1", true},
    {"two ranks' Sets, one awaited", Orders::kNothing, "C's is enough", "os", "wo", "s", true},
    {"notify / wait", Orders::kReleased, "", "o1", "wo"},
    {"notify Set / wait", Orders::kReleased, "", "os", "wo"},
    {"notify / test that passes", Orders::kReleased, "", "o1", "to", "", true},
    {"notify, fence / wait", Orders::kReleased, "", "o1f", "wo"},
    {"notify / wait, fence", Orders::kReleased, "", "o1", "wfo"},
    {"use, notify / wait", Orders::kReleased, "", "O1", "wo"},
    {"two signals, both awaited", Orders::kReleased, "", "1o1", "Wo"},
    {"two ranks' signals, both awaited", Orders::kReleased, "", "o1", "Wo", "1"},
    {"notify / wait over C", Orders::kReleased, "", "oc", "wo", "w1"},
    {"fence, notify / wait", Orders::kEverything, "landed before the notify", "of1", "wo"},
    {"fence, notify / wait over C", Orders::kEverything, "landed before", "ofc", "wo", "w1"},
    {"barrier", Orders::kEverything, "a barrier orders everything", "ob", "bo", "b"},
    // clang-format on
};

struct Rect {
  std::int64_t row = 0, col = 0, rows = 1, cols = 1;
};
inline bool overlap(const Rect& a, const Rect& b) {
  return a.row < b.row + b.rows && b.row < a.row + a.rows && a.col < b.col + b.cols &&
         b.col < a.col + a.cols;
}

struct Relation {
  const char* name;
  Rect first, second;
};
inline constexpr Relation kDataRelations[] = {
    {"same bytes", {0, 0, 2, 4}, {0, 0, 2, 4}},
    {"partial overlap", {0, 0, 2, 4}, {1, 2, 2, 4}},
    {"part of the first row", {0, 0, 2, 8}, {0, 3, 1, 2}},
    {"disjoint", {0, 0, 2, 4}, {2, 0, 2, 4}},
    {"interleaved strides", {0, 0, 2, 4}, {0, 4, 2, 4}},
    {"two elements of one cache line", {0, 3, 1, 1}, {0, 4, 1, 1}},
};
// `second` is the cell.
inline constexpr Relation kDataAndCellRelations[] = {
    {"same bytes", {0, 0, 1, 1}, {0, 0, 1, 1}},
    {"a cell among the bytes", {0, 0, 2, 4}, {1, 2, 1, 1}},
    {"disjoint", {0, 1, 1, 1}, {0, 0, 1, 1}},
    {"a cell between the rows", {0, 0, 2, 4}, {0, 5, 1, 1}},
};
inline constexpr Relation kCellRelations[] = {
    {"same cell", {0, 0, 1, 1}, {0, 0, 1, 1}},
    {"neighbour cells", {0, 0, 1, 1}, {0, 1, 1, 1}},
};

struct Scenario {
  const OpInfo* first = nullptr;
  const OpInfo* second = nullptr;
  Role first_slice = Role::kA, second_slice = Role::kA;
  const char* relation = "";
  Rect first_rect, second_rect;
  const Sync* sync = nullptr;

  std::int32_t ranks() const {
    const bool third = first_slice == Role::kC || second_slice == Role::kC || sync->needs_third();
    return third ? 3 : 2;
  }
  std::string text() const {
    const auto slice = [](Role role) {
      return std::string(" on the slice of ") + "ABC"[static_cast<int>(role)];
    };
    return std::string("A: ") + first->name + slice(first_slice) + "; between: " + sync->name +
           "; B: " + second->name + slice(second_slice) + "; " + relation;
  }
};

// Where two ops can meet, and one way in which they cannot.
inline std::vector<std::array<Role, 2>> slices_of(const OpInfo& first, const OpInfo& second) {
  std::vector<std::array<Role, 2>> slices;
  if (!second.own_slice_only) slices.push_back({Role::kA, Role::kA});
  if (!first.own_slice_only) slices.push_back({Role::kB, Role::kB});
  if (!first.own_slice_only && !second.own_slice_only) slices.push_back({Role::kC, Role::kC});
  const bool crossed = !first.own_slice_only && !second.own_slice_only;
  slices.push_back(crossed ? std::array{Role::kB, Role::kA} : std::array{Role::kA, Role::kB});
  return slices;
}

template <class Visit>
void for_each_scenario(Visit&& visit) {
  for (const OpInfo& first : kOps) {
    for (const OpInfo& second : kOps) {
      // The table of data and cell has the cell second.
      const bool turned = on_cell(first) && !on_cell(second);
      const std::span<const Relation> relations =
          on_cell(first) && on_cell(second)   ? std::span<const Relation>(kCellRelations)
          : on_cell(first) || on_cell(second) ? std::span<const Relation>(kDataAndCellRelations)
                                              : std::span<const Relation>(kDataRelations);
      for (const auto& [first_slice, second_slice] : slices_of(first, second)) {
        for (const Relation& relation : relations) {
          for (const Sync& sync : kSyncs) {
            visit(Scenario{&first, &second, first_slice, second_slice, relation.name,
                           turned ? relation.second : relation.first,
                           turned ? relation.first : relation.second, &sync});
          }
        }
      }
    }
  }
}

// --- What the rules say -------------------------------------------------------------------------

enum class Rules : std::uint8_t { kSc, kDocumented, kA2a3, kWeak };
inline constexpr Rules kAllRules[] = {Rules::kSc, Rules::kDocumented, Rules::kA2a3, Rules::kWeak};
inline Model model_of(Rules rules) {
  switch (rules) {
    case Rules::kSc:
      return Model::sc();
    case Rules::kDocumented:
      return Model::documented();
    case Rules::kA2a3:
      return Model::a2a3();
    case Rules::kWeak:
      break;
  }
  return Model::weak();
}

struct Verdict {
  std::optional<RaceKind> race;
  const char* reason = "";
};

// Whether two ops that touch the same bytes conflict.
inline Verdict conflict_by_rules(const OpInfo& first, const OpInfo& second, Rules rules) {
  using enum Does;
  // How many of the two do one of these.
  const auto how_many = [&](auto... does) {
    return static_cast<int>(((first.does == does) || ...)) +
           static_cast<int>(((second.does == does) || ...));
  };
  const auto any = [&](auto... does) { return how_many(does...) > 0; };
  const auto both = [&](auto... does) { return how_many(does...) == 2; };
  const bool reads_late = rules == Rules::kWeak && (first.effect == Effect::kReadOnIssue ||
                                                    second.effect == Effect::kReadOnIssue);

  if (both(kReads, kLooks)) return {{}, "both read"};
  if (any(kLooks) && any(kSets, kSignals)) return {{}, "a wait and a signal synchronise"};
  if (any(kLooks)) return {RaceKind::kCellAccess, "a plain change of a cell that is awaited"};
  if (both(kSets) || both(kSignals)) return {{}, "two signals of one op"};
  if (both(kSets, kSignals)) return {RaceKind::kSetAdd, "Set and AtomicAdd on one cell"};
  if (both(kAdds, kSignals)) return {{}, "both are atomic adds of INT32"};
  if (both(kAddsFloat)) return {{}, "both are atomic adds of FP32"};
  if (both(kAdds, kAddsFloat, kSignals)) return {RaceKind::kAtomicMix, "adds of two dtypes"};
  if (any(kSets) && any(kAdds, kAddsFloat)) return {RaceKind::kAtomicMix, "Set and an add of data"};
  if (any(kSets, kSignals)) return {RaceKind::kCellAccess, "a plain access to a signalled cell"};
  if (any(kAdds, kAddsFloat)) return {RaceKind::kAtomicPlain, "an atomic add, a plain access"};
  if (reads_late) return {RaceKind::kSourceOverwritten, "a put's source is read late"};
  if (both(kWrites)) return {RaceKind::kWriteWrite, "both write"};
  return {RaceKind::kReadWrite, "one reads and one writes"};
}

struct Order {
  bool ordered = false;
  const char* reason = "";
};

// Whether the synchronisation orders A's op, or a chunk of it, before B's.
inline Order order_by_rules(const OpInfo& first, bool last_of_chunks, const Sync& sync,
                            Rules rules) {
  if (sync.orders == Orders::kNothing) return {false, sync.reason};
  if (sync.orders == Orders::kEverything) return {true, sync.reason};
  if (rules == Rules::kSc) return {true, "everything is at once under sc"};
  if (first.effect == Effect::kInOwnStep) return {true, "complete in A's own step"};
  const bool is_read =
      first.effect == Effect::kReadOnReturn || first.effect == Effect::kReadOnIssue;
  if (rules == Rules::kWeak) {
    if (first.effect == Effect::kReadOnReturn && *sync.a == 'O') {
      return {true, "A has used what it read"};
    }
    return {false, is_read ? "reads are late under weak" : "weak releases nothing"};
  }
  if (is_read) return {true, "complete on return"};
  if (rules == Rules::kDocumented) return {true, "documented releases everything"};
  if (first.effect == Effect::kRemoteStore) return {false, "a2a3 releases no remote_store"};
  if (first.effect == Effect::kSignal) return {false, "a2a3 releases no earlier notify"};
  if (last_of_chunks) return {false, "a2a3 does not release the last chunk"};
  return {true, "a2a3 releases local stores and puts"};
}

// The bytes that an op touches, in the chunks that can differ in when they land.
struct Chunk {
  Rect rect;
  bool last_of_chunks = false;
};
inline std::vector<Chunk> chunks_of(const OpInfo& op, const Rect& rect) {
  if (on_cell(op)) return {{{rect.row, rect.col, 1, 1}, false}};
  if (op.op != Op::kPutChunked || rect.rows == 1) return {{rect, false}};
  std::vector<Chunk> chunks;
  for (std::int64_t row = 0; row < rect.rows; ++row) {
    chunks.push_back({{rect.row + row, rect.col, 1, rect.cols}, row + 1 == rect.rows});
  }
  return chunks;
}

inline Verdict judge(const Scenario& scenario, Rules rules) {
  if (scenario.first_slice != scenario.second_slice) return {{}, "different slices"};
  const Verdict conflict = conflict_by_rules(*scenario.first, *scenario.second, rules);
  Verdict verdict{{}, "different bytes"};
  for (const Chunk& a : chunks_of(*scenario.first, scenario.first_rect)) {
    for (const Chunk& b : chunks_of(*scenario.second, scenario.second_rect)) {
      if (!overlap(a.rect, b.rect)) continue;
      if (!conflict.race) return conflict;
      const Order order = order_by_rules(*scenario.first, a.last_of_chunks, *scenario.sync, rules);
      if (!order.ordered) return {conflict.race, order.reason};
      verdict.reason = order.reason;
    }
  }
  return verdict;
}

// --- How a rank does it -------------------------------------------------------------------------

struct Windows {
  Data data;                             // [8, 8]; rows 0 to 3 are under test
  pld::DistributedTensor<float> floats;  // the same bytes
  Data signal;                           // [8, 8], for the synchronisation alone
};

class RaceProgram final : public symrace::Program {
 public:
  explicit RaceProgram(std::function<void(const Windows&)> kernel) : kernel_(std::move(kernel)) {}
  void orchestrate(pld::Host& host) override {
    const auto data = host.alloc_window_buffer({kRows, kCols}, pl::DType::INT32, "data");
    const auto signal = host.alloc_window_buffer({kRows, kCols}, pl::DType::INT32, "signal");
    const Windows windows{host.window<std::int32_t>(data, {kRows, kCols}),
                          host.window<float>(data, {kRows, kCols}),
                          host.window<std::int32_t>(signal, {kRows, kCols})};
    for (std::int32_t rank = 0; rank < host.world_size(); ++rank) {
      host.dispatch(
          pld::device(rank), [this](const Windows& w) { kernel_(w); }, windows);
    }
  }
  bool matches() const override { return true; }
  std::vector<symrace::Mismatch> mismatches() const override { return {}; }

 private:
  std::function<void(const Windows&)> kernel_;
};

inline constexpr std::source_location kFirstOp = std::source_location::current();
inline constexpr std::source_location kSecondOp = std::source_location::current();

// Which rank plays A, B and C.
using Cast = std::array<std::int32_t, 3>;

// Does the op at `where`, as `me`; then uses what it has read, if so told. Values stay >= 0, so
// that a wait under test always holds.
inline void perform(const OpInfo& op, Role slice, const Rect& rect, Role me, const Cast& ranks,
                    bool use, std::source_location where, const Windows& windows) {
  const auto rank_of = [&](Role role) { return ranks[static_cast<std::size_t>(role)]; };
  const Data& data = windows.data;
  const pl::Offsets at{rect.row, rect.col};
  const pl::Shape shape{rect.rows, rect.cols};
  const bool one_element = rect.rows * rect.cols == 1;
  const std::int32_t peer = rank_of(slice);
  // The end that is not under test: rows of A and of B alone, on each other's slice.
  const pl::Offsets aside{me == Role::kA ? 4 : 6, 0};
  const std::int32_t other = rank_of(me == Role::kA ? Role::kB : Role::kA);
  const auto ones = [&] { return pl::full<std::int32_t>(shape, 1); };
  const auto put = [&](std::int32_t to, pl::Offsets dst, pl::Offsets src, pld::AtomicType atomic) {
    pld::tensor::put(data, to, data, atomic,
                     {.dst_offsets = dst,
                      .src_offsets = src,
                      .shape = shape,
                      .chunk_rows = op.op == Op::kPutChunked ? 1 : 0},
                     where);
  };
  const auto get = [&](std::int32_t from, pl::Offsets dst, pl::Offsets src) {
    pld::tensor::get(data, from, data, {.dst_offsets = dst, .src_offsets = src, .shape = shape},
                     where);
    if (use) pl::load(data, dst, shape);
  };
  using enum pld::AtomicType;
  switch (op.op) {
    // clang-format off
    case Op::kLoad:
      if (one_element) { pl::read(data, at, where); } else { pl::load(data, at, shape, where); }
      break;
    case Op::kStore:
      if (one_element) { pl::write(data, at, 1, where); return; }
      pl::store(ones(), at, data, None_, where);
      break;
    case Op::kStoreAdd: pl::store(ones(), at, data, Add, where); break;
    case Op::kRemoteLoad: {
      const auto tile = pld::tile::remote_load(data, peer, at, shape, where);
      if (use) pl::add(tile, 1);
      break;
    }
    case Op::kRemoteStore: pld::tile::remote_store(ones(), data, peer, at, None_, where); break;
    case Op::kRemoteAdd: pld::tile::remote_store(ones(), data, peer, at, Add, where); break;
    case Op::kRemoteAddFloat:
      pld::tile::remote_store(pl::full<float>(shape, 1), windows.floats, peer, at, Add, where);
      break;
    case Op::kPut:
    case Op::kPutChunked: put(peer, at, aside, None_); break;
    case Op::kPutAdd: put(peer, at, aside, Add); break;
    case Op::kPutSource: put(other, aside, at, None_); break;
    case Op::kGetSource: get(peer, aside, at); break;
    case Op::kGetDestination: get(other, at, aside); break;
    case Op::kNotifySet:
      pld::system::notify(data, peer, at, 1, pld::NotifyOp::Set, where);
      break;
    case Op::kNotifyAdd:
      pld::system::notify(data, peer, at, 1, pld::NotifyOp::AtomicAdd, where);
      break;
    case Op::kWait: pld::system::wait(data, at, 0, pld::WaitCmp::Ge, where); break;
    case Op::kTest: pld::system::test(data, at, 0, pld::WaitCmp::Ge, where); break;
      // clang-format on
  }
}

// The rank's part in the scenario: the letters of its Sync.
inline void play(const Scenario& scenario, const Cast& ranks, const Windows& windows) {
  const std::int32_t me = my_rank();
  const auto role = static_cast<Role>(std::find(ranks.begin(), ranks.end(), me) - ranks.begin());
  const auto notify = [&](Role peer, std::int64_t cell, pld::NotifyOp op) {
    pld::system::notify(windows.signal, ranks[static_cast<std::size_t>(peer)], {0, cell}, 1, op);
  };
  const auto wait = [&](std::int64_t cell, std::int32_t least) {
    pld::system::wait(windows.signal, {0, cell}, least, pld::WaitCmp::Ge);
  };
  const auto test = [&](std::int32_t least) {
    return pld::system::test(windows.signal, {0, 1}, least, pld::WaitCmp::Ge);
  };
  const auto perform_own = [&](bool use) {
    const bool first = role == Role::kA;
    perform(first ? *scenario.first : *scenario.second,
            first ? scenario.first_slice : scenario.second_slice,
            first ? scenario.first_rect : scenario.second_rect, role, ranks, use,
            first ? kFirstOp : kSecondOp, windows);
  };
  const Sync& sync = *scenario.sync;
  const char* steps = role == Role::kA ? sync.a : role == Role::kB ? sync.b : sync.c;
  for (; *steps != 0; ++steps) {
    switch (*steps) {
      // clang-format off
      case 'o': perform_own(false); break;
      case 'O': perform_own(true); break;
      case 'f': pld::system::fence(); break;
      case 'b': pld::tensor::barrier(windows.signal); break;
      case '1': notify(Role::kB, 1, pld::NotifyOp::AtomicAdd); break;
      case '2': notify(Role::kB, 2, pld::NotifyOp::AtomicAdd); break;
      case 's': notify(Role::kB, 1, pld::NotifyOp::Set); break;
      case 'c': notify(Role::kC, 1, pld::NotifyOp::AtomicAdd); break;
      case 'w': wait(1, 1); break;
      case 'W': wait(1, 2); break;
      case 'x': wait(2, 1); break;
      case 't': if (!test(1)) return; break;
      case 'i': test(1); break;
      case 'I': test(2); break;
      default: FAIL("no such step: ", *steps);
        // clang-format on
    }
  }
}

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_RACE_SCENARIOS_H_
