// Exhaustive: visits one execution of every equivalence class (Mazurkiewicz trace) of a program,
// and no class twice. Rank steps and deliveries are the transitions.
//
// Source sets and sleep sets: Abdulla, Aronis, Jonsson and Sagonas, "Source sets: a foundation for
// optimal dynamic partial order reduction" (JACM 2017); sleep sets: Godefroid (1996). Departures:
//   - a piece in flight is a process of one event, which its issue creates; store buffers of
//   Abdulla
//     et al., "Stateless model checking for TSO and PSO" (2015), are the nearest kin;
//   - a wait is a transition that its cell enables. One that is not enabled when an execution ends
//   is
//     treated as if it came last: its conflicts may have orders in which it would have run;
//   - edges that no schedule can turn round (issue before landing, release, fence) order, but are
//   no
//     races, so that nothing is tried that cannot be.
// The number of complete executions is exact whatever is tried in vain: what only sleeping
// transitions could continue is given up, and counted apart.
#ifndef SYMRACE_EMU_EXHAUSTIVE_H_
#define SYMRACE_EMU_EXHAUSTIVE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "emu/footprints.h"
#include "emu/linear_extensions.h"
#include "emu/strategy.h"

namespace emu {

class ExhaustiveStrategy final : public Strategy {
 public:
  explicit ExhaustiveStrategy(Footprints& footprints) : footprints_(footprints) {}

  // Forgets all executions: the next schedule is the first of another exploration.
  void restart();

  void begin(std::int32_t ranks, std::uint64_t seed) override;
  std::size_t choose(const std::vector<Transition>& enabled) override;

  // To be called after each schedule, whose footprints are those given to the constructor.
  void ended();
  // How many schedules that execution stands for; `budget` as of linear_extensions().
  ScheduleCount equivalent_schedules(std::size_t& budget) const;
  // Sets out for the next execution; false when all have been visited.
  bool next();

 private:
  struct Branch {
    Decision decision;
    std::vector<Access> footprint;
  };
  // The state before a decision.
  struct Node {
    std::vector<Decision> enabled;
    std::vector<const Branch*> sleep;  // explored before, and independent of all since
    std::vector<Branch*> done;         // explored from here
    std::vector<Decision> backtrack;   // to be explored from here, the present one included
    Decision chosen;
    bool was_asleep(Decision decision) const;
  };
  using Bits = std::vector<std::uint64_t>;

  Node& node_before(std::size_t event) { return nodes_[event - 1]; }
  void fall_asleep(Node& child, const Node& parent) const;
  // Adds `earlier` and all before it to `before`; 0, the ranks' start, comes before all anyway.
  void come_after(std::size_t earlier, Bits& before) const;
  // All that come before `event` in any schedule, but for what its accesses conflict with.
  void order_forced(std::size_t event, const Footprints::Step& step, Bits& before);
  // Races of an event with those before it; adds what conflicts to `before`.
  void find_races(std::size_t event, Decision decision, std::span<const Access> footprint,
                  Bits& before);
  // False when `second`, a wait that `first` has counted up for, could not run before it, whatever
  // else of this execution did.
  bool could_run_before(std::size_t first, std::size_t second,
                        std::span<const Access> footprint) const;
  void reverse(std::size_t first, std::size_t second, Decision second_decision, const Bits& before);

  Branch* new_branch();

  Footprints& footprints_;
  std::deque<Branch> branches_;  // all there ever were; addresses are kept
  std::vector<Branch*> free_branches_;
  std::deque<Node> nodes_;
  std::size_t used_ = 0;     // nodes of the schedule that runs
  std::size_t replay_ = 0;   // decisions to repeat, the new branch included
  std::size_t ordered_ = 0;  // events whose order is known from the schedule before

  // Of the schedule that has ended, by event (1 for the first decision).
  std::vector<Bits> before_;
  std::vector<std::uint32_t> last_step_;  // by rank
  struct Landing {
    Footprints::Issue issue;
    std::uint32_t issuer = 0;
    std::uint32_t event = 0;  // 0: has not landed
  };
  std::vector<std::vector<Landing>> landings_;  // by rank and piece number - 1
};

}  // namespace emu

#endif  // SYMRACE_EMU_EXHAUSTIVE_H_
