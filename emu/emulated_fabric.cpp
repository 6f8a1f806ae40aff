#include "emu/emulated_fabric.h"

#include "emu/execution.h"

namespace emu {

using symrace::Cell;
using symrace::Chunking;
using symrace::LocalRegion;
using symrace::Site;
using symrace::TileRef;
using symrace::WindowRegion;

symrace::WindowRegion cell_region(const Cell& cell) {
  return {
      cell.window, cell.offset, {1, sizeof(std::int32_t), sizeof(std::int32_t)}, pl::DType::INT32};
}

Event make_event(Event::Kind kind, symrace::OpKind op, std::int32_t rank, std::int32_t target,
                 const WindowRegion& region, const std::source_location& where) {
  Event event;
  event.kind = kind;
  event.op = event.primitive = op;
  event.rank = rank;
  event.target = target;
  if (region.window != nullptr) {
    event.window = region.window->index;
    event.offset = region.offset - region.window->offset;
  }
  event.dtype = region.dtype;
  event.rows = region.extent.rows;
  event.row_bytes = region.extent.row_bytes;
  event.stride = region.extent.stride;
  event.where = where;
  return event;
}

std::int32_t EmulatedFabric::me() const { return rank_.context.rank; }

void EmulatedFabric::observe(AccessKind kind, std::int32_t target, const WindowRegion& region,
                             const Site& site, std::int32_t value, pld::WaitCmp cmp) {
  if (!execution_.observing()) return;
  Access access;
  access.kind = kind;
  access.op = site.op;
  access.rank = me();
  access.target = target;
  access.region = region;
  access.where = site.where;
  access.event = execution_.next_event();
  access.value = value;
  access.cmp = cmp;
  execution_.access(access);
}

void EmulatedFabric::observe_wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                                  bool passed, const Site& site) {
  if (!execution_.observing()) return;
  // What it saw comes before it: also what the signal that it saw came after.
  if (passed && execution_.detector() != nullptr) {
    execution_.detector()->waited(me(), cell.offset);
  }
  observe(AccessKind::kWait, me(), cell_region(cell), site, expected, cmp);
}

void EmulatedFabric::observe_own_landed(const WindowRegion& region) {
  if (execution_.detector() != nullptr) execution_.detector()->own_writes_landed(me(), region);
}

void EmulatedFabric::log_act(const Site& site, symrace::OpKind primitive, std::int32_t target,
                             const WindowRegion& region, const std::byte* packed,
                             std::int64_t value, bool sets) {
  if (!execution_.recording()) return;
  Event event = make_event(Event::Kind::kAct, site.op, me(), target, region, site.where);
  if (symrace::is_collective(site.op)) event.primitive = primitive;
  event.value = value;
  event.sets = sets;
  if (packed != nullptr) event.data_hash = hash_bytes(packed, region.extent.bytes());
  execution_.log(event);
}

void EmulatedFabric::log_cell(const Site& site, symrace::OpKind primitive, std::int32_t target,
                              const Cell& cell, std::int64_t value, bool sets) {
  log_act(site, primitive, target, cell_region(cell), nullptr, value, sets);
}

void EmulatedFabric::read(std::int32_t target, const WindowRegion& from, std::byte* to) {
  if (target == me()) {
    execution_.read_own(target, from, to);
  } else {
    execution_.memory().read(target, from, to, from.extent.row_bytes);
  }
}

void EmulatedFabric::load(const WindowRegion& from, symrace::TileBlock& to, const Site& site) {
  rank_.pending = {.enabled = Pending::Enabled::kOwnReadable, .site = site, .region = &from};
  execution_.step(rank_);
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]]
    timed->read(rank_.context, me(), from);
  execution_.read_own(me(), from, to.bytes());
  observe_own_landed(from);
  observe(AccessKind::kRead, me(), from, site);
  log_act(site, symrace::OpKind::kLoad, me(), from, to.bytes());
}

