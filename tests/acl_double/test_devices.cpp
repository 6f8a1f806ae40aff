#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/acl_double/session.h"

using acl_double::allocate;
using acl_double::check_misuse;
using acl_double::clean;
using acl_double::create_stream;
using acl_double::fresh;
using acl_double::read;
using acl_double::start;
using acl_double::violations;
using acl_double::write;

namespace {

using Ints = std::vector<std::int32_t>;

aclError between_devices(void* to, const void* from) {
  return aclrtMemcpy(to, 4, from, 4, ACL_MEMCPY_DEVICE_TO_DEVICE);
}

// Enables access both ways and leaves this thread on device `a`.
void enable(std::int32_t a, std::int32_t b) {
  REQUIRE(aclrtSetDevice(b) == ACL_SUCCESS);
  REQUIRE(aclrtDeviceEnablePeerAccess(a, 0) == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(a) == ACL_SUCCESS);
  REQUIRE(aclrtDeviceEnablePeerAccess(b, 0) == ACL_SUCCESS);
}

}  // namespace

TEST_CASE("nothing works before aclInit and after aclFinalize") {
  fresh();
  std::uint32_t count = 0;
  check_misuse(aclrtGetDeviceCount(&count), 100001, "aclrtGetDeviceCount: called before aclInit");
  start();
  REQUIRE(aclrtResetDevice(0) == ACL_SUCCESS);
  REQUIRE(aclFinalize() == ACL_SUCCESS);
  SUBCASE("set") { check_misuse(aclrtSetDevice(0), 100001, "called after aclFinalize"); }
  SUBCASE("allocate") {
    void* memory = nullptr;
    check_misuse(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), 100001,
                 "called after aclFinalize");
  }
  SUBCASE("name") {
    CHECK(aclrtGetSocName() == nullptr);
    CHECK(violations() == std::vector<std::string>{"aclrtGetSocName: called after aclFinalize"});
  }
  SUBCASE("finalize") { check_misuse(aclFinalize(), 100037, "called again"); }
  SUBCASE("a second round is allowed") {
    CHECK(aclInit(nullptr) == ACL_SUCCESS);
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    CHECK(aclFinalize() == ACL_SUCCESS);
    CHECK(clean());
  }
}

TEST_CASE("aclInit is called once, with nothing or a file") {
  fresh();
  SUBCASE("twice") {
    CHECK(aclInit(nullptr) == ACL_SUCCESS);
    check_misuse(aclInit(nullptr), 100002, "aclInit: called again");
  }
  SUBCASE("no such file") {
    check_misuse(aclInit("/nonexistent/acl.json"), 100003, "/nonexistent/acl.json; expected");
  }
  SUBCASE("finalize without it") { check_misuse(aclFinalize(), 100001, "called before aclInit"); }
}

TEST_CASE("there are so many devices, of a kind") {
  start("ACL_DOUBLE_DEVICES=3");
  std::uint32_t count = 0;
  CHECK(aclrtGetDeviceCount(&count) == ACL_SUCCESS);
  CHECK(count == 3);
  CHECK(std::string(aclrtGetSocName()).starts_with("Ascend910"));
  CHECK(clean());
  SUBCASE("none beyond") {
    check_misuse(aclrtSetDevice(3), 107001, "device 3; expected one in [0, 3)");
  }
  SUBCASE("none before") { check_misuse(aclrtSetDevice(-1), 107001, "device -1"); }
  SUBCASE("reset") { check_misuse(aclrtResetDevice(3), 107001, "device 3"); }
  SUBCASE("nowhere to put the count") {
    check_misuse(aclrtGetDeviceCount(nullptr), 100000, "count is null");
  }
}

