// The enabled transitions, dense, so that a strategy draws one in constant time. Removal swaps the
// last one in: the order is a function of the decisions so far, and of nothing else.
#ifndef SYMRACE_EMU_ENABLED_SET_H_
#define SYMRACE_EMU_ENABLED_SET_H_

#include <cstdint>
#include <vector>

#include "emu/strategy.h"

namespace emu {

class EnabledSet {
 public:
  void begin(std::int32_t ranks) {
    list_.clear();
    rank_position_.assign(static_cast<std::size_t>(ranks), kAbsent);
  }
  bool empty() const { return list_.empty(); }
  const std::vector<Transition>& list() const { return list_; }

  bool has_rank(std::int32_t rank) const { return position_of_rank(rank) != kAbsent; }
  void add_rank(std::int32_t rank) {
    rank_position_[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(list_.size());
    list_.push_back({{rank, 0}, 0});
  }
  void remove_rank(std::int32_t rank) {
    const std::uint32_t position = position_of_rank(rank);
    rank_position_[static_cast<std::size_t>(rank)] = kAbsent;
    fill_hole(position);
  }

  // `slot` is the piece's place in its pool, unique among pieces in flight.
  void add_piece(std::int32_t rank, std::uint32_t number, std::uint32_t slot) {
    if (slot >= piece_position_.size()) piece_position_.resize(slot + 1U, kAbsent);
    piece_position_[slot] = static_cast<std::uint32_t>(list_.size());
    list_.push_back({{rank, number}, slot});
  }
  void remove_piece(std::uint32_t slot) { fill_hole(piece_position_[slot]); }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  std::uint32_t position_of_rank(std::int32_t rank) const {
    return rank_position_[static_cast<std::size_t>(rank)];
  }
  void fill_hole(std::uint32_t position) {
    const Transition last = list_.back();
    list_.pop_back();
    if (position == list_.size()) return;
    list_[position] = last;
    if (last.decision.is_delivery()) {
      piece_position_[last.slot] = position;
    } else {
      rank_position_[static_cast<std::size_t>(last.decision.rank)] = position;
    }
  }

  std::vector<Transition> list_;
  std::vector<std::uint32_t> rank_position_;
  std::vector<std::uint32_t> piece_position_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_ENABLED_SET_H_
