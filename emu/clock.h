// Vector clocks over the components of a run: for each rank its program, and its fabric, which
// counts apart what a notify releases, what it does not, and deferred reads.
//
// Lamport, "Time, clocks, and the ordering of events in a distributed system" (1978), and the
// epochs of Flanagan and Freund, "FastTrack" (2009). Departure: a fabric component is no thread.
// Its pieces land in any order; "time n" says that all pieces up to number n have landed, and
// single pieces beyond that are kept beside it.
//
// A clock is a row of shared blocks (emu/clock_blocks.h): a snapshot copies the row, a join takes
// over the other's block where that one knows more, and passes over blocks that are known.
#ifndef SYMRACE_EMU_CLOCK_H_
#define SYMRACE_EMU_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/clock_blocks.h"

namespace emu {

// One instant of one component.
struct Instant {
  std::int32_t rank = 0;
  Component component = Component::kProgram;
  std::uint32_t time = 0;
  friend bool operator==(const Instant&, const Instant&) = default;
};

// What an observer knows to have happened: times of every rank, and single instants beyond them.
// A view; the storage is the owner's.
struct ClockView {
  ClockBlock* const* blocks = nullptr;
  const std::vector<Instant>* beyond = nullptr;

  std::uint32_t time(std::int32_t rank, Component component) const {
    const auto index = static_cast<std::size_t>(rank);
    return blocks[index / ClockBlock::kRanks]
        ->times[index % ClockBlock::kRanks][static_cast<std::size_t>(component)];
  }
  bool covers(const Instant& instant) const {
    if (time(instant.rank, instant.component) >= instant.time) return true;
    return !beyond->empty() && has_beyond(instant);
  }

 private:
  bool has_beyond(const Instant& instant) const;
};

// The clock that a rank's program carries and joins into.
class RankClock {
 public:
  RankClock() = default;
  RankClock(const RankClock&) = delete;
  RankClock& operator=(const RankClock&) = delete;
  RankClock(RankClock&&) = default;
  RankClock& operator=(RankClock&&) = default;

  // `blocks` outlives the clock, and is the same at each call.
  void begin(std::int32_t ranks, ClockBlocks& blocks);
  ClockView view() const { return {row_.data(), &beyond_}; }
  std::uint32_t time(std::int32_t rank, Component component) const {
    return view().time(rank, component);
  }
  // `component` of `rank` is known up to `time`.
  void raise(std::int32_t rank, Component component, std::uint32_t time) {
    if (this->time(rank, component) >= time) return;
    const auto index = static_cast<std::size_t>(rank);
    own_block(index / ClockBlock::kRanks)
        .times[index % ClockBlock::kRanks][static_cast<std::size_t>(component)] = time;
  }
  void add(const Instant& instant);
  void join(const ClockView& other);
  // Drops instants that the times cover by now.
  void tidy();

 private:
  friend class ClockTable;

  bool is_wide() const { return row_.size() > 1; }
  void join_block(std::size_t index, ClockBlock& other);
  // The block at `index`, which this clock alone holds from now on.
  ClockBlock& own_block(std::size_t index) {
    ClockBlock*& block = row_[index];
    if (block->holders != 1) return copied_block(index);
    blocks_->about_to_change(block);
    return *block;
  }
  ClockBlock& copied_block(std::size_t index);

  ClockBlocks* blocks_ = nullptr;
  std::size_t width_ = 0;  // ranks of a block that exist
  std::vector<ClockBlock*> row_;
  // A block that the one of `row_` is known to cover, held so that it stays what it is: what one
  // peer has sent is mostly what the next one sends.
  std::vector<ClockBlock*> covered_;
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
  std::uint32_t snapshot(RankClock& clock);
  void hold(std::uint32_t slot) { ++holders_[slot]; }
  void drop(std::uint32_t slot) {
    if (slot != kNone && --holders_[slot] == 0) recycle(slot);
  }
  ClockView view(std::uint32_t slot) const { return {&rows_[slot * row_size_], &beyond_[slot]}; }
  ClockBlocks& blocks() { return blocks_; }
  std::size_t live_snapshots() const { return holders_.size() - free_.size(); }

 private:
  void recycle(std::uint32_t slot);

  ClockBlocks blocks_;
  std::size_t row_size_ = 0;
  std::vector<ClockBlock*> rows_;  // `row_size_` a slot
  std::vector<std::vector<Instant>> beyond_;
  std::vector<std::uint32_t> holders_;
  std::vector<std::uint32_t> free_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_CLOCK_H_
