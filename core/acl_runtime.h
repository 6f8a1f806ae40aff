// AclRuntime: the public ACL runtime (CANN) of a2a3 cards, loaded when it is first needed, so that
// a build has no need of it. Its signatures and constants are those of acl/acl_rt.h and
// acl/acl_base.h as the CANN documents give them.
//
// A call that fails gives a Status whose one line names the call, its arguments, the code and the
// runtime's own text. Calls need the device of the calling thread, as set_device() sets it, unless
// said otherwise.
#ifndef SYMRACE_CORE_ACL_RUNTIME_H_
#define SYMRACE_CORE_ACL_RUNTIME_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/dtype.h"

namespace symrace {

using AclStream = void*;

// The values are the runtime's.
enum class AclCopy : std::int32_t { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

class AclRuntime {
 public:
  // Loads libascendcl.so, or what the environment variable SYMRACE_ACL_LIBRARY names, and
  // initialises it. NotFound when it, or a function of it, is missing. One at a time in a process.
  static absl::StatusOr<std::unique_ptr<AclRuntime>> load();
  // Finalizes it, if nobody has.
  ~AclRuntime();
  AclRuntime(const AclRuntime&) = delete;
  AclRuntime& operator=(const AclRuntime&) = delete;

  absl::Status finalize();

  // --- Of any thread ---
  absl::StatusOr<std::int32_t> device_count();
  std::string soc_name();
  absl::StatusOr<bool> can_access_peer(std::int32_t device, std::int32_t peer);
  absl::Status set_device(std::int32_t device);  // of the calling thread
  absl::Status reset_device(std::int32_t device);

  // --- Of a thread with a device ---
  absl::Status enable_peer_access(std::int32_t peer);
  struct MemoryInfo {
    std::size_t free = 0;
    std::size_t total = 0;
  };
  // None where the runtime cannot tell.
  std::optional<MemoryInfo> memory_info();
  // Not zeroed; of at least one byte; accessible to peers.
  absl::StatusOr<std::byte*> allocate(std::size_t bytes);
  absl::Status free(std::byte* memory);
  // At once, and in no order with streams.
  absl::Status zero(std::byte* memory, std::size_t bytes);
  absl::Status copy(std::byte* to, const std::byte* from, std::size_t bytes, AclCopy kind);

  absl::StatusOr<AclStream> create_stream();
  absl::Status destroy_stream(AclStream stream);
  // Returns when all that was queued on the stream has run.
  absl::Status synchronize(AclStream stream);
  // Queued: run in the stream's order, some time. Of at least one byte. Host memory must stay as it
  // is until then.
  absl::Status copy(std::byte* to, const std::byte* from, std::size_t bytes, AclCopy kind,
                    AclStream stream);
  // to[i] += from[i], atomically; both in device memory.
  absl::Status add(std::byte* to, const std::byte* from, std::size_t bytes, pl::DType dtype,
                   AclStream stream);

 private:
  struct Functions;

  explicit AclRuntime(std::unique_ptr<Functions> functions);
  // OK for code 0; else names `call`, an absl::StrCat of which is made only then.
  template <class... Call>
  absl::Status checked(std::int32_t code, const Call&... call);

  std::unique_ptr<Functions> functions_;
  bool finalized_ = false;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_ACL_RUNTIME_H_