TEST_CASE("a thread without a device is refused by what needs one") {
  fresh();
  REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
  void* memory = nullptr;
  aclrtStream stream = nullptr;
  std::size_t bytes = 0;
  std::int32_t host[2] = {0, 0};
  const char* part = "this thread has no device";
  SUBCASE("malloc") {
    check_misuse(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), 107002, part);
  }
  SUBCASE("free") { check_misuse(aclrtFree(host), 107002, part); }
  SUBCASE("info") { check_misuse(aclrtGetMemInfo(ACL_HBM_MEM, &bytes, &bytes), 107002, part); }
  SUBCASE("memset") { check_misuse(aclrtMemset(host, 8, 0, 8), 107002, part); }
  SUBCASE("memcpy") {
    check_misuse(aclrtMemcpy(host, 4, host + 1, 4, ACL_MEMCPY_HOST_TO_HOST), 107002, part);
  }
  SUBCASE("async") {
    check_misuse(aclrtMemcpyAsync(host, 4, host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream), 107002,
                 part);
  }
  SUBCASE("reduce") {
    check_misuse(aclrtReduceAsync(host, host, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                                  stream, nullptr),
                 107002, part);
  }
  SUBCASE("create") { check_misuse(aclrtCreateStream(&stream), 107002, part); }
  SUBCASE("destroy") { check_misuse(aclrtDestroyStream(stream), 107002, part); }
  SUBCASE("synchronise") { check_misuse(aclrtSynchronizeStream(stream), 107002, part); }
  SUBCASE("peer") { check_misuse(aclrtDeviceEnablePeerAccess(1, 0), 107002, part); }
}

TEST_CASE("the device is the thread's") {
  start();
  allocate(8);
  aclError code = ACL_SUCCESS;
  std::thread([&] {
    void* memory = nullptr;
    code = aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST);
  }).join();
  CHECK(code == 107002);
  CHECK(acl_double_violations() == 1);
}

TEST_CASE("memory of another device than the thread's is not copied") {
  start();
  void* memory = allocate(4);
  std::int32_t host = 0;
  REQUIRE(aclrtSetDevice(1) == ACL_SUCCESS);
  const char* part = "memory of device 0; this thread's device is 1";
  SUBCASE("from it") {
    check_misuse(aclrtMemcpy(&host, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST), 107000, part);
  }
  SUBCASE("to it") {
    check_misuse(aclrtMemcpy(memory, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE), 107000, part);
  }
  SUBCASE("memset") { check_misuse(aclrtMemset(memory, 4, 0, 4), 107000, part); }
}

TEST_CASE("devices are reset as often as set, and what is left on them is told") {
  start();
  SUBCASE("too often") {
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    check_misuse(aclrtResetDevice(0), 107002, "device 0 is not set");
  }
  SUBCASE("not set at all") { check_misuse(aclrtResetDevice(1), 107002, "device 1 is not set"); }
  SUBCASE("by another thread, while one uses it") {
    void* memory = allocate(4);
    std::thread([] {
      aclrtSetDevice(0);
      aclrtResetDevice(0);
    }).join();
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
    CHECK(clean());
  }
  SUBCASE("under the feet of a thread") {
    std::thread([] { aclrtResetDevice(0); }).join();
    void* memory = nullptr;
    check_misuse(aclrtMalloc(&memory, 4, ACL_MEM_MALLOC_HUGE_FIRST), 107002,
                 "device 0 of this thread was reset");
  }
  SUBCASE("with memory and a stream") {
    void* memory = allocate(24);
    aclrtStream stream = create_stream();
    CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
    REQUIRE(acl_double_violations() == 2);
    CHECK(acl_double::contains(violations()[0],
                               "aclrtResetDevice: leak on device 0: 24 bytes at 0x"));
    CHECK(violations()[1] == "aclrtResetDevice: leak on device 0: stream 0");
    REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
    CHECK(aclrtFree(memory) == 207002);
    CHECK(acl_double::contains(aclGetRecentErrMsg(), "was lost at aclrtResetDevice before"));
    CHECK(aclrtSynchronizeStream(stream) == 107017);
  }
}

