#include "core/watched_fabric.h"

namespace symrace {

void WatchedFabric::load(const WindowRegion& from, TileBlock& to, const Site& site) {
  last_op_.set(site);
  fabric_.load(from, to, site);
}

void WatchedFabric::store(const TileRef& from, const WindowRegion& to, pld::AtomicType atomic,
                          const Site& site) {
  last_op_.set(site);
  fabric_.store(from, to, atomic, site);
}

void WatchedFabric::remote_load(std::int32_t peer, const WindowRegion& from, const TileRef& to,
                                const Site& site) {
  last_op_.set(site);
  fabric_.remote_load(peer, from, to, site);
}

void WatchedFabric::remote_store(const TileRef& from, std::int32_t peer, const WindowRegion& to,
                                 pld::AtomicType atomic, const Site& site) {
  last_op_.set(site);
  fabric_.remote_store(from, peer, to, atomic, site);
}

void WatchedFabric::put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
                        pld::AtomicType atomic, const Chunking& chunking, const Site& site) {
  last_op_.set(site);
  fabric_.put(peer, to, from, atomic, chunking, site);
}

void WatchedFabric::get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                        const Chunking& chunking, const Site& site) {
  last_op_.set(site);
  fabric_.get(to, peer, from, chunking, site);
}

void WatchedFabric::notify(std::int32_t peer, const Cell& cell, std::int32_t value,
                           pld::NotifyOp op, const Site& site) {
  last_op_.set(site);
  fabric_.notify(peer, cell, value, op, site);
}

void WatchedFabric::wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                         const Site& site) {
  last_op_.set(site);
  fabric_.wait(cell, expected, cmp, site);
}

bool WatchedFabric::test(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                         const Site& site) {
  last_op_.set(site);
  return fabric_.test(cell, expected, cmp, site);
}

void WatchedFabric::fence(const Site& site) {
  last_op_.set(site);
  fabric_.fence(site);
}

void WatchedFabric::add_to_own_cell(const Cell& cell, std::int32_t delta, const Site& site) {
  last_op_.set(site);
  fabric_.add_to_own_cell(cell, delta, site);
}

void WatchedFabric::use(TileBlock& tile, const Site& site) { fabric_.use(tile, site); }

void WatchedFabric::use_private_memory(const Site& site) { last_op_.set(site); }

}  // namespace symrace
