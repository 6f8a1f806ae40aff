// What the fabrics of ranks that are really parallel share: how a rank leaves a run that is over,
// and what it has signalled.
#ifndef SYMRACE_CORE_RANK_FABRIC_H_
#define SYMRACE_CORE_RANK_FABRIC_H_

#include <cstdint>
#include <optional>

#include "core/fabric.h"
#include "core/run_watch.h"
#include "core/signal_record.h"

namespace symrace {

class RankFabric : public Fabric {
 public:
  RankFabric(std::int32_t rank, RunWatch& watch) : rank_(rank), watch_(watch) {}

  // Before each run.
  virtual void begin() {
    signals_.begin();
    last_failed_test_.reset();
  }
  // When the kernel has returned: waits until all that the rank moved has landed.
  virtual void end() {}
  const SignalRecord& signals() const { return signals_; }
  SignalRecord& mutable_signals() { return signals_; }

  // Nothing is ever deferred.
  void use(TileBlock&, const Site&) override {}
  void use_private_memory(const Site&) override {}

 protected:
  std::int32_t rank() const { return rank_; }
  // For every op: a run that is over ends its ranks.
  void check(const Site& site) {
    if (watch_.is_over()) [[unlikely]]
      leave(site);
  }
  void signal_sent(std::int32_t peer, const Cell& cell, pld::NotifyOp op, const Site& site) {
    signals_.sent(peer, cell, op, site.where);
  }
  // A polling loop is told by what it polls.
  void test_failed(const DirectWait& wait) {
    last_failed_test_ = wait;
    check(wait.site);
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] void leave(const Site& site) {
    watch_.leave(rank_, last_failed_test_ ? *last_failed_test_ : DirectWait{.site = site});
  }

  std::int32_t rank_;
  RunWatch& watch_;
  SignalRecord signals_;
  std::optional<DirectWait> last_failed_test_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RANK_FABRIC_H_
