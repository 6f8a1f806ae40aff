// PCT: priorities drawn at random, and D-1 points at which the running one falls below all others.
// Finds a bug of depth D with a probability of at least 1 / (n k^(D-1)), for n processes and k
// decisions.
//
// Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic
// guarantees of finding bugs" (ASPLOS 2010). Departures: a piece in flight is a process of its own,
// so that n counts the ranks and the pieces; k is the profile's; priorities are a hash of seed and
// process, drawn when a piece comes up, and points may coincide.
#include <algorithm>

#include "core/rng.h"
#include "emu/strategies.h"

namespace emu {
namespace {

class PctStrategy final : public Strategy {
 public:
  explicit PctStrategy(std::uint32_t depth) : points_(depth - 1) {}

  bool wants_profile() const override { return true; }
  void prepare(const Profile& profile) override {
    decisions_ = std::max<std::uint64_t>(profile.decisions, 1);
  }

  void begin(std::int32_t, std::uint64_t seed) override {
    symrace::Xoshiro256 generator(seed);
    salt_ = generator.next();
    for (std::uint64_t& point : points_) {
      point = generator.below(
          static_cast<std::uint32_t>(std::min<std::uint64_t>(decisions_, 0xffffffff)));
    }
    lowered_.clear();
    decision_ = 0;
  }

  std::size_t choose(const std::vector<Transition>& enabled) override {
    std::size_t best = highest(enabled);
    // At a point, whoever would run falls below all that fell before, and another runs.
    for (const std::uint64_t point : points_) {
      if (point != decision_) continue;
      lowered_.push_back(enabled[best].decision);
      best = highest(enabled);
    }
    ++decision_;
    return best;
  }

 private:
  // Of the latest lowering: the later, the lower; all are below kDrawn.
  std::uint64_t priority(Decision decision) const {
    constexpr std::uint64_t kDrawn = std::uint64_t{1} << 63;
    for (std::size_t i = lowered_.size(); i-- > 0;) {
      if (lowered_[i] == decision) return points_.size() - i;
    }
    const std::uint64_t process = static_cast<std::uint64_t>(decision.rank) << 32 | decision.piece;
    return symrace::SplitMix64(salt_ ^ (process * 0x9e3779b97f4a7c15ULL)).next() | kDrawn;
  }
  std::size_t highest(const std::vector<Transition>& enabled) const {
    std::size_t best = 0;
    std::uint64_t best_priority = priority(enabled[0].decision);
    for (std::size_t i = 1; i < enabled.size(); ++i) {
      const std::uint64_t candidate = priority(enabled[i].decision);
      if (candidate > best_priority) {
        best = i;
        best_priority = candidate;
      }
    }
    return best;
  }

  std::uint64_t decisions_ = 1;
  std::vector<std::uint64_t> points_;
  std::uint64_t salt_ = 0;
  std::vector<Decision> lowered_;
  std::uint64_t decision_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_pct_strategy(std::uint32_t depth) {
  return std::make_unique<PctStrategy>(depth);
}

}  // namespace emu
