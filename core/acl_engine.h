// AclEngine: runs a program on a2a3 cards, one rank a card, each on a thread of the host.
#ifndef SYMRACE_CORE_ACL_ENGINE_H_
#define SYMRACE_CORE_ACL_ENGINE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/acl_fabric.h"
#include "core/acl_heap.h"
#include "core/acl_runtime.h"
#include "core/direct_engine.h"

namespace symrace {

// On-core values and private memory are the host's; windows are device memory. What runs on the
// cards is the runtime's copies and reductions.
class AclEngine final : public DirectEngine {
 public:
  // Of `options`, `devices` are the cards, one a rank; ranks are threads. Unavailable where a call
  // of the runtime fails, naming it and the rank; what was acquired by then is released.
  static absl::StatusOr<std::unique_ptr<AclEngine>> create(Program& program, DirectOptions options);
  // Releases what close() has not.
  ~AclEngine() override;

  // Ends the use of the cards, and releases all in reverse order, whatever fails; tells the first
  // failure. No run() after it.
  absl::Status close();

 protected:
  absl::Status clear_windows(std::uint64_t written_bytes) override;

 private:
  AclEngine(Program& program, std::unique_ptr<AclRuntime> acl, std::unique_ptr<AclHeap> heap,
            std::unique_ptr<PolledWaits> waits, DirectOptions options);
  absl::Status open(PolledWaits& waits, const std::vector<std::int32_t>& devices);
  // A run that was cut short leaves moves on their way, from any rank to any other.
  absl::Status synchronize();
  // What `call` says on the rank's thread, naming the rank.
  absl::Status on_device(std::size_t rank, const std::function<absl::Status(AclFabric&)>& call);

  std::unique_ptr<AclRuntime> acl_;
  AclHeap& heap_;
  std::vector<AclFabric*> fabrics_;
  std::size_t opened_ = 0;  // of the fabrics, whole or in part
};

}  // namespace symrace

#endif  // SYMRACE_CORE_ACL_ENGINE_H_
