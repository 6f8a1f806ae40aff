#include "tools/devices_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/acl_runtime.h"
#include "tools/values.h"

namespace tools {
namespace {

using symrace::AclRuntime;

absl::StatusOr<std::string> memory_line(AclRuntime& acl, std::int32_t device) {
  if (absl::Status status = acl.set_device(device); !status.ok()) return status;
  const std::optional<AclRuntime::MemoryInfo> memory = acl.memory_info();
  if (absl::Status status = acl.reset_device(device); !status.ok()) return status;
  return absl::StrCat(
      "device ", device, ": ",
      memory ? absl::StrCat(in_gib(memory->free), " of ", in_gib(memory->total), " free\n")
             : "free memory unknown\n");
}

absl::StatusOr<std::string> peer_line(AclRuntime& acl, std::int32_t device, std::int32_t count) {
  std::string line = absl::StrFormat("%4d", device);
  for (std::int32_t peer = 0; peer < count; ++peer) {
    if (peer == device) {
      line += "   -";
      continue;
    }
    const absl::StatusOr<bool> can_access = acl.can_access_peer(device, peer);
    if (!can_access.ok()) return can_access.status();
    line += *can_access ? " yes" : "  no";
  }
  return line + "\n";
}

}  // namespace

absl::StatusOr<std::string> devices_text() {
  absl::StatusOr<std::unique_ptr<AclRuntime>> acl = AclRuntime::load();
  if (!acl.ok()) return acl.status();
  const absl::StatusOr<std::int32_t> count = (*acl)->device_count();
  if (!count.ok()) return count.status();
  std::string text =
      absl::StrCat(*count, *count == 1 ? " device" : " devices", " · ", (*acl)->soc_name(), "\n");
  for (std::int32_t device = 0; device < *count; ++device) {
    const absl::StatusOr<std::string> line = memory_line(**acl, device);
    if (!line.ok()) return line.status();
    text += *line;
  }
  text += "access from a device (row) to the memory of another (column):\n    ";
  for (std::int32_t device = 0; device < *count; ++device) {
    absl::StrAppendFormat(&text, "%4d", device);
  }
  text += '\n';
  for (std::int32_t device = 0; device < *count; ++device) {
    const absl::StatusOr<std::string> line = peer_line(**acl, device, *count);
    if (!line.ok()) return line.status();
    text += *line;
  }
  if (absl::Status status = (*acl)->finalize(); !status.ok()) return status;
  return text;
}

}  // namespace tools
