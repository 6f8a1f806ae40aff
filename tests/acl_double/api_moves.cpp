// The functions of the public API that move bytes: they check all before they move any.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/acl_double/acl_double.h"
#include "tests/acl_double/runtime.h"

using acl_double::DeviceRange;
using acl_double::misuse;
using acl_double::Runtime;
using acl_double::Stream;

namespace {

using Lock = std::unique_lock<std::mutex>;
using Uses = std::vector<std::shared_ptr<acl_double::Backing>>;

Runtime& runtime() { return Runtime::instance(); }

struct Move {
  std::byte* to;
  const std::byte* from;
  Uses uses = {};
  bool flips = false;  // ACL_DOUBLE_FLIP

  void run(std::size_t bytes) const {
    acl_double::move_bytes(to, from, bytes);
    if (flips) *to ^= std::byte{1};
  }
};

void require_range(const void* pointer, const char* name, std::size_t bytes) {
  if (pointer == nullptr) misuse(ACL_ERROR_INVALID_PARAM, absl::StrCat(name, " is null"));
  if (bytes == 0) misuse(ACL_ERROR_RT_PARAM_INVALID, "0 bytes; expected at least 1");
}

void require_room(std::size_t room, std::size_t bytes) {
  if (room < bytes) {
    misuse(ACL_ERROR_RT_PARAM_INVALID, absl::StrCat(bytes, " bytes into a destination of ", room));
  }
}

// One of the devices of a move must be the current one, and a second must be its peer.
void require_reachable(const std::vector<std::int32_t>& devices) {
  const std::int32_t current = runtime().current_device();
  if (devices.empty()) return;
  if (devices.front() != current && devices.back() != current) {
    misuse(ACL_ERROR_RT_PARAM_INVALID,
           absl::StrCat("memory of device ", absl::StrJoin(devices, " and "),
                        "; this thread's device is ", current));
  }
  if (devices.front() != devices.back()) {
    runtime().require_peers(devices.front(), devices.back());
  }
}

DeviceRange device_range(const void* pointer, std::size_t bytes, const char* name) {
  std::optional<DeviceRange> range = runtime().memory().find(pointer, bytes);
  if (!range) {
    misuse(ACL_ERROR_RT_PARAM_INVALID,
           absl::StrCat(name, " is host memory; expected device memory"));
  }
  return *std::move(range);
}

Move checked_move(void* to, std::size_t to_max, const void* from, std::size_t bytes,
                  aclrtMemcpyKind kind) {
  runtime().current_device();
  require_range(to, "dst", bytes);
  require_range(from, "src", bytes);
  require_room(to_max, bytes);
  if (kind > ACL_MEMCPY_DEVICE_TO_DEVICE) {
    misuse(ACL_ERROR_RT_PARAM_INVALID, absl::StrCat("kind ", kind, "; expected 0 to 3"));
  }
  const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const std::optional<DeviceRange> there = runtime().memory().find(to, bytes);
  const std::optional<DeviceRange> here = runtime().memory().find(from, bytes);
  const auto told = [](bool device) { return device ? "device" : "host"; };
  for (const auto& [name, is, expected] : {std::tuple("dst", there.has_value(), to_device),
                                           std::tuple("src", here.has_value(), from_device)}) {
    if (is == expected) continue;
    misuse(ACL_ERROR_RT_PARAM_INVALID, absl::StrCat(name, " is ", told(is), " memory; kind ", kind,
                                                    " expects ", told(expected), " memory"));
  }
  std::vector<std::int32_t> devices;
  Move move{static_cast<std::byte*>(to), static_cast<const std::byte*>(from)};
  if (there) {
    move.to = there->bytes;
    move.uses.push_back(there->backing);
    devices.push_back(there->device);
  }
  if (here) {
    move.from = here->bytes;
    move.uses.push_back(here->backing);
    devices.push_back(here->device);
  }
  require_reachable(devices);
  move.flips = kind == ACL_MEMCPY_DEVICE_TO_HOST && bytes == runtime().settings().flip_bytes;
  return move;
}

pld::ReduceOp reduce_op(aclrtReduceKind kind) {
  switch (kind) {
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM:
      return pld::ReduceOp::Sum;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX:
      return pld::ReduceOp::Max;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN:
      return pld::ReduceOp::Min;
    default:
      misuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             absl::StrCat("reduce kind ", kind, "; expected sum, max or min (10 to 12)"));
  }
}

