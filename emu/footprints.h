// What each transition of a schedule touched and waited for: the material of partial-order
// reduction.
#ifndef SYMRACE_EMU_FOOTPRINTS_H_
#define SYMRACE_EMU_FOOTPRINTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "emu/access.h"
#include "emu/strategy.h"
#include "emu/transfers.h"

namespace emu {

class Footprints {
 public:
  // What a rank's step had to wait for, of the rank's own pieces.
  enum class After : std::uint8_t { kNothing, kAllPieces, kPrivateReads, kOnePiece };

  struct Step {
    Decision decision;
    std::uint32_t first_access = 0;
    std::uint32_t access_count = 0;
    std::uint32_t first_piece = 0;  // of those issued
    std::uint32_t piece_count = 0;
    After after = After::kNothing;
    std::uint32_t piece = 0;  // of kOnePiece
  };
  struct Issue {
    std::int32_t rank = 0;
    std::uint32_t number = 0;
    bool is_signal = false;
    bool is_released = false;      // by a later signal of the rank
    bool is_private_read = false;  // a deferred get into private memory
  };

  void begin() {
    steps_.clear();
    accesses_.clear();
    issues_.clear();
    stuck_.clear();
    steps_.push_back({});  // the ranks' start
  }
  void step(Decision decision) {
    steps_.push_back({decision, static_cast<std::uint32_t>(accesses_.size()), 0,
                      static_cast<std::uint32_t>(issues_.size()), 0, After::kNothing, 0});
  }
  void access(const Access& access) {
    accesses_.push_back(access);
    ++steps_.back().access_count;
  }
  void issued(const Piece& piece, bool is_released) {
    issues_.push_back({piece.rank, piece.number, piece.effect == Piece::Effect::kSignal,
                       is_released, piece.effect == Piece::Effect::kReadPrivate});
    ++steps_.back().piece_count;
  }
  void after(After what, std::uint32_t piece = 0) {
    steps_.back().after = what;
    steps_.back().piece = piece;
  }
  void stuck(const Access& wait) { stuck_.push_back(wait); }

  // steps()[0] is the ranks' start, before any decision; steps()[i] is decision i.
  const std::vector<Step>& steps() const { return steps_; }
  std::span<const Access> accesses(const Step& step) const {
    return std::span(accesses_).subspan(step.first_access, step.access_count);
  }
  std::span<const Issue> issues(const Step& step) const {
    return std::span(issues_).subspan(step.first_piece, step.piece_count);
  }
  // Waits that were not satisfied when the schedule ended.
  const std::vector<Access>& stuck() const { return stuck_; }

 private:
  std::vector<Step> steps_;
  std::vector<Access> accesses_;
  std::vector<Issue> issues_;
  std::vector<Access> stuck_;
};

// Whether two transitions of different ranks or pieces do not commute: some of their accesses
// conflict. Adds commute where their sum does not depend on their order, and a rank's view of its
// own slice does not change when its own writes land.
bool dependent(std::span<const Access> a, std::span<const Access> b);

}  // namespace emu

#endif  // SYMRACE_EMU_FOOTPRINTS_H_