void EmulatedFabric::write(const TileRef& from, std::int32_t target, const WindowRegion& to,
                           pld::AtomicType atomic, bool posted, ReleaseClass release_class,
                           const Site& site) {
  if (to.extent.empty()) return;
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]] {
    timed->write(rank_.context, target, to, release_class);
  }
  if (!posted) {
    rank_.pending = {.site = site};
    execution_.step(rank_);
    execution_.memory().write(target, to, from->bytes(), to.extent.row_bytes, atomic);
    execution_.wrote(target, to);
    observe_write(target, to, atomic, site);
    log_act(site, target == me() ? symrace::OpKind::kStore : symrace::OpKind::kRemoteStore, target,
            to, from->bytes());
    return;
  }
  execution_.transfers().begin_op(me());
  const Cut whole{0, to.extent.rows, 0, to.extent.row_bytes, false};
  for_each_burst(whole, execution_.options().burst_bytes, pl::dtype_bytes(to.dtype),
                 [&](const Cut& cut) {
                   Piece& piece = execution_.transfers().prepare();
                   piece.effect = Piece::Effect::kWrite;
                   piece.release_class = release_class;
                   piece.op = site.op;
                   piece.atomic = atomic;
                   piece.rank = me();
                   piece.target = target;
                   piece.region = sub_region(to, cut);
                   piece.memory = from->bytes() + cut.row * to.extent.row_bytes + cut.byte;
                   piece.memory_stride = to.extent.row_bytes;
                   piece.tile = from;
                   piece.where = site.where;
                   execution_.issue(piece);
                 });
}

void EmulatedFabric::store(const TileRef& from, const WindowRegion& to, pld::AtomicType atomic,
                           const Site& site) {
  write(from, me(), to, atomic, execution_.model().posts_local_stores, ReleaseClass::kLocalStore,
        site);
}

void EmulatedFabric::remote_store(const TileRef& from, std::int32_t peer, const WindowRegion& to,
                                  pld::AtomicType atomic, const Site& site) {
  write(from, peer, to, atomic, execution_.model().posts_remote_stores, ReleaseClass::kRemoteStore,
        site);
}

void EmulatedFabric::remote_load(std::int32_t peer, const WindowRegion& from, const TileRef& to,
                                 const Site& site) {
  if (from.extent.empty()) return;
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]]
    timed->read(rank_.context, peer, from);
  if (!execution_.model().reads_are_deferred) {
    rank_.pending = {.site = site};
    execution_.step(rank_);
    read(peer, from, to->bytes());
    observe(AccessKind::kRead, peer, from, site);
    log_act(site, symrace::OpKind::kRemoteLoad, peer, from, to->bytes());
    return;
  }
  to->state = symrace::TileBlock::State::kInFlight;
  execution_.transfers().begin_op(me());
  Piece& piece = execution_.transfers().prepare();
  piece.effect = Piece::Effect::kReadTile;
  piece.release_class = ReleaseClass::kRead;
  piece.op = site.op;
  piece.rank = me();
  piece.target = peer;
  piece.region = from;
  piece.memory = to->bytes();
  piece.memory_stride = from.extent.row_bytes;
  piece.tile = to;
  piece.where = site.where;
  execution_.issue(piece);
}

void EmulatedFabric::put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
                         pld::AtomicType atomic, const Chunking& chunking, const Site& site) {
  if (to.extent.empty()) return;
  const Model& model = execution_.model();
  const std::int64_t element_bytes = pl::dtype_bytes(to.dtype);
  if (from.window == nullptr) symrace::settle_private_memory(site);
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]] {
    timed->put(rank_.context, peer, from, chunking, element_bytes);
  }
  // Reading own slice is something that peers' writes can be ordered against: a step.
  const bool reads_slice_now = from.window != nullptr && !model.put_reads_source_late;
  if (reads_slice_now || !model.posts_puts) {
    rank_.pending = {.site = site};
    if (from.window != nullptr) {
      rank_.pending.enabled = Pending::Enabled::kOwnReadable;
      rank_.pending.region = from.window;
    }
    execution_.step(rank_);
  }
  // What is read on issue is read whole, once; its pieces share the copy.
  TileRef staging;
  if (!model.put_reads_source_late) {
    staging = rank_.context.tiles->allocate(static_cast<std::size_t>(to.extent.bytes()));
    if (from.window != nullptr) {
      read(me(), *from.window, staging->bytes());
      observe_own_landed(*from.window);
      observe(AccessKind::kRead, me(), *from.window, site);
    } else {
      symrace::copy_rows(staging->bytes(), to.extent.row_bytes, from.memory.data,
                         from.memory.extent.stride, to.extent.rows, to.extent.row_bytes);
    }
  }
  if (!model.posts_puts) {
    execution_.memory().write(peer, to, staging->bytes(), to.extent.row_bytes, atomic);
    execution_.wrote(peer, to);
    observe_write(peer, to, atomic, site);
    log_act(site, symrace::OpKind::kPut, peer, to, staging->bytes());
    return;
  }
  execution_.transfers().begin_op(me());
  for_each_chunk(to.extent, chunking, element_bytes, [&](const Cut& chunk) {
    for_each_burst(chunk, execution_.options().burst_bytes, element_bytes,
                   [&](const Cut& cut) { post_put(peer, to, from, staging, atomic, cut, site); });
  });
}

