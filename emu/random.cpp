// A uniform draw among the enabled transitions, again and again: the plain random walk.
#include "core/rng.h"
#include "emu/strategies.h"

namespace emu {
namespace {

class RandomStrategy final : public Strategy {
 public:
  void begin(std::int32_t, std::uint64_t seed) override { generator_ = symrace::Xoshiro256(seed); }
  std::size_t choose(const std::vector<Transition>& enabled) override {
    return generator_.below(static_cast<std::uint32_t>(enabled.size()));
  }

 private:
  symrace::Xoshiro256 generator_{0};
};

}  // namespace

std::unique_ptr<Strategy> make_random_strategy() { return std::make_unique<RandomStrategy>(); }

}  // namespace emu
