// RaceDetector: happens-before over one schedule, and the pairs of accesses that it leaves
// unordered. docs/races.md has the rules; a race is found from any schedule in which the two
// accesses are unordered, whether or not the value read was right.
//
// What orders, beside a rank's program order:
//   - issue: what a rank knew when it issued a transfer comes before the transfer's landing;
//   - same bytes: a piece lands after the earlier pieces of its rank that it must not overtake;
//   - release: a notify lands after the rank's earlier pieces that the model says it releases;
//   - signal: a wait (or a test that passes) comes after the signals that it sees: AtomicAdd joins
//     the cell's clock, Set replaces it;
//   - fence: a rank goes on after all its pieces have landed;
//   - use: a rank goes on after a deferred read that it waits for has taken its value.
#ifndef SYMRACE_EMU_RACE_DETECTOR_H_
#define SYMRACE_EMU_RACE_DETECTOR_H_

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emu/access_sites.h"
#include "emu/clock.h"
#include "emu/model.h"
#include "emu/race.h"
#include "emu/shadow.h"
#include "emu/transfers.h"

namespace emu {

class RaceDetector {
 public:
  RaceDetector() : shadow_(clocks_) {}

  // A new schedule over slices of `bytes` bytes.
  void begin(std::int32_t ranks, const Model& model, std::uint64_t bytes);

  // An access in a rank's own step, or by a landing piece (Access::piece; `slot` is the piece's).
  void access(const Access& access, std::uint32_t slot = 0);

  // A rank's program.
  void waited(std::int32_t rank, std::uint64_t cell);  // a wait or test passed on own cell
  void fenced(std::int32_t rank);
  // A rank's step waited for its deferred read `piece`.
  void used(std::int32_t rank, std::uint32_t piece);
  void used_private_memory(std::int32_t rank);
  // A step of `rank` had to wait until its own writes to own `region` had landed, if there were.
  void own_writes_landed(std::int32_t rank, const symrace::WindowRegion& region);
  // A signal without a transfer (model `sc`).
  void signalled(std::int32_t rank, std::int32_t target, std::uint64_t cell, pld::NotifyOp op);

  // Transfers. `follows(earlier, later)`: slots of pieces of one rank that overlap, so that the
  // later lands after the earlier; called before issued(later).
  bool wants_follows() const { return wants_follows_; }
  void follows(std::uint32_t earlier, std::uint32_t later);
  void issued(const Piece& piece, std::uint32_t slot);
  // A signal that is issued, and gets its slot later, in the order of issue; not when follows() are
  // wanted.
  void held(std::int32_t rank);
  void unheld(std::int32_t rank, std::uint32_t slot);
  void landed(const Piece& piece, std::uint32_t slot);

  // Found in this schedule, in the order in which lines were found.
  const std::vector<Race>& races() const { return races_; }

  // What memory is asked to be: accesses that are kept, counted once an interval of bytes, and
  // clocks. Neither grows with the length of a run whose bytes are used over and over.
  std::size_t kept_accesses() const { return shadow_.entries(); }
  std::size_t kept_clocks() const { return clocks_.live_snapshots(); }

 private:
  // A piece in flight, by its slot.
  struct Flight {
    Instant instant;
    std::uint32_t snapshot = ClockTable::kNone;  // what its rank knew when it issued it
    std::uint32_t released = 0;                  // a signal: pieces that have landed before it
    std::uint32_t carried_count = 0;             // a signal: of Rank::carried, likewise
  };
  // A landed write to the rank's own slice that only some later step knows of.
  struct OwnWrite {
    symrace::WindowRegion region;
    Instant instant;
    std::vector<Instant> carried;
  };
  // A piece that has landed since the rank's last fence: what touches its bytes from now on follows
  // it all the same.
  struct Landed {
    Piece piece;
    Instant instant;
    std::vector<Instant> carried;
  };
  struct DeferredRead {
    std::uint32_t piece = 0;
    Instant instant;
    std::vector<Instant> carried;
  };
  // Held signals, issued one after the other with the same knowledge.
  struct Held {
    std::uint32_t snapshot = ClockTable::kNone;
    std::uint32_t first_time = 0;
    std::uint32_t count = 0;
  };
  struct Rank {
    RankClock clock;
    std::uint32_t snapshot = ClockTable::kNone;  // of `clock`; kNone: it has changed since
    // Since a new time began. What a snapshot told is then told by its time in its own rank's
    // program: whoever knows that time knows the whole snapshot.
    bool sent = false;
    std::array<std::uint32_t, kComponents> issued{};
    std::vector<Instant> carried;             // by released pieces: a later signal is after them
    std::vector<DeferredRead> private_reads;  // landed deferred gets into private memory
    std::vector<OwnWrite> own_writes;
    std::vector<Landed> landed;
    std::vector<DeferredRead> reads;  // in the order of issue
    std::vector<Held> held;           // likewise, from held_front on
    std::size_t held_front = 0;
  };

  const std::vector<Instant>& carried_of(std::uint32_t slot) const {
    return slot < carried_.size() ? carried_[slot] : nothing_;
  }
  void follow(const Instant& instant, const std::vector<Instant>& before, std::uint32_t later);
  Rank& rank_of(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  // To be called before the clock of a rank's program changes.
  void changes(Rank& self, std::int32_t rank) {
    clocks_.drop(self.snapshot);
    self.snapshot = ClockTable::kNone;
    if (self.sent) begin_time(self, rank);
  }
  void begin_time(Rank& self, std::int32_t rank) {
    self.sent = false;
    self.clock.raise(rank, Component::kProgram, self.clock.time(rank, Component::kProgram) + 1);
  }
  std::uint32_t snapshot_of(Rank& rank);
  // What a rank knows of its own piece.
  void learn(Rank& self, const Instant& instant, const std::vector<Instant>& carried);
  void signal(ShadowState& state, const CellClock& sent, std::span<const Instant> carried,
              pld::NotifyOp op);
  // Joins what a wait that sees `cell` comes after.
  void join(RankClock& clock, const CellClock& cell) const;
  // The access that an entry in `target`'s slice stands for.
  Access expanded(const ShadowEntry& entry, std::int32_t target) const;
  void report(const ShadowEntry& first, const Access& second);
  // What comes before an access: `clock`, and single instants of its own rank's pieces.
  struct Known {
    ClockView clock;
    std::span<const Instant> carried;
    bool covers(const Instant& instant) const;
  };
  void visit(ShadowState& state, const Access& access, const ShadowEntry& entry,
             const Known& known);

  Model model_;
  bool wants_follows_ = false;
  ClockTable clocks_;
  Shadow shadow_;
  std::vector<Rank> ranks_;
  ChunkedPool<Flight> flights_;
  // By a piece's slot, the pieces that have landed before it since they overlap it; as far as any.
  ChunkedPool<std::vector<Instant>> carried_;
  const std::vector<Instant> nothing_;
  AccessSites sites_;
  std::uint32_t steps_ = 0;  // accesses of programs' own steps
  std::vector<Race> races_;
  std::vector<ShadowEntry> reported_;  // against the latest access
  RankClock scratch_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_RACE_DETECTOR_H_
