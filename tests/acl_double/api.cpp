// The functions of the public API: what each checks, in the order in which it checks.
#include <absl/strings/str_cat.h>

#include <fstream>
#include <mutex>

#include "tests/acl_double/acl_double.h"
#include "tests/acl_double/runtime.h"

using acl_double::Device;
using acl_double::DeviceRange;
using acl_double::failure;
using acl_double::misuse;
using acl_double::Runtime;
using acl_double::Stream;

namespace {

using Lock = std::unique_lock<std::mutex>;

Runtime& runtime() { return Runtime::instance(); }

void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) misuse(ACL_ERROR_INVALID_PARAM, absl::StrCat(name, " is null"));
}

void require_distinct(std::int32_t device, std::int32_t peer) {
  if (device == peer) {
    misuse(ACL_ERROR_INVALID_PARAM, absl::StrCat("device ", peer, " is its own peer"));
  }
}

}  // namespace

aclError aclInit(const char* config) {
  return runtime().call("aclInit", [&](Lock& /*lock*/) {
    if (config != nullptr && !std::ifstream(config)) {
      misuse(ACL_ERROR_INVALID_FILE, absl::StrCat(config, "; expected a readable file"));
    }
    runtime().initialize();
  });
}

aclError aclFinalize() {
  return runtime().call("aclFinalize", [](Lock& /*lock*/) { runtime().finalize(); });
}

const char* aclGetRecentErrMsg() { return runtime().take_last_error("aclGetRecentErrMsg"); }

aclError aclrtGetDeviceCount(std::uint32_t* count) {
  return runtime().call("aclrtGetDeviceCount", [&](Lock& /*lock*/) {
    runtime().require_initialized();
    require_pointer(count, "count");
    *count = static_cast<std::uint32_t>(runtime().settings().devices);
  });
}

aclError aclrtSetDevice(std::int32_t device) {
  return runtime().call("aclrtSetDevice", [&](Lock& /*lock*/) { runtime().set_device(device); });
}

aclError aclrtResetDevice(std::int32_t device) {
  return runtime().call(
      "aclrtResetDevice", [&](Lock& /*lock*/) { runtime().reset_device(device); },
      [&](Lock& /*lock*/) { runtime().excuse_set(device); });
}

const char* aclrtGetSocName() {
  const aclError code =
      runtime().call("aclrtGetSocName", [](Lock& /*lock*/) { runtime().require_initialized(); });
  return code == ACL_SUCCESS ? "Ascend910_9391" : nullptr;
}

aclError aclrtDeviceCanAccessPeer(std::int32_t* can_access, std::int32_t device,
                                  std::int32_t peer) {
  return runtime().call("aclrtDeviceCanAccessPeer", [&](Lock& /*lock*/) {
    runtime().device(device);
    runtime().device(peer);
    require_pointer(can_access, "canAccessPeer");
    require_distinct(device, peer);
    *can_access = runtime().settings().peers(device, peer) ? 1 : 0;
  });
}

aclError aclrtDeviceEnablePeerAccess(std::int32_t peer, std::uint32_t flags) {
  return runtime().call("aclrtDeviceEnablePeerAccess", [&](Lock& /*lock*/) {
    if (flags != 0) {
      misuse(ACL_ERROR_FEATURE_UNSUPPORTED, absl::StrCat("flags ", flags, "; expected 0"));
    }
    const std::int32_t current = runtime().current_device();
    runtime().device(peer);
    require_distinct(current, peer);
    if (!runtime().settings().peers(current, peer)) {
      failure(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              absl::StrCat("device ", current, " cannot access device ", peer));
    }
    if (!runtime().device(current).peers.insert(peer).second) {
      misuse(ACL_ERROR_INVALID_PARAM,
             absl::StrCat("access from device ", current, " to ", peer, " is already enabled"));
    }
  });
}

aclError aclrtMalloc(void** pointer, std::size_t bytes, aclrtMemMallocPolicy policy) {
  return runtime().call("aclrtMalloc", [&](Lock& /*lock*/) {
    const std::int32_t device = runtime().current_device();
    require_pointer(pointer, "devPtr");
    if (bytes == 0) misuse(ACL_ERROR_INVALID_PARAM, "0 bytes; expected at least 1");
    if (policy > ACL_MEM_MALLOC_NORMAL_ONLY_P2P) {
      misuse(ACL_ERROR_INVALID_PARAM, absl::StrCat("policy ", policy, "; expected 0 to 5"));
    }
    const std::size_t total = runtime().settings().memory;
    const std::size_t used = runtime().memory().used_bytes(device);
    void* allocated = bytes <= total - used ? runtime().memory().allocate(device, bytes) : nullptr;
    if (allocated == nullptr) {
      failure(ACL_ERROR_RT_MEMORY_ALLOCATION,
              absl::StrCat(bytes, " bytes on device ", device, ", which has ", total - used, " of ",
                           total, " free"));
    }
    *pointer = allocated;
  });
}

aclError aclrtFree(void* pointer) {
  return runtime().call(
      "aclrtFree",
      [&](Lock& /*lock*/) {
        const std::int32_t current = runtime().current_device();
        require_pointer(pointer, "devPtr");
        const DeviceRange allocation = runtime().memory().allocation_at(pointer);
        if (allocation.device != current) {
          misuse(ACL_ERROR_RT_PARAM_INVALID, absl::StrCat("memory of device ", allocation.device,
                                                          "; this thread's device is ", current));
        }
        const bool in_use = runtime().in_use(allocation.backing.get());
        runtime().memory().free(pointer);
        // Documented to free at once, whatever still runs.
        if (in_use) misuse(ACL_SUCCESS, "a stream may still use it; expected a synchronise before");
      },
      [&](Lock& /*lock*/) { runtime().excuse(pointer); });
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, std::size_t* free, std::size_t* total) {
  return runtime().call("aclrtGetMemInfo", [&](Lock& /*lock*/) {
    const std::int32_t device = runtime().current_device();
    require_pointer(free, "free");
    require_pointer(total, "total");
    // Cards of a2a3 have HBM only, and tell 0 for what they have not.
    *total = attribute == ACL_HBM_MEM ? runtime().settings().memory : 0;
    *free = *total == 0 ? 0 : *total - runtime().memory().used_bytes(device);
  });
}

aclError aclrtCreateStream(aclrtStream* stream) {
  return runtime().call("aclrtCreateStream", [&](Lock& /*lock*/) {
    require_pointer(stream, "stream");
    *stream = runtime().create_stream();
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return runtime().call(
      "aclrtDestroyStream",
      [&](Lock& /*lock*/) {
        Stream& ended = runtime().stream(stream);
        const bool unsynchronized = ended.unsynchronized();
        ended.close();
        if (unsynchronized) {
          misuse(ACL_SUCCESS, "it has work; expected aclrtSynchronizeStream before");
        }
      },
      [&](Lock& /*lock*/) { runtime().excuse(stream); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  const auto synchronize = [&](Lock& lock) {
    Stream& waited_for = runtime().stream(stream);
    lock.unlock();
    waited_for.synchronize();
  };
  // A stream whose synchronise failed is not waited for again by those who clean up.
  return runtime().call("aclrtSynchronizeStream", synchronize, synchronize);
}

void acl_double_reset(const char* settings) { runtime().reset(settings); }

std::size_t acl_double_violations() { return runtime().violations(); }

const char* acl_double_violation(std::size_t index) { return runtime().violation(index); }

void acl_double_hold_streams(bool held) { runtime().hold_streams(held); }