void EmulatedFabric::post_put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
                              const TileRef& staging, pld::AtomicType atomic, const Cut& cut,
                              const Site& site) {
  Piece& piece = execution_.transfers().prepare();
  piece.effect = Piece::Effect::kWrite;
  piece.release_class = cut.of_last_chunk ? ReleaseClass::kPutTail : ReleaseClass::kPut;
  piece.op = site.op;
  piece.atomic = atomic;
  piece.rank = me();
  piece.target = peer;
  piece.region = sub_region(to, cut);
  piece.where = site.where;
  if (staging) {
    piece.memory = staging->bytes() + cut.row * to.extent.row_bytes + cut.byte;
    piece.memory_stride = to.extent.row_bytes;
    piece.tile = staging;
  } else if (from.window != nullptr) {
    piece.set_own(sub_region(*from.window, cut));
    piece.reads_own_slice = true;
  } else {
    piece.memory = from.memory.data + cut.row * from.memory.extent.stride + cut.byte;
    piece.memory_stride = from.memory.extent.stride;
    piece.tile = from.keep_alive;
  }
  execution_.issue(piece);
}

void EmulatedFabric::get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                         const Chunking& chunking, const Site& site) {
  const Model& model = execution_.model();
  if (OpRecorder* timed = execution_.op_recorder(); timed != nullptr && !from.extent.empty())
      [[unlikely]] {
    timed->get(rank_.context, to, peer, chunking, pl::dtype_bytes(from.dtype));
  }
  // Sequential consistency knows no half-done op.
  const Chunking cut_by = model.posts_puts ? chunking : Chunking{};
  execution_.transfers().begin_op(me());
  for_each_chunk(from.extent, cut_by, pl::dtype_bytes(from.dtype), [&](const Cut& cut) {
    if (model.reads_are_deferred) {
      defer_get(to, peer, from, cut, site);
    } else {
      get_at_once(to, peer, from, cut, site);
    }
  });
}

void EmulatedFabric::get_at_once(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                                 const Cut& cut, const Site& site) {
  const WindowRegion source = sub_region(from, cut);
  WindowRegion destination;
  rank_.pending = {.site = site};
  if (to.window != nullptr) {
    destination = sub_region(*to.window, cut);
    rank_.pending.enabled = Pending::Enabled::kOwnWritable;
    rank_.pending.region = &destination;
  }
  execution_.step(rank_);
  const TileRef staging =
      rank_.context.tiles->allocate(static_cast<std::size_t>(cut.rows * cut.row_bytes));
  read(peer, source, staging->bytes());
  if (to.window != nullptr) {
    observe_own_landed(destination);
    observe(AccessKind::kWrite, me(), destination, site);
  }
  observe(AccessKind::kRead, peer, source, site);
  log_act(site, symrace::OpKind::kGet, peer, source, staging->bytes());
  if (to.window != nullptr) {
    execution_.memory().write(me(), destination, staging->bytes(), cut.row_bytes,
                              pld::AtomicType::None_);
    execution_.wrote(me(), destination);
  } else {
    std::byte* memory = to.memory.data + cut.row * to.memory.extent.stride + cut.byte;
    symrace::copy_rows(memory, to.memory.extent.stride, staging->bytes(), cut.row_bytes, cut.rows,
                       cut.row_bytes);
  }
}

void EmulatedFabric::defer_get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                               const Cut& cut, const Site& site) {
  Piece& piece = execution_.transfers().prepare();
  piece.release_class = ReleaseClass::kRead;
  piece.op = site.op;
  piece.rank = me();
  piece.target = peer;
  piece.region = sub_region(from, cut);
  piece.where = site.where;
  if (to.window != nullptr) {
    piece.effect = Piece::Effect::kReadWindow;
    piece.set_own(sub_region(*to.window, cut));
  } else {
    piece.effect = Piece::Effect::kReadPrivate;
    piece.memory = to.memory.data + cut.row * to.memory.extent.stride + cut.byte;
    piece.memory_stride = to.memory.extent.stride;
    piece.tile = to.keep_alive;
    ++rank_.context.deferred_gets;
  }
  execution_.issue(piece);
}

