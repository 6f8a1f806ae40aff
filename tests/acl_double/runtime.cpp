#include "tests/acl_double/runtime.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

namespace acl_double {
namespace {

struct Current {
  std::int32_t device = -1;
  std::uint64_t generation = 0;
};
thread_local Current current;

// Without a destructor, since a thread's objects end before the static ones that may still call us.
struct LastError {
  char text[1024];      // empty: none
  char returned[1024];  // by aclGetRecentErrMsg
};
thread_local LastError last_error;

std::string text_of(aclrtStream handle) {
  return absl::StrCat("stream 0x", absl::Hex(reinterpret_cast<std::uintptr_t>(handle)));
}

}  // namespace

Runtime& Runtime::instance() {
  // Never destroyed, since other static objects may still call it, but emptied.
  alignas(Runtime) static std::byte storage[sizeof(Runtime)];
  static Runtime* const runtime = new (storage) Runtime;
  static const struct AtExit {
    ~AtExit() { instance().end_process(); }
  } at_exit;
  return *runtime;
}

void Runtime::configure() {
  settings_ = fixed_settings_ ? *fixed_settings_ : read_settings(nullptr);
  if (!configured_ && !settings_.log.empty()) std::ofstream(settings_.log, std::ios::trunc);
  configured_ = true;
  process_ = getpid();
}

bool Runtime::begin(const char* function) {
  if (!configured_ || function == std::string("aclInit")) configure();
  if (!settings_.log.empty()) std::ofstream(settings_.log, std::ios::app) << function << '\n';
  const std::uint64_t call = ++calls_[function];
  return settings_.fail_function == function && settings_.fail_call == call;
}

aclError Runtime::fail(const char* function, const CallError& error) {
  if (error.code != ACL_SUCCESS) {
    std::snprintf(last_error.text, sizeof last_error.text, "%s: %s", function, error.text.c_str());
  }
  if (error.misuse) record(function, error.text);
  return error.code;
}

void Runtime::record(const std::string& function, const std::string& text) {
  violations_.push_back(absl::StrCat(function, ": ", text));
}

void Runtime::initialize() {
  if (stage_ == Stage::kInitialized) {
    misuse(ACL_ERROR_REPEAT_INITIALIZE, "called again; expected aclFinalize before");
  }
  stage_ = Stage::kInitialized;
}

void Runtime::finalize() {
  if (stage_ == Stage::kFinalized) misuse(ACL_ERROR_REPEAT_FINALIZE, "called again");
  require_initialized();
  record_leaks("aclFinalize");
  for (auto& [id, device] : devices_) release_device(id, "lost at aclFinalize");
  stage_ = Stage::kFinalized;
  write_report();
}

void Runtime::require_initialized() const {
  if (stage_ == Stage::kInitialized) return;
  misuse(ACL_ERROR_UNINITIALIZE,
         stage_ == Stage::kNever ? "called before aclInit" : "called after aclFinalize");
}

std::int32_t Runtime::current_device() const {
  require_initialized();
  if (current.device < 0) {
    misuse(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no device; expected aclrtSetDevice before");
  }
  const auto found = devices_.find(current.device);
  if (found == devices_.end() || found->second.generation != current.generation) {
    misuse(ACL_ERROR_RT_CONTEXT_NULL,
           absl::StrCat("device ", current.device, " of this thread was reset"));
  }
  return current.device;
}

Device& Runtime::device(std::int32_t id) {
  require_initialized();
  if (id < 0 || id >= settings_.devices) {
    misuse(ACL_ERROR_RT_INVALID_DEVICEID,
           absl::StrCat("device ", id, "; expected one in [0, ", settings_.devices, ")"));
  }
  return devices_[id];
}

void Runtime::set_device(std::int32_t id) {
  Device& chosen = device(id);
  if (chosen.sets++ == 0) chosen.generation = ++generations_;
  current = {id, chosen.generation};
}

void Runtime::reset_device(std::int32_t id) {
  Device& chosen = device(id);
  if (chosen.sets == 0) {
    misuse(ACL_ERROR_RT_CONTEXT_NULL, absl::StrCat("device ", id, " is not set"));
  }
  if (current.device == id) current = {};
  if (--chosen.sets > 0) return;
  record_leaks("aclrtResetDevice");
  release_device(id, "lost at aclrtResetDevice");
}

void Runtime::require_peers(std::int32_t a, std::int32_t b) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    if (device(from).peers.contains(to)) continue;
    misuse(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
           absl::StrCat("no peer access from device ", from, " to ", to,
                        "; expected aclrtDeviceEnablePeerAccess on both"));
  }
}

