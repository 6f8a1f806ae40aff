// Ranks and their fabrics take turns: rank 0, fabric 0, rank 1, fabric 1, ... Each turn is one
// transition; whoever has none enabled is passed over, and a fabric delivers its oldest piece
// first.
#include "emu/strategies.h"

namespace emu {
namespace {

class RoundRobinStrategy final : public Strategy {
 public:
  void begin(std::int32_t ranks, std::uint64_t seed) override {
    turns_ = 2 * static_cast<std::uint64_t>(ranks);
    turn_ = seed % turns_;  // the seed is who begins
  }
  std::size_t choose(const std::vector<Transition>& enabled) override {
    std::size_t best = 0;
    std::uint64_t best_distance = turns_;
    for (std::size_t i = 0; i < enabled.size(); ++i) {
      const Decision& decision = enabled[i].decision;
      const std::uint64_t seat =
          2 * static_cast<std::uint64_t>(decision.rank) + (decision.is_delivery() ? 1 : 0);
      const std::uint64_t distance = (seat + turns_ - turn_) % turns_;
      if (distance < best_distance ||
          (distance == best_distance && decision.piece < enabled[best].decision.piece)) {
        best = i;
        best_distance = distance;
      }
    }
    turn_ = (turn_ + best_distance + 1) % turns_;
    return best;
  }

 private:
  std::uint64_t turns_ = 2;
  std::uint64_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_round_robin_strategy() {
  return std::make_unique<RoundRobinStrategy>();
}

}  // namespace emu
