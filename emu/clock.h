// Vector clocks over the components of a run: for each rank its program, and its fabric, which
// counts apart what a notify releases, what it does not, and deferred reads.
//
// Lamport, "Time, clocks, and the ordering of events in a distributed system" (1978), and the
// epochs of Flanagan and Freund, "FastTrack" (2009). Departure: a fabric component is no thread.
// Its pieces land in any order; "time n" says that all pieces up to number n have landed, and
// single pieces beyond that are kept beside it.
#ifndef SYMRACE_EMU_CLOCK_H_
#define SYMRACE_EMU_CLOCK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

enum class Component : std::uint8_t {
  kProgram,     // the rank's own steps
  kReleased,    // pieces that a later notify of the rank waits for
  kUnreleased,  // pieces that only a fence waits for
  kReads,       // deferred reads, which their first use waits for
};
inline constexpr std::size_t kComponents = 4;

// One instant of one component.
struct Instant {
  std::int32_t rank = 0;
  Component component = Component::kProgram;
  std::uint32_t time = 0;
  friend bool operator==(const Instant&, const Instant&) = default;
};

using RankTimes = std::array<std::uint32_t, kComponents>;

// What an observer knows to have happened: times of every rank, and single instants beyond them.
// A view; the storage is the owner's.
struct ClockView {
  const RankTimes* times = nullptr;
  const std::vector<Instant>* beyond = nullptr;

  bool covers(const Instant& instant) const {
    const auto rank = static_cast<std::size_t>(instant.rank);
    if (times[rank][static_cast<std::size_t>(instant.component)] >= instant.time) return true;
    return !beyond->empty() && has_beyond(instant);
  }

 private:
  bool has_beyond(const Instant& instant) const;
};

// The clock that a rank's program carries and joins into.
class RankClock {
 public:
  void begin(std::int32_t ranks) {
    times_.assign(static_cast<std::size_t>(ranks), RankTimes{});
    beyond_.clear();
  }
  ClockView view() const { return {times_.data(), &beyond_}; }
  std::uint32_t time(std::int32_t rank, Component component) const {
    return times_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(component)];
  }
  // `component` of `rank` is known up to `time`.
  void raise(std::int32_t rank, Component component, std::uint32_t time) {
    std::uint32_t& known =
        times_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(component)];
    if (known < time) known = time;
  }
  void add(const Instant& instant);
  void join(const ClockView& other);
  // Drops instants that the times cover by now.
  void tidy();

 private:
  std::vector<RankTimes> times_;
  std::vector<Instant> beyond_;
};

// Snapshots of clocks, shared by reference count: a rank that sends many transfers between two
// events shares one.
class ClockTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Forgets all snapshots.
  void begin(std::int32_t ranks);
  // A copy of `clock`, held once.
  std::uint32_t snapshot(const ClockView& clock);
  void hold(std::uint32_t slot) { ++holders_[slot]; }
  void drop(std::uint32_t slot) {
    if (slot != kNone && --holders_[slot] == 0) free_.push_back(slot);
  }
  ClockView view(std::uint32_t slot) const {
    return {times_.data() + slot * static_cast<std::size_t>(ranks_), &beyond_[slot]};
  }

 private:
  std::int32_t ranks_ = 0;
  std::vector<RankTimes> times_;  // `ranks_` a slot
  std::vector<std::vector<Instant>> beyond_;
  std::vector<std::uint32_t> holders_;
  std::vector<std::uint32_t> free_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_CLOCK_H_
