#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/acl_double/session.h"

using acl_double::allocate;
using acl_double::clean;
using acl_double::create_stream;
using acl_double::fresh;
using acl_double::start;

namespace {

// A file of this process, removed at the end.
class ScratchFile {
 public:
  ScratchFile() {
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    close(file);
    std::filesystem::remove(path_);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }
  bool exists() const { return std::filesystem::exists(path_); }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "acl_double.XXXXXX";
};

// The status of a child that runs `body` and exits with 0 unless it does so before.
int status_of(const std::function<void()>& body, const std::string& err = "/dev/null") {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen(err.c_str(), "w", stderr) == nullptr) _exit(99);
    body();
    std::exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Every function, with arguments that are right after setup(); those that return a text give
// `null_code` for null.
constexpr aclError kNullText = -1;
struct Scene {
  void* memory = nullptr;
  aclrtStream stream = nullptr;
  inline static std::int32_t host = 0;  // outlives the stream
};

aclError code_of(const char* text) { return text == nullptr ? kNullText : ACL_SUCCESS; }

using Calls = std::map<std::string, std::function<aclError(Scene&)>>;
const Calls& all_calls() {
  static const Calls calls{
      {"aclInit", [](Scene&) { return aclInit(nullptr); }},
      {"aclFinalize", [](Scene&) { return aclFinalize(); }},
      {"aclGetRecentErrMsg", [](Scene&) { return code_of(aclGetRecentErrMsg()); }},
      {"aclrtGetDeviceCount",
       [](Scene&) {
         std::uint32_t count = 0;
         return aclrtGetDeviceCount(&count);
       }},
      {"aclrtSetDevice", [](Scene&) { return aclrtSetDevice(1); }},
      {"aclrtResetDevice", [](Scene&) { return aclrtResetDevice(0); }},
      {"aclrtGetSocName", [](Scene&) { return code_of(aclrtGetSocName()); }},
      {"aclrtDeviceCanAccessPeer",
       [](Scene& scene) { return aclrtDeviceCanAccessPeer(&scene.host, 0, 1); }},
      {"aclrtDeviceEnablePeerAccess", [](Scene&) { return aclrtDeviceEnablePeerAccess(1, 0); }},
      {"aclrtMalloc",
       [](Scene&) {
         void* memory = nullptr;
         return aclrtMalloc(&memory, 4, ACL_MEM_MALLOC_HUGE_FIRST);
       }},
      {"aclrtFree", [](Scene& scene) { return aclrtFree(scene.memory); }},
      {"aclrtGetMemInfo",
       [](Scene&) {
         std::size_t free = 0;
         std::size_t total = 0;
         return aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
       }},
      {"aclrtMemset", [](Scene& scene) { return aclrtMemset(scene.memory, 4, 0, 4); }},
      {"aclrtMemcpy",
       [](Scene& scene) {
         return aclrtMemcpy(scene.memory, 4, &scene.host, 4, ACL_MEMCPY_HOST_TO_DEVICE);
       }},
      {"aclrtMemcpyAsync",
       [](Scene& scene) {
         return aclrtMemcpyAsync(scene.memory, 4, &scene.host, 4, ACL_MEMCPY_HOST_TO_DEVICE,
                                 scene.stream);
       }},
      {"aclrtReduceAsync",
       [](Scene& scene) {
         return aclrtReduceAsync(scene.memory, scene.memory, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                 ACL_INT32, scene.stream, nullptr);
       }},
      {"aclrtCreateStream",
       [](Scene&) {
         aclrtStream stream = nullptr;
         return aclrtCreateStream(&stream);
       }},
      {"aclrtDestroyStream", [](Scene& scene) { return aclrtDestroyStream(scene.stream); }},
      {"aclrtSynchronizeStream", [](Scene& scene) { return aclrtSynchronizeStream(scene.stream); }},
  };
  return calls;
}

// How often a scene has called the function before the call under test.
int earlier_calls(const std::string& function) {
  return function == "aclrtSetDevice" || function == "aclrtMalloc" ||
         function == "aclrtCreateStream";
}

}  // namespace

TEST_CASE("every function can be made to fail, and has no other effect then") {
  for (const auto& [function, call] : all_calls()) {
    CAPTURE(function);
    const int number = earlier_calls(function) + 1;
    const std::string settings = "ACL_DOUBLE_FAIL=" + function + ":" + std::to_string(number);
    const bool is_text = function == "aclGetRecentErrMsg" || function == "aclrtGetSocName";
    for (const auto& [suffix, code] : std::map<std::string, aclError>{{"", 507899}, {":42", 42}}) {
      fresh(settings + suffix);
      Scene scene;
      if (function != "aclInit") {
        start(settings + suffix);
        scene.memory = allocate(4);
        scene.stream = create_stream();
      }
      CHECK(call(scene) == (is_text ? kNullText : code));
      if (function != "aclGetRecentErrMsg") {
        CHECK(aclGetRecentErrMsg() == function + ": made to fail by ACL_DOUBLE_FAIL");
        // The next call of it is right, as it would be had the failed one not been.
        CHECK(call(scene) == ACL_SUCCESS);
      }
      CHECK(acl_double::violations().size() ==
            (function == "aclrtResetDevice" ? 2U : 0U) + (function == "aclFinalize" ? 3U : 0U));
    }
  }
}

