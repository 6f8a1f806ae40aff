// Strategy: picks the next transition. Everything that a run leaves open goes through it.
#ifndef SYMRACE_EMU_STRATEGY_H_
#define SYMRACE_EMU_STRATEGY_H_

#include <cstdint>
#include <vector>

namespace emu {

// A transition by its identity, which no earlier decision changes: a step of `rank`, or the
// delivery of the piece that `rank` issued as its number `piece` (from 1).
struct Decision {
  std::int32_t rank = 0;
  std::uint32_t piece = 0;  // 0: a step of the rank
  bool is_delivery() const { return piece != 0; }
  friend bool operator==(const Decision&, const Decision&) = default;
};

// What may happen next. Its order is a function of the decisions so far.
struct Transition {
  Decision decision;
  std::uint32_t slot = 0;  // the execution's own; not an identity
};

// How much there is to schedule, counted in one schedule (round-robin's first) of the program.
struct Profile {
  std::uint64_t decisions = 0;
  std::vector<std::uint32_t> steps;       // by rank
  std::vector<std::uint32_t> deliveries;  // by issuing rank
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // A strategy that wants a profile gets it once, before its first schedule.
  virtual bool wants_profile() const { return false; }
  virtual void prepare(const Profile&) {}
  // A new schedule of `ranks` ranks. The same seed gives the same choices.
  virtual void begin(std::int32_t ranks, std::uint64_t seed) = 0;
  // Index into `enabled`, which is never empty; or kGiveUp, which ends the run as an error; or
  // kAbandon, which ends it as of no interest.
  virtual std::size_t choose(const std::vector<Transition>& enabled) = 0;

  static constexpr std::size_t kGiveUp = ~std::size_t{0};
  static constexpr std::size_t kAbandon = kGiveUp - 1;
};

}  // namespace emu

#endif  // SYMRACE_EMU_STRATEGY_H_
