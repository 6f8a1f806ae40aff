// Uniform: every interleaving is as likely as every other, where the counts of a profile hold and
// nothing blocks. A choice weighs as much as all that has still to follow it.
//
// Uniform random walk by event counts: Zhao et al., "Selectively uniform concurrency testing"
// (ASPLOS 2025). Departures: a delivery follows the step that issues it, so that ranks and pieces
// form a forest, in which the draw by the size of the subtree is uniform (Knuth, TAOCP 3, 5.1.4,
// exercise 20); where waits and fences order more than that, it is only near to uniform; a rank
// that outruns its count keeps a weight of 1.
#include <algorithm>

#include "core/rng.h"
#include "emu/strategies.h"

namespace emu {
namespace {

class UniformStrategy final : public Strategy {
 public:
  bool wants_profile() const override { return true; }
  void prepare(const Profile& profile) override { profile_ = profile; }

  void begin(std::int32_t ranks, std::uint64_t seed) override {
    generator_ = symrace::Xoshiro256(seed);
    left_.assign(static_cast<std::size_t>(ranks), 0);
    issued_.assign(static_cast<std::size_t>(ranks), 0);
    for (std::size_t rank = 0; rank < left_.size() && rank < profile_.steps.size(); ++rank) {
      left_[rank] = profile_.steps[rank];
    }
  }

  std::size_t choose(const std::vector<Transition>& enabled) override {
    // A piece that is seen has been issued: its rank is no longer to be weighed for it.
    for (const Transition& transition : enabled) {
      std::uint32_t& issued = issued_[static_cast<std::size_t>(transition.decision.rank)];
      if (transition.decision.piece > issued) issued = transition.decision.piece;
    }
    std::uint64_t total = 0;
    for (const Transition& transition : enabled) total += weight(transition.decision);
    std::uint64_t drawn = generator_.below(static_cast<std::uint32_t>(total));
    for (std::size_t i = 0; i < enabled.size(); ++i) {
      const std::uint64_t size = weight(enabled[i].decision);
      if (drawn >= size) {
        drawn -= size;
        continue;
      }
      if (!enabled[i].decision.is_delivery()) {
        std::uint32_t& left = left_[static_cast<std::size_t>(enabled[i].decision.rank)];
        if (left > 0) --left;
      }
      return i;
    }
    return 0;
  }

 private:
  std::uint64_t weight(Decision decision) const {
    if (decision.is_delivery()) return 1;
    const auto rank = static_cast<std::size_t>(decision.rank);
    const std::uint32_t all = rank < profile_.deliveries.size() ? profile_.deliveries[rank] : 0;
    const std::uint32_t to_come = all > issued_[rank] ? all - issued_[rank] : 0;
    return std::max<std::uint64_t>(left_[rank] + to_come, 1);
  }

  Profile profile_;
  symrace::Xoshiro256 generator_{0};
  std::vector<std::uint32_t> left_;    // steps, by rank
  std::vector<std::uint32_t> issued_;  // the latest piece seen, by rank
};

}  // namespace

std::unique_ptr<Strategy> make_uniform_strategy() { return std::make_unique<UniformStrategy>(); }

}  // namespace emu