TEST_CASE("what an injected failure kept from being released is no leak") {
  const auto end = [](const std::string& settings) {
    start(settings);
    void* memory = allocate(4);
    aclrtStream stream = create_stream();
    const std::int32_t host = 1;
    CHECK(aclrtMemcpyAsync(memory, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream) == ACL_SUCCESS);
    int failures = 0;
    failures += aclrtSynchronizeStream(stream) != ACL_SUCCESS;
    failures += aclrtDestroyStream(stream) != ACL_SUCCESS;
    failures += aclrtFree(memory) != ACL_SUCCESS;
    failures += aclrtResetDevice(0) != ACL_SUCCESS;
    failures += aclFinalize() != ACL_SUCCESS;
    CHECK(clean());
    return failures;
  };
  CHECK(end("") == 0);
  CHECK(end("ACL_DOUBLE_FAIL=aclrtFree:2") == 0);
  CHECK(end("ACL_DOUBLE_FAIL=aclrtFree:1") == 1);
  CHECK(end("ACL_DOUBLE_FAIL=aclrtDestroyStream:1") == 1);
  CHECK(end("ACL_DOUBLE_FAIL=aclrtResetDevice:1") == 1);
  CHECK(end("ACL_DOUBLE_FAIL=aclrtSynchronizeStream:1") == 1);
}

TEST_CASE("settings come from the environment") {
  setenv("ACL_DOUBLE_DEVICES", "5", 1);
  acl_double_reset(nullptr);
  CHECK(aclInit(nullptr) == ACL_SUCCESS);
  std::uint32_t count = 0;
  CHECK(aclrtGetDeviceCount(&count) == ACL_SUCCESS);
  CHECK(count == 5);
  CHECK(aclFinalize() == ACL_SUCCESS);
  // They are read again at aclInit.
  setenv("ACL_DOUBLE_DEVICES", "6", 1);
  CHECK(aclInit(nullptr) == ACL_SUCCESS);
  CHECK(aclrtGetDeviceCount(&count) == ACL_SUCCESS);
  CHECK(count == 6);
  unsetenv("ACL_DOUBLE_DEVICES");
  fresh();
  CHECK(aclInit(nullptr) == ACL_SUCCESS);
  CHECK(aclrtGetDeviceCount(&count) == ACL_SUCCESS);
  CHECK(count == 8);
}

TEST_CASE("a setting that cannot be read ends the process with one line") {
  const ScratchFile err;
  for (const std::string setting :
       {"ACL_DOUBLE_DEVICES=two", "ACL_DOUBLE_DEVICES=-1", "ACL_DOUBLE_SEED=x",
        "ACL_DOUBLE_MEMORY=1G", "ACL_DOUBLE_NO_PEER=0", "ACL_DOUBLE_NO_PEER=0-1,",
        "ACL_DOUBLE_FAIL=aclrtFree", "ACL_DOUBLE_FAIL=aclrtFree:0", "ACL_DOUBLE_FAIL=aclrtFre:1",
        "ACL_DOUBLE_FAIL=aclrtFree:1:0", "ACL_DOUBLE_FAIL=aclrtFree:1:2:3", "ACL_DOUBLE_SEEDS=1"}) {
    CAPTURE(setting);
    CHECK(status_of([&] { fresh(setting); }, err.path()) == 2);
    const std::string line = err.text();
    CHECK(line.starts_with("acl_double: " + setting + "; expected "));
    CHECK(line.find('\n') == line.size() - 1);
  }
}

TEST_CASE("the report is written at aclFinalize, and is empty when all was right") {
  const ScratchFile report;
  start("ACL_DOUBLE_REPORT=" + report.path());
  CHECK_FALSE(report.exists());
  SUBCASE("clean") {
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    CHECK(aclFinalize() == ACL_SUCCESS);
    CHECK(report.exists());
    CHECK(report.text().empty());
  }
  SUBCASE("not clean") {
    CHECK(aclrtSetDevice(9) == 107001);
    CHECK(aclFinalize() == ACL_SUCCESS);
    CHECK(report.text() ==
          "aclrtSetDevice: device 9; expected one in [0, 8)\n"
          "aclFinalize: leak: device 0 is still set 1 times\n");
  }
  fresh();
}

TEST_CASE("the report is written at the end of the process too") {
  const ScratchFile report;
  const std::string settings = "ACL_DOUBLE_REPORT=" + report.path();
  SUBCASE("not finalised") {
    CHECK(status_of([&] {
            fresh(settings);
            aclInit(nullptr);
            aclrtSetDevice(0);
          }) == 0);
    CHECK(report.text() ==
          "exit: expected aclFinalize before\nexit: leak: device 0 is still set 1 times\n");
  }
  SUBCASE("misused after aclFinalize") {
    CHECK(status_of([&] {
            fresh(settings);
            aclInit(nullptr);
            aclFinalize();
            aclrtSetDevice(0);
          }) == 0);
    CHECK(report.text() == "aclrtSetDevice: called after aclFinalize\n");
  }
}

TEST_CASE("the log names every call in order") {
  const ScratchFile log;
  start("ACL_DOUBLE_LOG=" + log.path());
  CHECK(aclrtFree(nullptr) != ACL_SUCCESS);
  CHECK(aclGetRecentErrMsg() != nullptr);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CHECK(aclFinalize() == ACL_SUCCESS);
  CHECK(log.text() ==
        "aclInit\naclrtSetDevice\naclrtFree\naclGetRecentErrMsg\naclrtResetDevice\naclFinalize\n");
  fresh();
}
