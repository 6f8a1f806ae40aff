// A fabric that leaves out one synchronisation of all that pass through it: what a library or a
// kernel would do if that line were missing.
#ifndef SYMRACE_TESTS_EMU_LEAVING_OUT_H_
#define SYMRACE_TESTS_EMU_LEAVING_OUT_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/fabric.h"

namespace emu::testing {

// Which synchronisations are left out: by their number among all of a rank, in order.
class LeavingOut final : public symrace::Fabric {
 public:
  struct Sync {
    symrace::OpKind kind;  // kFence, kNotify or kWait
    std::uint32_t line;    // of the call
    std::uint64_t offset;  // of the cell
    bool is_set = false;   // a notify by Set: publishes a value
  };
  // `leave_out(number, sync)`; `seen` collects all, where not null.
  using Choice = bool (*)(const void* context, std::size_t number, const Sync& sync);

  LeavingOut(symrace::Fabric& fabric, Choice choice, const void* context, std::vector<Sync>* seen)
      : fabric_(fabric), choice_(choice), context_(context), seen_(seen) {}

  void load(const symrace::WindowRegion& from, symrace::TileBlock& to,
            const symrace::Site& site) override {
    fabric_.load(from, to, site);
  }
  void store(const symrace::TileRef& from, const symrace::WindowRegion& to, pld::AtomicType atomic,
             const symrace::Site& site) override {
    fabric_.store(from, to, atomic, site);
  }
  void remote_load(std::int32_t peer, const symrace::WindowRegion& from, const symrace::TileRef& to,
                   const symrace::Site& site) override {
    fabric_.remote_load(peer, from, to, site);
  }
  void remote_store(const symrace::TileRef& from, std::int32_t peer,
                    const symrace::WindowRegion& to, pld::AtomicType atomic,
                    const symrace::Site& site) override {
    fabric_.remote_store(from, peer, to, atomic, site);
  }
  void put(std::int32_t peer, const symrace::WindowRegion& to, const symrace::LocalRegion& from,
           pld::AtomicType atomic, const symrace::Chunking& chunking,
           const symrace::Site& site) override {
    fabric_.put(peer, to, from, atomic, chunking, site);
  }
  void get(const symrace::LocalRegion& to, std::int32_t peer, const symrace::WindowRegion& from,
           const symrace::Chunking& chunking, const symrace::Site& site) override {
    fabric_.get(to, peer, from, chunking, site);
  }
  void notify(std::int32_t peer, const symrace::Cell& cell, std::int32_t value, pld::NotifyOp op,
              const symrace::Site& site) override {
    if (leaves_out(
            {symrace::OpKind::kNotify, site.where.line(), cell.offset, op == pld::NotifyOp::Set})) {
      return;
    }
    fabric_.notify(peer, cell, value, op, site);
  }
  // Where a barrier is left out, later ones are numbered lower: the count that they wait for, and
  // what is taken back in the end, is less by one for each that was left out on this cell.
  void wait(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
            const symrace::Site& site) override {
    if (leaves_out({symrace::OpKind::kWait, site.where.line(), cell.offset})) {
      if (leaves_out_whole_barriers) ++left_out_[cell.offset];
      return;
    }
    fabric_.wait(cell, expected - left_out(cell), cmp, site);
  }
  bool test(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
            const symrace::Site& site) override {
    return fabric_.test(cell, expected, cmp, site);
  }
  void fence(const symrace::Site& site) override {
    if (!leaves_out({symrace::OpKind::kFence, site.where.line(), 0})) fabric_.fence(site);
  }
  void add_to_own_cell(const symrace::Cell& cell, std::int32_t delta,
                       const symrace::Site& site) override {
    fabric_.add_to_own_cell(cell, delta + left_out(cell), site);
    left_out_.erase(cell.offset);
  }
  void use(symrace::TileBlock& tile, const symrace::Site& site) override {
    fabric_.use(tile, site);
  }
  void use_private_memory(const symrace::Site& site) override { fabric_.use_private_memory(site); }

  bool leaves_out_whole_barriers = false;

 private:
  bool leaves_out(const Sync& sync) {
    if (seen_ != nullptr) seen_->push_back(sync);
    return choice_(context_, number_++, sync);
  }
  std::int32_t left_out(const symrace::Cell& cell) const {
    const auto found = left_out_.find(cell.offset);
    return found == left_out_.end() ? 0 : found->second;
  }

  symrace::Fabric& fabric_;
  Choice choice_;
  const void* context_;
  std::vector<Sync>* seen_;
  std::size_t number_ = 0;
  std::map<std::uint64_t, std::int32_t> left_out_;  // waits left out, by cell
};

}  // namespace emu::testing

#endif  // SYMRACE_TESTS_EMU_LEAVING_OUT_H_
