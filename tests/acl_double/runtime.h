// The state of the process: whether ACL is initialised, its devices, memory and streams, which
// device each thread uses, and what was done wrong. One lock guards it; calls hold it except while
// they wait or move bytes.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_RUNTIME_H_
#define SYMRACE_TESTS_ACL_DOUBLE_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/acl_double/device_memory.h"
#include "tests/acl_double/errors.h"
#include "tests/acl_double/settings.h"
#include "tests/acl_double/stream.h"

namespace acl_double {

enum class Stage { kNever, kInitialized, kFinalized };

struct Device {
  int sets = 0;                  // aclrtSetDevice not yet met by aclrtResetDevice
  std::uint64_t generation = 0;  // of the first set since the last reset; unique in the process
  std::uint64_t streams = 0;     // created so far
  std::set<std::int32_t> peers;  // access enabled from here to there
};

class Runtime {
 public:
  static Runtime& instance();

  // Runs `body(lock)` as one call of `function`: logs it, counts it, makes it fail when it is that
  // call's turn, and turns what `body` throws into a code, a text and a record. An injected failure
  // runs `injected` in place of `body`.
  template <class Body, class Injected>
  aclError call(const char* function, Body body, Injected injected) {
    std::unique_lock<std::mutex> lock(mutex_);
    try {
      if (begin(function)) {
        injected(lock);
        failure(settings_.fail_code, "made to fail by ACL_DOUBLE_FAIL");
      }
      body(lock);
      return ACL_SUCCESS;
    } catch (const CallError& error) {
      if (!lock.owns_lock()) lock.lock();
      return fail(function, error);
    }
  }
  template <class Body>
  aclError call(const char* function, Body body) {
    return call(function, body, [](std::unique_lock<std::mutex>& /*lock*/) {});
  }

  // The rest is for bodies of calls, under the lock. Misuse is thrown.

  void initialize();
  void finalize();
  void require_initialized() const;

  const Settings& settings() const { return settings_; }
  DeviceMemory& memory() { return memory_; }

  // The calling thread's device, in a call that needs one.
  std::int32_t current_device() const;
  Device& device(std::int32_t id);  // in range
  void set_device(std::int32_t id);
  void reset_device(std::int32_t id);
  // Access in both directions.
  void require_peers(std::int32_t a, std::int32_t b);

  aclrtStream create_stream();
  // Alive and of the calling thread's device.
  Stream& stream(aclrtStream handle);
  // Whether an operation that nobody synchronised uses the memory.
  bool in_use(const Backing* backing) const;

  // What an injected failure kept from being released is no leak.
  void excuse(const void* resource) { excused_.insert(resource); }
  void excuse_set(std::int32_t id) { ++excused_sets_[id]; }

  // For the entry points outside of calls; they take the lock.
  const char* take_last_error(const char* function);
  void reset(const char* settings);
  std::size_t violations();
  const char* violation(std::size_t index);
  void hold_streams(bool held);
  void end_process();

 private:
  void configure();                  // reads the settings once, and again at aclInit
  bool begin(const char* function);  // whether this call is made to fail
  aclError fail(const char* function, const CallError& error);
  void record(const std::string& function, const std::string& text);
  void record_leaks(const std::string& function);
  void release_device(std::int32_t id, const char* reason);
  void write_report() const;

  std::mutex mutex_;
  std::optional<Settings> fixed_settings_;  // of a test
  Settings settings_;
  bool configured_ = false;
  int process_ = 0;  // that configured it; a fork of it has no workers
  Stage stage_ = Stage::kNever;
  std::map<std::string, std::uint64_t> calls_;
  std::deque<std::string> violations_;  // its elements stay where they are
  std::map<std::int32_t, Device> devices_;
  std::uint64_t generations_ = 0;
  DeviceMemory memory_;
  std::vector<std::unique_ptr<Stream>> streams_;  // closed ones too, so that no handle comes again
  std::set<const void*> excused_;
  std::map<std::int32_t, int> excused_sets_;
  bool held_ = false;
};

}  // namespace acl_double

#endif  // SYMRACE_TESTS_ACL_DOUBLE_RUNTIME_H_
