// Each synchronisation of a collective is there for a reason: left out on every rank, some schedule
// of some model races, gets stuck, or has a wrong result.
#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "emu/explore.h"
#include "emu/strategies.h"
#include "kernels/programs.h"
#include "tests/emu/collective_case.h"
#include "tests/emu/kernel_program.h"
#include "tests/emu/leaving_out.h"

namespace emu::testing {
namespace {

using Sync = LeavingOut::Sync;

const Model kModels[] = {Model::documented(), Model::a2a3(), Model::weak()};

// What is left out, on every rank.
struct Mutation {
  std::set<std::size_t> numbers = {};  // of a rank's synchronisations
  std::set<std::tuple<symrace::OpKind, std::uint32_t, std::uint64_t>> places = {};
  bool whole_barriers = false;

  static bool chooses(const void* mutation, std::size_t number, const Sync& sync) {
    const auto& self = *static_cast<const Mutation*>(mutation);
    return self.numbers.count(number) != 0 ||
           self.places.count({sync.kind, sync.line, sync.offset}) != 0;
  }
};

// Runs `kernel` with the rank's fabric behind one that leaves out.
void run_mutated(const Mutation& mutation, std::vector<Sync>* seen,
                 const std::function<void()>& kernel) {
  symrace::RankContext& context = symrace::current_rank({});
  struct Installed {
    symrace::RankContext& context;
    symrace::Fabric* before;
    ~Installed() { context.fabric = before; }
  } installed{context, context.fabric};
  LeavingOut fabric(*context.fabric, &Mutation::chooses, &mutation,
                    context.rank == 0 ? seen : nullptr);
  fabric.leaves_out_whole_barriers = mutation.whole_barriers;
  context.fabric = &fabric;
  kernel();
}

// Whether some schedule fails, with what `models` may do.
bool is_noticed(symrace::Program& program, std::int32_t ranks) {
  for (const Model& model : kModels) {
    const auto explorer = make_explorer(program, ranks, {.model = model, .max_steps = 100000});
    const auto strategy = make_random_strategy();
    const Exploration sum = explorer->explore(*strategy, {0, 300, true});
    if (sum.failed != 0) return true;
  }
  return false;
}

bool passes(symrace::Program& program, std::int32_t ranks, const Model& model,
            std::uint64_t schedules) {
  const auto explorer = make_explorer(program, ranks, {.model = model});
  const auto strategy = make_random_strategy();
  const Exploration sum = explorer->explore(*strategy, {0, schedules});
  return sum.failed == 0 && sum.schedules == schedules;
}

std::string text(const Sync& sync) {
  return std::string(symrace::op_name(sync.kind)) + " of line " + std::to_string(sync.line) +
         ", cell at " + std::to_string(sync.offset);
}

TEST_CASE("built-in collectives: each fence, notify and wait is needed, and each whole barrier") {
  constexpr std::int32_t kRanks = 3;
  std::size_t mutations = 0;
  for (const Collective collective : kAllCollectives) {
    const std::size_t calls = collective == Collective::kBarrier ? 3 : 2;
    Mutation mutation;
    std::vector<Sync> seen;
    std::vector<Sync>* collects = &seen;
    CollectiveCase arguments{.ranks = kRanks,
                             .rows = 1,
                             .cols = 6,
                             .dtype = pl::DType::INT32,
                             .calls = std::vector<Collective>(calls, collective)};
    arguments.around = [&](const auto& kernel) { run_mutated(mutation, collects, kernel); };
    const auto program = make_collective_program(arguments);
    for (const Model& model : kModels) {
      CHECK_MESSAGE(passes(*program, kRanks, model, 1), name_of(collective), " ", model.name);
      if (collects != nullptr) collects = nullptr;
    }
    // The last barrier is the test's own.
    constexpr std::size_t kBarrierSyncs = 1 + 2 * (kRanks - 1);
    REQUIRE(seen.size() > kBarrierSyncs);
    const std::size_t total = seen.size() - kBarrierSyncs;
    // A line that is missing is missing in every call. A barrier is a call of its own.
    const std::size_t a_call = collective == Collective::kBarrier ? kBarrierSyncs : total / calls;
    REQUIRE(total % a_call == 0);
    const auto in_all_calls = [&](std::size_t first, std::size_t count) {
      std::set<std::size_t> numbers;
      for (std::size_t call = 0; call * a_call < total; ++call) {
        for (std::size_t i = 0; i < count; ++i) numbers.insert(call * a_call + first + i);
      }
      return numbers;
    };
    for (std::size_t i = 0; i < a_call; ++i, ++mutations) {
      mutation = {.numbers = in_all_calls(i, 1)};
      CHECK_MESSAGE(is_noticed(*program, kRanks), name_of(collective), ": without number ", i,
                    ", the ", text(seen[i]), ", nothing fails");
    }
    if (collective == Collective::kRing) continue;  // it has none
    for (std::size_t i = 0; i < a_call; ++i) {
      if (seen[i].kind != symrace::OpKind::kNotify || seen[i].is_set) continue;
      const bool fences = i > 0 && seen[i - 1].kind == symrace::OpKind::kFence;
      const std::size_t begin = fences ? i - 1 : i;
      mutation = {.numbers = in_all_calls(begin, (fences ? 1 : 0) + 2 * (kRanks - 1)),
                  .whole_barriers = true};
      CHECK_MESSAGE(is_noticed(*program, kRanks), name_of(collective),
                    ": without the barrier at number ", begin, ", nothing fails");
      ++mutations;
      i += 2 * (kRanks - 1) - 1;
    }
    mutation = {};
    CHECK(passes(*program, kRanks, Model::documented(), 20));
  }
  CHECK(mutations > 100);
}

// A program whose kernels run behind a fabric that leaves out.
class MutatedProgram final : public symrace::Program {
 public:
  MutatedProgram(symrace::Program& program, const Mutation& mutation)
      : program_(program), mutation_(mutation) {}