TEST_CASE("aclFinalize tells what is left") {
  start();
  allocate(24);
  REQUIRE(aclrtSetDevice(2) == ACL_SUCCESS);
  create_stream();
  create_stream();
  REQUIRE(aclrtSetDevice(2) == ACL_SUCCESS);
  CHECK(aclFinalize() == ACL_SUCCESS);
  const std::vector<std::string> texts = violations();
  REQUIRE(texts.size() == 5);
  CHECK(acl_double::contains(texts[0], "aclFinalize: leak on device 0: 24 bytes at 0x"));
  CHECK(texts[1] == "aclFinalize: leak: device 0 is still set 1 times");
  CHECK(texts[2] == "aclFinalize: leak on device 2: stream 0");
  CHECK(texts[3] == "aclFinalize: leak on device 2: stream 1");
  CHECK(texts[4] == "aclFinalize: leak: device 2 is still set 2 times");
}

TEST_CASE("devices reach each other when access is enabled on both") {
  start();
  void* here = allocate(4);
  REQUIRE(aclrtSetDevice(1) == ACL_SUCCESS);
  void* there = allocate(4);
  write(there, Ints{7});
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  SUBCASE("not at all") {
    check_misuse(between_devices(here, there), 507899, "no peer access from device 0 to 1");
  }
  SUBCASE("one way") {
    REQUIRE(aclrtDeviceEnablePeerAccess(1, 0) == ACL_SUCCESS);
    check_misuse(between_devices(here, there), 507899, "no peer access from device 1 to 0");
  }
  SUBCASE("both") {
    enable(0, 1);
    CHECK(between_devices(here, there) == ACL_SUCCESS);
    CHECK(read<std::int32_t>(here, 1) == Ints{7});
    aclrtStream stream = create_stream();
    CHECK(aclrtReduceAsync(there, here, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream,
                           nullptr) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(between_devices(here, there) == ACL_SUCCESS);
    CHECK(read<std::int32_t>(here, 1) == Ints{14});
    CHECK(clean());
    REQUIRE(aclrtSetDevice(2) == ACL_SUCCESS);
    check_misuse(between_devices(here, there), 107000,
                 "memory of device 0 and 1; this thread's device is 2");
  }
}

TEST_CASE("peer access is enabled once, to another device, where there is any") {
  start("ACL_DOUBLE_NO_PEER=0-2,5-3");
  const auto can = [](std::int32_t a, std::int32_t b) {
    std::int32_t answer = -1;
    CHECK(aclrtDeviceCanAccessPeer(&answer, a, b) == ACL_SUCCESS);
    return answer;
  };
  CHECK(can(0, 1) == 1);
  CHECK(can(0, 2) == 0);
  CHECK(can(2, 0) == 0);
  CHECK(can(3, 5) == 0);
  CHECK(aclrtDeviceEnablePeerAccess(2, 0) == 207000);
  CHECK(std::string(aclGetRecentErrMsg()) ==
        "aclrtDeviceEnablePeerAccess: device 0 cannot access device 2");
  CHECK(clean());
  std::int32_t answer = 0;
  SUBCASE("twice") {
    CHECK(aclrtDeviceEnablePeerAccess(1, 0) == ACL_SUCCESS);
    check_misuse(aclrtDeviceEnablePeerAccess(1, 0), 100000,
                 "access from device 0 to 1 is already enabled");
  }
  SUBCASE("itself") {
    check_misuse(aclrtDeviceEnablePeerAccess(0, 0), 100000, "device 0 is its own peer");
  }
  SUBCASE("flags") { check_misuse(aclrtDeviceEnablePeerAccess(1, 1), 200006, "flags 1"); }
  SUBCASE("no such device") { check_misuse(aclrtDeviceEnablePeerAccess(8, 0), 107001, "device 8"); }
  SUBCASE("can itself") {
    check_misuse(aclrtDeviceCanAccessPeer(&answer, 1, 1), 100000, "device 1 is its own peer");
  }
  SUBCASE("can null") {
    check_misuse(aclrtDeviceCanAccessPeer(nullptr, 0, 1), 100000, "canAccessPeer is null");
  }
}