aclrtStream Runtime::create_stream() {
  const std::int32_t id = current_device();
  streams_.push_back(std::make_unique<Stream>(id, device(id).streams++, settings_.seed, held_));
  return streams_.back().get();
}

Stream& Runtime::stream(aclrtStream handle) {
  const std::int32_t id = current_device();
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const auto& stream) { return stream.get() == handle; });
  if (handle == nullptr || found == streams_.end()) {
    misuse(handle == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE,
           absl::StrCat(text_of(handle), "; expected one from aclrtCreateStream"));
  }
  Stream& stream = **found;
  if (stream.closed()) {
    misuse(ACL_ERROR_RT_INVALID_HANDLE, absl::StrCat(text_of(handle), " was destroyed before"));
  }
  if (stream.device() != id) {
    misuse(ACL_ERROR_RT_STREAM_CONTEXT,
           absl::StrCat(text_of(handle), " is of device ", stream.device(),
                        "; this thread's device is ", id));
  }
  return stream;
}

bool Runtime::in_use(const Backing* backing) const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [&](const auto& stream) { return stream->uses(backing); });
}

void Runtime::record_leaks(const std::string& function) {
  for (const auto& [id, device] : devices_) {
    // A device that is still set keeps what it has until aclFinalize.
    if (device.sets > 0 && function == "aclrtResetDevice") continue;
    for (const std::string& text : memory_.live(id, excused_)) {
      record(function, absl::StrCat("leak on device ", id, ": ", text));
    }
    for (const auto& stream : streams_) {
      if (stream->device() != id || stream->closed() || excused_.contains(stream.get())) continue;
      record(function, absl::StrCat("leak on device ", id, ": stream ", stream->number()));
    }
    const int sets = device.sets - excused_sets_[id];
    if (sets > 0) {
      record(function, absl::StrCat("leak: device ", id, " is still set ", sets, " times"));
    }
  }
}

void Runtime::release_device(std::int32_t id, const char* reason) {
  for (const auto& stream : streams_) {
    if (stream->device() == id) stream->close();
  }
  memory_.free_device(id, reason);
  devices_[id] = {};
}

const char* Runtime::take_last_error(const char* function) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (begin(function)) return nullptr;
  std::memcpy(last_error.returned, last_error.text, sizeof last_error.text);
  last_error.text[0] = '\0';
  return last_error.returned[0] == '\0' ? nullptr : last_error.returned;
}

void Runtime::reset(const char* settings) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fixed_settings_.reset();
  if (settings != nullptr) fixed_settings_ = read_settings(settings);
  configured_ = false;
  stage_ = Stage::kNever;
  streams_.clear();
  memory_.clear();
  devices_.clear();
  calls_.clear();
  violations_.clear();
  excused_.clear();
  excused_sets_.clear();
  held_ = false;
  current = {};
  last_error = {};
}

std::size_t Runtime::violations() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return violations_.size();
}

const char* Runtime::violation(std::size_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return index < violations_.size() ? violations_[index].c_str() : nullptr;
}

void Runtime::hold_streams(bool held) {
  const std::lock_guard<std::mutex> lock(mutex_);
  held_ = held;
  for (const auto& stream : streams_) {
    if (!stream->closed()) stream->hold(held);
  }
}

void Runtime::end_process() {
  if (!configured_ || process_ != getpid()) return;
  if (stage_ == Stage::kInitialized) {
    record("exit", "expected aclFinalize before");
    record_leaks("exit");
  }
  write_report();
  reset(nullptr);
}

void Runtime::write_report() const {
  if (settings_.report.empty()) return;
  std::ofstream file(settings_.report, std::ios::trunc);
  for (const std::string& text : violations_) file << text << '\n';
}

}  // namespace acl_double
