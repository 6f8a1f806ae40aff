// A piece of a transfer in flight: what lands by one transition.
#ifndef SYMRACE_EMU_PIECE_H_
#define SYMRACE_EMU_PIECE_H_

#include <cstdint>
#include <source_location>

#include "core/fabric.h"
#include "core/region.h"
#include "core/tile_pool.h"
#include "emu/model.h"

namespace emu {

// Laid out so that a signal touches little more than the first two cache lines, and small: a
// barrier of a thousand ranks has a million in flight.
struct alignas(64) Piece {
  enum class Effect : std::uint8_t {
    kWrite,        // `memory` (or, when late, own()) → `region` of target
    kSignal,       // `value` → the cell at `region.offset` of target
    kReadTile,     // `region` of target → `memory`, in `tile`
    kReadWindow,   // `region` of target → own() of rank
    kReadPrivate,  // `region` of target → `memory`
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Effect effect = Effect::kWrite;
  ReleaseClass release_class = ReleaseClass::kLocalStore;
  symrace::OpKind op = symrace::OpKind::kStore;
  pld::AtomicType atomic = pld::AtomicType::None_;
  pld::NotifyOp notify_op = pld::NotifyOp::AtomicAdd;
  bool reads_own_slice = false;  // kWrite: the source is own(), read on landing
  bool releasable = false;       // kept by Transfers, as the next seven
  std::uint32_t number = 0;      // issue order within its rank, from 1
  std::uint32_t blockers = 0;
  std::uint32_t first_edge = kNone;
  std::uint32_t next = kNone, previous = kNone;                        // in flight of its rank
  std::uint32_t next_releasable = kNone, previous_releasable = kNone;  // those a notify waits for
  std::int32_t rank = 0;                                               // who issued it
  std::int32_t target = 0;
  std::int32_t value = 0;
  symrace::WindowRegion region;  // in target's slice
  std::source_location where;
  symrace::TileRef tile;                        // keeps `memory` alive
  const symrace::Window* own_window = nullptr;  // not null: own() is the other end, else `memory`
  union {
    std::byte* memory = nullptr;
    std::uint64_t own_offset;
  };
  std::int64_t memory_stride = 0;  // of either

  // The region in rank's own slice at the other end; it has the shape of `region`.
  symrace::WindowRegion own() const {
    return {own_window,
            own_offset,
            {region.extent.rows, region.extent.row_bytes, memory_stride},
            region.dtype};
  }
  void set_own(const symrace::WindowRegion& own) {
    own_window = own.window;
    own_offset = own.offset;
    memory_stride = own.extent.stride;
  }

  // Whether landing changes the target's slice, or own slice of the rank.
  bool writes_target() const { return effect == Effect::kWrite || effect == Effect::kSignal; }
  bool writes_own() const { return effect == Effect::kReadWindow; }
  // `op`, or what a collective did.
  symrace::OpKind primitive() const;
  bool is_set() const { return effect == Effect::kSignal && notify_op == pld::NotifyOp::Set; }
};

}  // namespace emu

#endif  // SYMRACE_EMU_PIECE_H_