  void orchestrate(pld::Host& host) override {
    program_.orchestrate(host);
    kernels_.clear();
    for (std::int32_t r = 0; r < host.world_size(); ++r) {
      symrace::Task& inner = kernels_.emplace_back();
      inner.take(host.task(r));
      host.task(r).assign(
          [this](symrace::Task* task) { run_mutated(mutation_, seen, [&] { task->run(); }); },
          &inner);
    }
  }
  bool matches() const override { return program_.matches(); }
  std::vector<symrace::Mismatch> mismatches() const override { return program_.mismatches(); }

  std::vector<Sync>* seen = nullptr;

 private:
  symrace::Program& program_;
  const Mutation& mutation_;
  std::deque<symrace::Task> kernels_;
};

struct ByHand {
  const char* program;
  std::int64_t size = 0;       // 0: the program's own
  const char* flag = nullptr;  // set to "true"
};

TEST_CASE("collectives by hand: each fence, notify and wait of their source is needed") {
  constexpr std::int32_t kRanks = 3;
  // 13 and 15 push a row that does not fit the on-core buffer in chunks, and fence.
  const ByHand programs[] = {
      {"08_allreduce_mesh"},    {"09_allreduce_two_phase"}, {"10_allreduce_ring"},
      {"12_broadcast"},         {"13_allgather"},           {"13_allgather", 50000},
      {"14_reduce_scatter"},    {"15_all_to_all"},          {"15_all_to_all", 0, "counts"},
      {"15_all_to_all", 50000}, {"17_moe_dispatch_combine"}};
  for (const ByHand& by_hand : programs) {
    const symrace::ProgramInfo* info = kernels::find_program(by_hand.program);
    REQUIRE(info != nullptr);
    symrace::Arguments arguments = symrace::default_arguments(*info, kRanks);
    if (by_hand.size != 0) arguments.size = by_hand.size;
    if (by_hand.flag != nullptr) arguments.flags[by_hand.flag] = "true";
    const auto inner = info->make(arguments);
    REQUIRE(inner.ok());
    Mutation mutation;
    MutatedProgram program(**inner, mutation);
    std::vector<Sync> seen;
    program.seen = &seen;
    CHECK(passes(program, kRanks, Model::documented(), 1));
    program.seen = nullptr;
    CHECK(passes(program, kRanks, Model::a2a3(), 20));
    std::set<std::tuple<symrace::OpKind, std::uint32_t, std::uint64_t>> places = {};
    for (const Sync& sync : seen) places.insert({sync.kind, sync.line, sync.offset});
    REQUIRE(!places.empty());
    for (const auto& place : places) {
      mutation.places = {place};
      const Sync sync{std::get<0>(place), std::get<1>(place), std::get<2>(place)};
      CHECK_MESSAGE(is_noticed(program, kRanks), by_hand.program, ": without the ", text(sync),
                    ", nothing fails");
    }
  }
}

}  // namespace
}  // namespace emu::testing
