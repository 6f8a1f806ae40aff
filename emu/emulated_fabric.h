// EmulatedFabric: one rank's moves under a memory model.
//
// An op that peers could notice (it reads or writes a slice at once, or blocks) is a step of its
// own: the rank parks before it. Posting a transfer is not: nobody can tell when it was posted,
// only when it lands, and landings are transitions of their own.
#ifndef SYMRACE_EMU_EMULATED_FABRIC_H_
#define SYMRACE_EMU_EMULATED_FABRIC_H_

#include "core/fabric.h"
#include "emu/access.h"
#include "emu/event_log.h"
#include "emu/model.h"
#include "emu/pieces.h"
#include "emu/transfers.h"

namespace emu {

class Execution;
struct RankState;

class EmulatedFabric final : public symrace::Fabric {
 public:
  EmulatedFabric(Execution& execution, RankState& rank) : execution_(execution), rank_(rank) {}

  void load(const symrace::WindowRegion& from, symrace::TileBlock& to,
            const symrace::Site& site) override;
  void store(const symrace::TileRef& from, const symrace::WindowRegion& to, pld::AtomicType atomic,
             const symrace::Site& site) override;
  void remote_load(std::int32_t peer, const symrace::WindowRegion& from, const symrace::TileRef& to,
                   const symrace::Site& site) override;
  void remote_store(const symrace::TileRef& from, std::int32_t peer,
                    const symrace::WindowRegion& to, pld::AtomicType atomic,
                    const symrace::Site& site) override;
  void put(std::int32_t peer, const symrace::WindowRegion& to, const symrace::LocalRegion& from,
           pld::AtomicType atomic, const symrace::Chunking& chunking,
           const symrace::Site& site) override;
  void get(const symrace::LocalRegion& to, std::int32_t peer, const symrace::WindowRegion& from,
           const symrace::Chunking& chunking, const symrace::Site& site) override;
  void notify(std::int32_t peer, const symrace::Cell& cell, std::int32_t value, pld::NotifyOp op,
              const symrace::Site& site) override;
  void wait(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
            const symrace::Site& site) override;
  bool test(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
            const symrace::Site& site) override;
  void fence(const symrace::Site& site) override;
  void add_to_own_cell(const symrace::Cell& cell, std::int32_t delta,
                       const symrace::Site& site) override;
  void use(symrace::TileBlock& tile, const symrace::Site& site) override;
  void use_private_memory(const symrace::Site& site) override;

 private:
  std::int32_t me() const;
  // Tile bytes → `to` of `target`: at once, or as pieces of `release_class`.
  void write(const symrace::TileRef& from, std::int32_t target, const symrace::WindowRegion& to,
             pld::AtomicType atomic, bool posted, ReleaseClass release_class,
             const symrace::Site& site);
  void post_put(std::int32_t peer, const symrace::WindowRegion& to,
                const symrace::LocalRegion& from, const symrace::TileRef& staging,
                pld::AtomicType atomic, const Cut& cut, const symrace::Site& site);
  void get_at_once(const symrace::LocalRegion& to, std::int32_t peer,
                   const symrace::WindowRegion& from, const Cut& cut, const symrace::Site& site);
  void defer_get(const symrace::LocalRegion& to, std::int32_t peer,
                 const symrace::WindowRegion& from, const Cut& cut, const symrace::Site& site);
  // `from` of `target`, as this rank sees it, packed.
  void read(std::int32_t target, const symrace::WindowRegion& from, std::byte* to);

  // Tells an access in the rank's own step, before its event is logged.
  void observe(AccessKind kind, std::int32_t target, const symrace::WindowRegion& region,
               const symrace::Site& site, std::int32_t value = 0,
               pld::WaitCmp cmp = pld::WaitCmp::Ge);
  void observe_write(std::int32_t target, const symrace::WindowRegion& region,
                     pld::AtomicType atomic, const symrace::Site& site) {
    observe(atomic == pld::AtomicType::Add ? AccessKind::kAdd : AccessKind::kWrite, target, region,
            site);
  }
  // A look at own cell; what it passed orders.
  void observe_wait(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp cmp, bool passed,
                    const symrace::Site& site);
  // A step that could only run once own writes to `region` had landed.
  void observe_own_landed(const symrace::WindowRegion& region);
  // `primitive`: which op it is, where the site names a collective.
  void log_act(const symrace::Site& site, symrace::OpKind primitive, std::int32_t target,
               const symrace::WindowRegion& region, const std::byte* packed, std::int64_t value = 0,
               bool sets = false);
  void log_cell(const symrace::Site& site, symrace::OpKind primitive, std::int32_t target,
                const symrace::Cell& cell, std::int64_t value, bool sets = false);

  Execution& execution_;
  RankState& rank_;
};

// The fields that every event of a move shares.
Event make_event(Event::Kind kind, symrace::OpKind op, std::int32_t rank, std::int32_t target,
                 const symrace::WindowRegion& region, const std::source_location& where);
symrace::WindowRegion cell_region(const symrace::Cell& cell);

}  // namespace emu

#endif  // SYMRACE_EMU_EMULATED_FABRIC_H_