void EmulatedFabric::notify(std::int32_t peer, const Cell& cell, std::int32_t value,
                            pld::NotifyOp op, const Site& site) {
  execution_.memory().note_signal(*cell.window);
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]] {
    timed->notify(rank_.context, peer, cell, value, op);
  }
  if (!execution_.model().posts_notifies) {
    rank_.pending = {.site = site};
    execution_.step(rank_);
    execution_.signal(peer, cell.offset, value, op);
    execution_.wrote(peer, cell_region(cell));
    observe(op == pld::NotifyOp::Set ? AccessKind::kSignalSet : AccessKind::kSignalAdd, peer,
            cell_region(cell), site, value);
    if (execution_.detector() != nullptr) {
      execution_.detector()->signalled(me(), peer, cell.offset, op);
    }
    log_cell(site, symrace::OpKind::kNotify, peer, cell, value, op == pld::NotifyOp::Set);
    return;
  }
  execution_.transfers().begin_op(me());
  Piece& piece = execution_.transfers().prepare();
  piece.effect = Piece::Effect::kSignal;
  piece.release_class = ReleaseClass::kSignal;
  piece.op = site.op;
  piece.notify_op = op;
  piece.value = value;
  piece.rank = me();
  piece.target = peer;
  piece.region = cell_region(cell);
  piece.where = site.where;
  execution_.issue(piece);
}

void EmulatedFabric::wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                          const Site& site) {
  execution_.memory().note_signal(*cell.window);
  rank_.pending = {.enabled = Pending::Enabled::kCell,
                   .site = site,
                   .cell = cell,
                   .expected = expected,
                   .cmp = cmp};
  execution_.step(rank_);
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]] {
    timed->look(rank_.context, cell, expected, cmp, execution_.own_cell(me(), cell));
  }
  observe_wait(cell, expected, cmp, true, site);
  if (execution_.recording()) {
    log_cell(site, symrace::OpKind::kWait, me(), cell, execution_.own_cell(me(), cell));
  }
}

bool EmulatedFabric::test(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                          const Site& site) {
  execution_.memory().note_signal(*cell.window);
  rank_.pending = {.site = site, .cell = cell, .expected = expected, .cmp = cmp};
  execution_.step(rank_);
  const std::int32_t actual = execution_.own_cell(me(), cell);
  const bool passed = pld::compare(cmp, actual, expected);
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]] {
    timed->look(rank_.context, cell, expected, cmp, actual);
  }
  if (!passed) {
    rank_.has_failed_test = true;
    rank_.last_failed_test = rank_.pending;
  }
  observe_wait(cell, expected, cmp, passed, site);
  log_cell(site, symrace::OpKind::kTest, me(), cell, actual);
  return passed;
}

void EmulatedFabric::fence(const Site& site) {
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]]
    timed->fence(rank_.context);
  if (!execution_.model().posts_notifies) return;  // nothing is ever in flight
  rank_.pending = {.enabled = Pending::Enabled::kDrained, .site = site};
  execution_.step(rank_);
  if (execution_.detector() != nullptr) execution_.detector()->fenced(me());
  if (execution_.footprints() != nullptr) {
    execution_.footprints()->after(Footprints::After::kAllPieces);
  }
  log_act(site, symrace::OpKind::kFence, me(), {}, nullptr);
}

void EmulatedFabric::add_to_own_cell(const Cell& cell, std::int32_t delta, const Site& site) {
  if (OpRecorder* timed = execution_.op_recorder()) [[unlikely]] {
    timed->add_to_own_cell(rank_.context, cell, delta);
  }
  // No step: it commutes with the peers' adds, and nobody but this rank reads its cells.
  execution_.memory().add_to_cell(me(), cell.offset, delta);
  observe(AccessKind::kSignalAdd, me(), cell_region(cell), site, delta);
  log_cell(site, symrace::OpKind::kNotify, me(), cell, delta);
}

void EmulatedFabric::use(symrace::TileBlock& tile, const Site& site) {
  rank_.pending = {.enabled = Pending::Enabled::kArrived, .site = site, .tile = &tile};
  execution_.step(rank_);
  tile.state = symrace::TileBlock::State::kReady;
  if (execution_.detector() != nullptr) execution_.detector()->used(me(), tile.ticket);
  if (execution_.footprints() != nullptr) {
    execution_.footprints()->after(Footprints::After::kOnePiece, tile.ticket);
  }
}

void EmulatedFabric::use_private_memory(const Site& site) {
  rank_.pending = {.enabled = Pending::Enabled::kPrivate, .site = site};
  execution_.step(rank_);
  if (execution_.detector() != nullptr) execution_.detector()->used_private_memory(me());
  if (execution_.footprints() != nullptr) {
    execution_.footprints()->after(Footprints::After::kPrivateReads);
  }
}

}  // namespace emu
