#include "core/acl_runtime.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <dlfcn.h>

#include <cstdlib>
#include <utility>
#include <vector>

namespace symrace {
namespace {

constexpr const char* kLibrary = "libascendcl.so";
constexpr const char* kLibraryVariable = "SYMRACE_ACL_LIBRARY";

// aclrtMemMallocPolicy: huge pages first, for memory that is copied between devices.
constexpr std::int32_t kHugeFirstForPeers = 3;
constexpr std::int32_t kHbm = 1;           // aclrtMemAttr
constexpr std::int32_t kSum = 10;          // aclrtReduceKind
constexpr std::size_t kLongestText = 400;  // of the runtime's own, in a message

// aclDataType.
std::int32_t data_type(pl::DType dtype) {
  switch (dtype) {
    case pl::DType::FP32:
      return 0;
    case pl::DType::FP16:
      return 1;
    case pl::DType::INT8:
      return 2;
    case pl::DType::INT32:
      return 3;
    case pl::DType::INT16:
      return 6;
    case pl::DType::BF16:
      break;
  }
  return 27;
}

// On one line.
std::string folded(const char* text) {
  const std::vector<std::string> words =
      absl::StrSplit(text == nullptr ? "" : text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  if (words.empty()) return "no text";
  std::string line = absl::StrJoin(words, " ");
  if (line.size() <= kLongestText) return line;
  line.resize(kLongestText);
  return absl::StrCat(line, "...");
}

absl::Hex hex(const void* pointer) { return absl::Hex(reinterpret_cast<std::uintptr_t>(pointer)); }

}  // namespace

// Enumerations are int32 here: C has them so.
struct AclRuntime::Functions {
  std::int32_t (*init)(const char* config);
  std::int32_t (*finalize)();
  const char* (*recent_error)();
  std::int32_t (*device_count)(std::uint32_t* count);
  std::int32_t (*set_device)(std::int32_t device);
  std::int32_t (*reset_device)(std::int32_t device);
  const char* (*soc_name)();
  std::int32_t (*can_access_peer)(std::int32_t* can, std::int32_t device, std::int32_t peer);
  std::int32_t (*enable_peer_access)(std::int32_t peer, std::uint32_t flags);
  std::int32_t (*allocate)(void** memory, std::size_t bytes, std::int32_t policy);
  std::int32_t (*free)(void* memory);
  std::int32_t (*set_memory)(void* memory, std::size_t room, std::int32_t value, std::size_t bytes);
  std::int32_t (*copy)(void* to, std::size_t room, const void* from, std::size_t bytes,
                       std::int32_t kind);
  std::int32_t (*queue_copy)(void* to, std::size_t room, const void* from, std::size_t bytes,
                             std::int32_t kind, AclStream stream);
  std::int32_t (*queue_reduce)(void* to, const void* from, std::uint64_t bytes, std::int32_t kind,
                               std::int32_t type, AclStream stream, void* reserved);
  std::int32_t (*create_stream)(AclStream* stream);
  std::int32_t (*destroy_stream)(AclStream stream);
  std::int32_t (*synchronize)(AclStream stream);
  std::int32_t (*memory_info)(std::int32_t attribute, std::size_t* free,
                              std::size_t* total);  // null where the runtime is too old
};

AclRuntime::AclRuntime(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}

absl::StatusOr<std::unique_ptr<AclRuntime>> AclRuntime::load() {
  const char* named = std::getenv(kLibraryVariable);
  const std::string path = named != nullptr && *named != '\0' ? named : kLibrary;
  // Never unloaded: the runtime has threads of its own.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the ACL runtime cannot be loaded: ", folded(dlerror()),
                     "; expected CANN's set_env.sh to have been sourced, or its ", kLibrary,
                     " named by ", kLibraryVariable));
  }
  auto functions = std::make_unique<Functions>();
  std::string missing;
  const auto find = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find(functions->init, "aclInit");
  find(functions->finalize, "aclFinalize");
  find(functions->recent_error, "aclGetRecentErrMsg");
  find(functions->device_count, "aclrtGetDeviceCount");
  find(functions->set_device, "aclrtSetDevice");
  find(functions->reset_device, "aclrtResetDevice");
  find(functions->soc_name, "aclrtGetSocName");
  find(functions->can_access_peer, "aclrtDeviceCanAccessPeer");
  find(functions->enable_peer_access, "aclrtDeviceEnablePeerAccess");
  find(functions->allocate, "aclrtMalloc");
  find(functions->free, "aclrtFree");
  find(functions->set_memory, "aclrtMemset");
  find(functions->copy, "aclrtMemcpy");
  find(functions->queue_copy, "aclrtMemcpyAsync");
  find(functions->queue_reduce, "aclrtReduceAsync");
  find(functions->create_stream, "aclrtCreateStream");
  find(functions->destroy_stream, "aclrtDestroyStream");
  find(functions->synchronize, "aclrtSynchronizeStream");
  if (!missing.empty()) {
    return absl::NotFoundError(
        absl::StrCat("the ACL runtime ", path, " has no ", missing, "; expected a newer CANN"));
  }
  find(functions->memory_info, "aclrtGetMemInfo");

  std::unique_ptr<AclRuntime> runtime(new AclRuntime(std::move(functions)));
  const std::int32_t code = runtime->functions_->init(nullptr);
  if (absl::Status status = runtime->checked(code, "aclInit(nullptr)"); !status.ok()) {
    runtime->finalized_ = true;  // there is nothing to finalize
    return status;
  }
  return runtime;
}

