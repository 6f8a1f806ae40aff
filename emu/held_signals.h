// The signals of a rank that wait for an earlier one of the same rank, in issue order and in
// sixteen bytes each: a barrier of a thousand ranks has a million of them, and each becomes a piece
// only when its turn has come.
#ifndef SYMRACE_EMU_HELD_SIGNALS_H_
#define SYMRACE_EMU_HELD_SIGNALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/access.h"
#include "emu/piece.h"

namespace emu {

class HeldSignals {
 public:
  bool empty() const { return front_ == signals_.size(); }
  void clear() {
    kinds_.clear();
    signals_.clear();
    front_ = 0;
  }
  void push(const Piece& piece) {
    if (empty()) {
      clear();
      first_number_ = piece.number;
    }
    if (kinds_.empty() || !is_of(kinds_.back(), piece)) {
      kinds_.push_back({piece.op, piece.notify_op, piece.value, piece.region, piece.where});
    }
    signals_.push_back(
        {static_cast<std::uint32_t>(kinds_.size() - 1), piece.target, piece.region.offset});
  }
  // Fills in what push() was given of the oldest, and drops it; the rest of `piece` is as prepared.
  void pop(Piece& piece) {
    const Signal& signal = signals_[front_];
    const Kind& kind = kinds_[signal.kind];
    piece.effect = Piece::Effect::kSignal;
    piece.release_class = ReleaseClass::kSignal;
    piece.number = first_number_ + static_cast<std::uint32_t>(front_);
    piece.op = kind.op;
    piece.notify_op = kind.notify_op;
    piece.value = kind.value;
    piece.target = signal.target;
    piece.region = kind.region;
    piece.region.offset = signal.offset;
    piece.where = kind.where;
    ++front_;
  }

 private:
  struct Kind {
    symrace::OpKind op;
    pld::NotifyOp notify_op;
    std::int32_t value;
    symrace::WindowRegion region;  // of any of them
    std::source_location where;
  };
  struct Signal {
    std::uint32_t kind;
    std::int32_t target;
    std::uint64_t offset;
  };

  static bool is_of(const Kind& kind, const Piece& piece) {
    return kind.op == piece.op && kind.notify_op == piece.notify_op && kind.value == piece.value &&
           kind.region.window == piece.region.window && same_record(kind.where, piece.where);
  }

  std::vector<Kind> kinds_;
  std::vector<Signal> signals_;
  std::size_t front_ = 0;
  std::uint32_t first_number_ = 0;  // of signals_[0]; they were issued one after the other
};

}  // namespace emu

#endif  // SYMRACE_EMU_HELD_SIGNALS_H_