pl::DType element_type(aclDataType type) {
  switch (type) {
    case ACL_FLOAT:
      return pl::DType::FP32;
    case ACL_FLOAT16:
      return pl::DType::FP16;
    case ACL_BF16:
      return pl::DType::BF16;
    case ACL_INT32:
      return pl::DType::INT32;
    case ACL_INT16:
      return pl::DType::INT16;
    case ACL_INT8:
      return pl::DType::INT8;
    default:
      misuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             absl::StrCat("data type ", type, "; expected int8, int16, int32, fp16, fp32 or bf16"));
  }
}

}  // namespace

aclError aclrtMemset(void* pointer, std::size_t max_bytes, std::int32_t value, std::size_t bytes) {
  return runtime().call("aclrtMemset", [&](Lock& lock) {
    runtime().current_device();
    require_range(pointer, "devPtr", bytes);
    require_room(max_bytes, bytes);
    const DeviceRange range = device_range(pointer, bytes, "devPtr");
    require_reachable({range.device});
    lock.unlock();
    acl_double::fill_bytes(range.bytes, static_cast<std::byte>(value), bytes);
  });
}

aclError aclrtMemcpy(void* to, std::size_t to_max, const void* from, std::size_t bytes,
                     aclrtMemcpyKind kind) {
  return runtime().call("aclrtMemcpy", [&](Lock& lock) {
    const Move move = checked_move(to, to_max, from, bytes, kind);
    lock.unlock();
    move.run(bytes);
  });
}

aclError aclrtMemcpyAsync(void* to, std::size_t to_max, const void* from, std::size_t bytes,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return runtime().call("aclrtMemcpyAsync", [&](Lock& /*lock*/) {
    Stream& chosen = runtime().stream(stream);
    const Move move = checked_move(to, to_max, from, bytes, kind);
    if (kind == ACL_MEMCPY_HOST_TO_HOST) {
      misuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind 0, host to host; expected 1 to 3");
    }
    chosen.enqueue([move, bytes] { move.run(bytes); }, move.uses);
  });
}

aclError aclrtReduceAsync(void* to, const void* from, std::uint64_t bytes, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void* reserved) {
  return runtime().call("aclrtReduceAsync", [&](Lock& /*lock*/) {
    Stream& chosen = runtime().stream(stream);
    require_range(to, "dst", bytes);
    require_range(from, "src", bytes);
    if (reserved != nullptr) misuse(ACL_ERROR_INVALID_PARAM, "reserve is not null");
    const pld::ReduceOp op = reduce_op(kind);
    const pl::DType dtype = element_type(type);
    const std::uint64_t element = static_cast<std::uint64_t>(pl::dtype_bytes(dtype));
    const std::uint64_t addresses =
        reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    if (bytes % element != 0 || addresses % element != 0) {
      misuse(ACL_ERROR_RT_ADDR_UNALIGNED,
             absl::StrCat(bytes, " bytes; expected addresses and size of whole elements of ",
                          element, " bytes"));
    }
    const DeviceRange there = device_range(to, bytes, "dst");
    const DeviceRange here = device_range(from, bytes, "src");
    require_reachable({there.device, here.device});
    chosen.enqueue([=] { acl_double::reduce_bytes(op, dtype, there.bytes, here.bytes, bytes); },
                   {there.backing, here.backing});
  });
}
