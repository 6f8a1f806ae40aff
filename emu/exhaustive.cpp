#include "emu/exhaustive.h"

#include <algorithm>

namespace emu {
namespace {

bool contains(const std::vector<Decision>& decisions, Decision wanted) {
  return std::find(decisions.begin(), decisions.end(), wanted) != decisions.end();
}

bool has(const std::vector<std::uint64_t>& bits, std::size_t event) {
  return (bits[event / 64] >> (event % 64) & 1U) != 0;
}

void set(std::vector<std::uint64_t>& bits, std::size_t event) {
  bits[event / 64] |= std::uint64_t{1} << (event % 64);
}

// Whether two landings of one rank have the one order that the rank gives them, commute or not.
bool forced(std::span<const Access> first, std::span<const Access> second) {
  for (const Access& a : first) {
    for (const Access& b : second) {
      if (a.target == b.target && a.lands() && b.lands() && ordered_by_rank(a, b) &&
          symrace::overlaps(a.region, b.region)) {
        return true;
      }
    }
  }
  return false;
}

// Deliveries first, so that the first execution is much as a plain simulator's.
bool goes_first(Decision a, Decision b) {
  if (a.is_delivery() != b.is_delivery()) return a.is_delivery();
  return a.rank != b.rank ? a.rank < b.rank : a.piece < b.piece;
}

}  // namespace

bool ExhaustiveStrategy::Node::was_asleep(Decision decision) const {
  return std::any_of(sleep.begin(), sleep.end(),
                     [&](const Branch* branch) { return branch->decision == decision; });
}

void ExhaustiveStrategy::restart() {
  replay_ = 0;
  ordered_ = 0;
}

ExhaustiveStrategy::Branch* ExhaustiveStrategy::new_branch() {
  if (free_branches_.empty()) return &branches_.emplace_back();
  Branch* branch = free_branches_.back();
  free_branches_.pop_back();
  return branch;
}

void ExhaustiveStrategy::begin(std::int32_t ranks, std::uint64_t) {
  used_ = 0;
  last_step_.resize(static_cast<std::size_t>(ranks));
  landings_.resize(static_cast<std::size_t>(ranks));
}

std::size_t ExhaustiveStrategy::choose(const std::vector<Transition>& enabled) {
  const std::size_t depth = used_++;
  const auto index_of = [&](Decision decision) {
    const auto found = std::find_if(enabled.begin(), enabled.end(),
                                    [&](const Transition& t) { return t.decision == decision; });
    return found == enabled.end() ? kGiveUp : static_cast<std::size_t>(found - enabled.begin());
  };
  if (depth < replay_) return index_of(nodes_[depth].chosen);

  if (depth == nodes_.size()) nodes_.emplace_back();
  Node& node = nodes_[depth];
  node.enabled.clear();
  node.sleep.clear();
  free_branches_.insert(free_branches_.end(), node.done.begin(), node.done.end());
  node.done.clear();
  node.backtrack.clear();
  for (const Transition& transition : enabled) node.enabled.push_back(transition.decision);
  if (depth > 0) fall_asleep(node, nodes_[depth - 1]);
  const Decision* best = nullptr;
  for (const Decision& decision : node.enabled) {
    if (node.was_asleep(decision)) continue;
    if (best == nullptr || goes_first(decision, *best)) best = &decision;
  }
  if (best == nullptr) {
    --used_;
    return kAbandon;
  }
  node.chosen = *best;
  node.backtrack.push_back(*best);
  return index_of(node.chosen);
}

void ExhaustiveStrategy::fall_asleep(Node& child, const Node& parent) const {
  const std::span<const Access> taken = footprints_.accesses(footprints_.steps().back());
  for (const Branch* branch : parent.sleep) {
    if (!dependent(branch->footprint, taken)) child.sleep.push_back(branch);
  }
  for (const Branch* branch : parent.done) {
    if (!dependent(branch->footprint, taken)) child.sleep.push_back(branch);
  }
}

void ExhaustiveStrategy::come_after(std::size_t earlier, Bits& before) const {
  if (earlier == 0 || has(before, earlier)) return;
  for (std::size_t word = 0; word < before_[earlier].size(); ++word) {
    before[word] |= before_[earlier][word];
  }
  set(before, earlier);
}

void ExhaustiveStrategy::order_forced(std::size_t event, const Footprints::Step& step,
                                      Bits& before) {
  const auto after = [&](std::size_t earlier) { come_after(earlier, before); };
  const auto rank = static_cast<std::size_t>(step.decision.rank);
  std::vector<Landing>& landings = landings_[rank];
  if (step.decision.is_delivery()) {
    Landing& landing = landings[step.decision.piece - 1];
    after(landing.issuer);
    if (landing.issue.is_signal) {
      for (std::uint32_t k = 0; k + 1 < step.decision.piece; ++k) {
        if (landings[k].issue.is_released) after(landings[k].event);
      }
    }
    landing.event = static_cast<std::uint32_t>(event);
    return;
  }
  after(last_step_[rank]);
  last_step_[rank] = static_cast<std::uint32_t>(event);
  if (step.after == Footprints::After::kOnePiece) {
    after(landings[step.piece - 1].event);
  } else if (step.after != Footprints::After::kNothing) {
    for (const Landing& landing : landings) {
      if (step.after == Footprints::After::kAllPieces || landing.issue.is_private_read) {
        after(landing.event);
      }
    }
  }
}

void ExhaustiveStrategy::find_races(std::size_t event, Decision decision,
                                    std::span<const Access> footprint, Bits& before) {
  if (footprint.empty()) return;
  for (std::size_t earlier = event; --earlier > 0;) {
    if (has(before, earlier)) continue;
    const std::span<const Access> other = footprints_.accesses(footprints_.steps()[earlier]);
    if (!forced(other, footprint)) {
      if (!dependent(other, footprint)) continue;
      if (could_run_before(earlier, event, footprint)) reverse(earlier, event, decision, before);
    }
    come_after(earlier, before);
  }
}

// A wait for a count of at least n, on a cell that peers only count up: without `first` and what
// comes after it, the count is at most that of all the others. What would raise it further has
// another order than in this execution, which is to be found first.
bool ExhaustiveStrategy::could_run_before(std::size_t first, std::size_t second,
                                          std::span<const Access> footprint) const {
  const Access& wait = footprint.front();
  if (wait.kind != AccessKind::kWait || wait.op == symrace::OpKind::kTest ||
      wait.cmp != pld::WaitCmp::Ge) {
    return true;
  }
  std::int64_t most = 0;
  for (std::size_t event = 1; event < second; ++event) {
    for (const Access& access : footprints_.accesses(footprints_.steps()[event])) {
      if (access.target != wait.target || !access.writes() ||
          !symrace::overlaps(access.region, wait.region)) {
        continue;
      }
      const bool own_clear = access.rank == wait.rank && !access.lands();
      if (access.kind != AccessKind::kSignalAdd || access.region.offset != wait.region.offset ||
          (access.value < 0 && !own_clear)) {
        return true;
      }
      const bool counts = event < first || (event != first && !has(before_[event], first));
      if (counts) most += access.value;
    }
  }
  return most >= wait.value;
}

void ExhaustiveStrategy::reverse(std::size_t first, std::size_t second, Decision second_decision,
                                 const Bits& before) {
  Node& node = node_before(first);
  // What could run before `first`, up to and with `second`: those not after `first`. An initial is
  // one that none of the others comes before.
  std::vector<std::size_t> others;
  Decision candidate{-1, 0};
  const auto consider = [&](Decision decision, const Bits& its_before) {
    for (const std::size_t other : others) {
      if (has(its_before, other)) return false;
    }
    if (contains(node.backtrack, decision) || node.was_asleep(decision)) return true;
    if (candidate.rank < 0 && contains(node.enabled, decision)) candidate = decision;
    return false;
  };
  for (std::size_t k = first + 1; k < second; ++k) {
    if (has(before_[k], first)) continue;
    if (consider(footprints_.steps()[k].decision, before_[k])) return;
    others.push_back(k);
  }
  if (consider(second_decision, before)) return;
  if (candidate.rank >= 0) node.backtrack.push_back(candidate);
}

void ExhaustiveStrategy::ended() {
  const std::vector<Footprints::Step>& steps = footprints_.steps();
  const std::size_t words = steps.size() / 64 + 1;
  before_.resize(std::max(before_.size(), steps.size()));
  std::fill(last_step_.begin(), last_step_.end(), 0);
  for (auto& landings : landings_) landings.clear();
  for (std::size_t event = 0; event < steps.size(); ++event) {
    const Footprints::Step& step = steps[event];
    if (event > 0) {
      Bits& before = before_[event];
      if (event > ordered_) before.clear();
      before.resize(words);
      order_forced(event, step, before);
      if (event > ordered_) {
        find_races(event, step.decision, footprints_.accesses(step), before);
      }
    }
    for (const Footprints::Issue& issue : footprints_.issues(step)) {
      landings_[static_cast<std::size_t>(issue.rank)].push_back(
          {issue, static_cast<std::uint32_t>(event), 0});
    }
  }
  for (const Access& wait : footprints_.stuck()) {
    Bits before(words, 0);
    come_after(last_step_[static_cast<std::size_t>(wait.rank)], before);
    find_races(steps.size(), {wait.rank, 0}, std::span(&wait, 1), before);
  }
}

bool ExhaustiveStrategy::next() {
  // The deepest state with something left to explore.
  for (std::size_t depth = used_; depth-- > 0;) {
    Node& node = nodes_[depth];
    const std::span<const Access> taken = footprints_.accesses(footprints_.steps()[depth + 1]);
    Branch* explored = new_branch();
    explored->decision = node.chosen;
    explored->footprint.assign(taken.begin(), taken.end());
    node.done.push_back(explored);
    for (const Decision& decision : node.backtrack) {
      const bool done = std::any_of(node.done.begin(), node.done.end(), [&](const Branch* branch) {
        return branch->decision == decision;
      });
      if (done || node.was_asleep(decision)) continue;
      node.chosen = decision;
      replay_ = depth + 1;
      ordered_ = depth;
      return true;
    }
  }
  return false;
}

ScheduleCount ExhaustiveStrategy::equivalent_schedules(std::size_t& budget) const {
  const std::size_t events = footprints_.steps().size() - 1;
  if (events > 64 || budget == 0) return {1, false};
  std::vector<std::uint64_t> before(events, 0);
  for (std::size_t i = 0; i < events; ++i) {
    for (std::size_t j = 0; j < events; ++j) {
      if (has(before_[i + 1], j + 1)) before[i] |= std::uint64_t{1} << j;
    }
  }
  return linear_extensions(before, budget);
}

}  // namespace emu