AclRuntime::~AclRuntime() {
  if (!finalized_) functions_->finalize();
}

template <class... Call>
absl::Status AclRuntime::checked(std::int32_t code, const Call&... call) {
  if (code == 0) [[likely]]
    return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(call..., " failed with ", code, ": ", folded(functions_->recent_error())));
}

absl::Status AclRuntime::finalize() {
  finalized_ = true;
  return checked(functions_->finalize(), "aclFinalize()");
}

absl::StatusOr<std::int32_t> AclRuntime::device_count() {
  std::uint32_t count = 0;
  absl::Status status = checked(functions_->device_count(&count), "aclrtGetDeviceCount()");
  if (!status.ok()) return status;
  return static_cast<std::int32_t>(count);
}

std::string AclRuntime::soc_name() {
  const char* name = functions_->soc_name();
  return name == nullptr ? "unknown" : name;
}

absl::StatusOr<bool> AclRuntime::can_access_peer(std::int32_t device, std::int32_t peer) {
  std::int32_t can = 0;
  absl::Status status = checked(functions_->can_access_peer(&can, device, peer),
                                "aclrtDeviceCanAccessPeer(", device, ", ", peer, ")");
  if (!status.ok()) return status;
  return can != 0;
}

absl::Status AclRuntime::set_device(std::int32_t device) {
  return checked(functions_->set_device(device), "aclrtSetDevice(", device, ")");
}

absl::Status AclRuntime::reset_device(std::int32_t device) {
  return checked(functions_->reset_device(device), "aclrtResetDevice(", device, ")");
}

absl::Status AclRuntime::enable_peer_access(std::int32_t peer) {
  return checked(functions_->enable_peer_access(peer, 0), "aclrtDeviceEnablePeerAccess(", peer,
                 ", 0)");
}

std::optional<AclRuntime::MemoryInfo> AclRuntime::memory_info() {
  MemoryInfo info;
  if (functions_->memory_info == nullptr ||
      functions_->memory_info(kHbm, &info.free, &info.total) != 0) {
    return std::nullopt;
  }
  return info;
}

absl::StatusOr<std::byte*> AclRuntime::allocate(std::size_t bytes) {
  void* memory = nullptr;
  absl::Status status = checked(functions_->allocate(&memory, bytes, kHugeFirstForPeers),
                                "aclrtMalloc(", bytes, " bytes)");
  if (!status.ok()) return status;
  return static_cast<std::byte*>(memory);
}

absl::Status AclRuntime::free(std::byte* memory) {
  return checked(functions_->free(memory), "aclrtFree(0x", hex(memory), ")");
}

absl::Status AclRuntime::zero(std::byte* memory, std::size_t bytes) {
  return checked(functions_->set_memory(memory, bytes, 0, bytes), "aclrtMemset(0x", hex(memory),
                 ", 0, ", bytes, " bytes)");
}

absl::Status AclRuntime::copy(std::byte* to, const std::byte* from, std::size_t bytes,
                              AclCopy kind) {
  return checked(functions_->copy(to, bytes, from, bytes, static_cast<std::int32_t>(kind)),
                 "aclrtMemcpy(to 0x", hex(to), ", from 0x", hex(from), ", ", bytes, " bytes, kind ",
                 static_cast<std::int32_t>(kind), ")");
}

absl::StatusOr<AclStream> AclRuntime::create_stream() {
  AclStream stream = nullptr;
  absl::Status status = checked(functions_->create_stream(&stream), "aclrtCreateStream()");
  if (!status.ok()) return status;
  return stream;
}

absl::Status AclRuntime::destroy_stream(AclStream stream) {
  return checked(functions_->destroy_stream(stream), "aclrtDestroyStream(0x", hex(stream), ")");
}

absl::Status AclRuntime::synchronize(AclStream stream) {
  return checked(functions_->synchronize(stream), "aclrtSynchronizeStream(0x", hex(stream), ")");
}

absl::Status AclRuntime::copy(std::byte* to, const std::byte* from, std::size_t bytes, AclCopy kind,
                              AclStream stream) {
  return checked(
      functions_->queue_copy(to, bytes, from, bytes, static_cast<std::int32_t>(kind), stream),
      "aclrtMemcpyAsync(to 0x", hex(to), ", from 0x", hex(from), ", ", bytes, " bytes, kind ",
      static_cast<std::int32_t>(kind), ")");
}

absl::Status AclRuntime::add(std::byte* to, const std::byte* from, std::size_t bytes,
                             pl::DType dtype, AclStream stream) {
  return checked(functions_->queue_reduce(to, from, bytes, kSum, data_type(dtype), stream, nullptr),
                 "aclrtReduceAsync(to 0x", hex(to), ", from 0x", hex(from), ", ", bytes,
                 " bytes, kind ", kSum, ", type ", data_type(dtype), ")");
}

}  // namespace symrace
