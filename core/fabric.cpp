#include "core/fabric.h"

namespace symrace {

std::string_view op_name(OpKind op) {
  switch (op) {
    case OpKind::kLoad:
      return "load";
    case OpKind::kStore:
      return "store";
    case OpKind::kRead:
      return "read";
    case OpKind::kWrite:
      return "write";
    case OpKind::kRemoteLoad:
      return "remote_load";
    case OpKind::kRemoteStore:
      return "remote_store";
    case OpKind::kPut:
      return "put";
    case OpKind::kGet:
      return "get";
    case OpKind::kNotify:
      return "notify";
    case OpKind::kWait:
      return "wait";
    case OpKind::kTest:
      return "test";
    case OpKind::kFence:
      return "fence";
    case OpKind::kBarrier:
      return "barrier";
    case OpKind::kUse:
      return "use";
    case OpKind::kAllreduce:
      return "allreduce";
    case OpKind::kBroadcast:
      return "broadcast";
    case OpKind::kAllgather:
      return "allgather";
    case OpKind::kReduceScatter:
      return "reduce_scatter";
    case OpKind::kAllToAll:
      return "all_to_all";
    case OpKind::kAllToAllV:
      return "all_to_all_v";
  }
  return "unknown";
}

}  // namespace symrace
