// The signals of a rank that wait for an earlier one of the same rank, in issue order and in
// sixteen bytes each: a barrier of a thousand ranks has a million of them, and each becomes a piece
// only when its turn has come.
#ifndef SYMRACE_EMU_HELD_SIGNALS_H_
#define SYMRACE_EMU_HELD_SIGNALS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "emu/access.h"
#include "emu/chunked_pool.h"
#include "emu/piece.h"

namespace emu {

// Memory for them, of all ranks: what one has used the next uses again.
class SignalChunks {
 public:
  struct Signal {
    std::uint32_t kind;
    std::int32_t target;
    std::uint64_t offset;
  };
  struct Chunk {
    static constexpr std::uint32_t kSignals = 31;

    std::array<Signal, kSignals> signals;
    Chunk* next = nullptr;
  };

  Chunk* take() {
    Chunk* chunk = free_;
    if (chunk == nullptr) {
      pool_.grow_to(pool_.size() + 1);
      return &pool_[pool_.size() - 1];
    }
    free_ = chunk->next;
    chunk->next = nullptr;
    return chunk;
  }
  void give_back(Chunk* chunk) {
    chunk->next = free_;
    free_ = chunk;
  }

 private:
  ChunkedPool<Chunk> pool_;
  Chunk* free_ = nullptr;
};

class HeldSignals {
 public:
  bool empty() const { return first_ == nullptr; }
  void clear(SignalChunks& chunks) {
    while (!empty()) drop_first(chunks);
    kinds_.clear();
  }
  void push(const Piece& piece, SignalChunks& chunks) {
    if (empty()) {
      kinds_.clear();
      front_ = 0;
      back_ = Chunk::kSignals;
      next_number_ = piece.number;
    }
    if (back_ == Chunk::kSignals) {
      Chunk* const chunk = chunks.take();
      (empty() ? first_ : last_->next) = chunk;
      last_ = chunk;
      back_ = 0;
    }
    if (kinds_.empty() || !is_of(kinds_.back(), piece)) {
      kinds_.push_back({piece.op, piece.notify_op, piece.value, piece.region, piece.where});
    }
    last_->signals[back_++] = {static_cast<std::uint32_t>(kinds_.size() - 1), piece.target,
                               piece.region.offset};
  }
  // Fills in what push() was given of the oldest, and drops it; the rest of `piece` is as prepared.
  void pop(Piece& piece, SignalChunks& chunks) {
    const SignalChunks::Signal& signal = first_->signals[front_];
    const Kind& kind = kinds_[signal.kind];
    piece.effect = Piece::Effect::kSignal;
    piece.release_class = ReleaseClass::kSignal;
    piece.number = next_number_++;
    piece.op = kind.op;
    piece.notify_op = kind.notify_op;
    piece.value = kind.value;
    piece.target = signal.target;
    piece.region = kind.region;
    piece.region.offset = signal.offset;
    piece.where = kind.where;
    if (++front_ == (first_ == last_ ? back_ : Chunk::kSignals)) drop_first(chunks);
  }

 private:
  using Chunk = SignalChunks::Chunk;

  struct Kind {
    symrace::OpKind op;
    pld::NotifyOp notify_op;
    std::int32_t value;
    symrace::WindowRegion region;  // of any of them
    std::source_location where;
  };

  static bool is_of(const Kind& kind, const Piece& piece) {
    return kind.op == piece.op && kind.notify_op == piece.notify_op && kind.value == piece.value &&
           kind.region.window == piece.region.window && same_record(kind.where, piece.where);
  }
  void drop_first(SignalChunks& chunks) {
    Chunk* const next = first_->next;
    chunks.give_back(first_);
    first_ = next;
    front_ = 0;
  }

  std::vector<Kind> kinds_;
  Chunk* first_ = nullptr;  // null: there are none
  Chunk* last_ = nullptr;
  std::uint32_t front_ = 0;        // of the first chunk: the oldest
  std::uint32_t back_ = 0;         // of the last: behind the newest
  std::uint32_t next_number_ = 0;  // of the oldest; they were issued one after the other
};

}  // namespace emu

#endif  // SYMRACE_EMU_HELD_SIGNALS_H_
