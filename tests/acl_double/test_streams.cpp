#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/acl_double/session.h"

using acl_double::allocate;
using acl_double::at;
using acl_double::check_misuse;
using acl_double::clean;
using acl_double::create_stream;
using acl_double::fresh;
using acl_double::read;
using acl_double::start;
using acl_double::write;

namespace {

using Ints = std::vector<std::int32_t>;

aclError to_device(void* to, const void* from, std::size_t bytes, aclrtStream stream) {
  return aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
}

aclError to_host(void* to, const void* from, std::size_t bytes, aclrtStream stream) {
  return aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream);
}

std::string seed(int number) { return "ACL_DOUBLE_SEED=" + std::to_string(number); }

}  // namespace

TEST_CASE("operations of one stream run in order") {
  for (int number = 0; number < 20; ++number) {
    start(seed(number));
    void* memory = allocate(4);
    aclrtStream stream = create_stream();
    Ints values(10);
    for (std::int32_t i = 0; i < 10; ++i) {
      values[static_cast<std::size_t>(i)] = i;
      REQUIRE(to_device(memory, &values[static_cast<std::size_t>(i)], 4, stream) == ACL_SUCCESS);
    }
    std::int32_t last = -1;
    REQUIRE(to_host(&last, memory, 4, stream) == ACL_SUCCESS);
    REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(last == 9);
    CHECK(clean());
  }
}

TEST_CASE("a copy to the device reads its source when it runs") {
  start();
  void* memory = allocate(4);
  write(memory, Ints{1});
  aclrtStream stream = create_stream();
  acl_double_hold_streams(true);
  std::int32_t source = 2;
  REQUIRE(to_device(memory, &source, 4, stream) == ACL_SUCCESS);
  CHECK(read<std::int32_t>(memory, 1) == Ints{1});
  source = 3;
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(read<std::int32_t>(memory, 1) == Ints{3});
  CHECK(clean());
}

TEST_CASE("a copy to the host writes when it runs") {
  start();
  void* memory = allocate(4);
  write(memory, Ints{1});
  aclrtStream stream = create_stream();
  acl_double_hold_streams(true);
  std::int32_t target = 0;
  REQUIRE(to_host(&target, memory, 4, stream) == ACL_SUCCESS);
  CHECK(target == 0);
  write(memory, Ints{2});
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(target == 2);
  CHECK(clean());
}

TEST_CASE("without a synchronise some seed shows old data, with it none does") {
  bool old = false;
  int seeds = 0;
  for (int number = 0; number < 1000 && !(old && number >= 20); ++number, ++seeds) {
    start(seed(number));
    void* memory = allocate(4);
    write(memory, Ints{1});
    aclrtStream stream = create_stream();
    const std::int32_t source = 2;
    REQUIRE(to_device(memory, &source, 4, stream) == ACL_SUCCESS);
    old = old || read<std::int32_t>(memory, 1) == Ints{1};
    REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(read<std::int32_t>(memory, 1) == Ints{2});
  }
  CHECK(old);
}

TEST_CASE("streams are not ordered among each other") {
  std::set<std::int32_t> last;
  for (int number = 0; number < 1000 && last.size() < 2; ++number) {
    start(seed(number));
    void* memory = allocate(4);
    const Ints sources{1, 2};
    const aclrtStream streams[] = {create_stream(), create_stream()};
    acl_double_hold_streams(true);
    REQUIRE(to_device(memory, &sources[0], 4, streams[0]) == ACL_SUCCESS);
    REQUIRE(to_device(memory, &sources[1], 4, streams[1]) == ACL_SUCCESS);
    acl_double_hold_streams(false);
    REQUIRE(aclrtSynchronizeStream(streams[0]) == ACL_SUCCESS);
    REQUIRE(aclrtSynchronizeStream(streams[1]) == ACL_SUCCESS);
    last.insert(read<std::int32_t>(memory, 1).front());
  }
  CHECK(last == std::set<std::int32_t>{1, 2});
}

TEST_CASE("a synchronise waits for its stream only") {
  start();
  void* memory = allocate(8);
  write(memory, Ints{0, 0});
  const Ints sources{1, 2};
  aclrtStream first = create_stream();
  aclrtStream second = create_stream();
  acl_double_hold_streams(true);
  REQUIRE(to_device(memory, &sources[0], 4, first) == ACL_SUCCESS);
  REQUIRE(to_device(at(memory, 4), &sources[1], 4, second) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(second) == ACL_SUCCESS);
  CHECK(read<std::int32_t>(memory, 2) == Ints{0, 2});
  REQUIRE(aclrtSynchronizeStream(first) == ACL_SUCCESS);
  CHECK(read<std::int32_t>(memory, 2) == Ints{1, 2});
  CHECK(clean());
}

TEST_CASE("a stream with work is destroyed after that, and it is misuse") {
  start();
  void* memory = allocate(4);
  aclrtStream stream = create_stream();
  const std::int32_t source = 5;
  REQUIRE(to_device(memory, &source, 4, stream) == ACL_SUCCESS);
  SUBCASE("not synchronised") {
    check_misuse(aclrtDestroyStream(stream), ACL_SUCCESS, "aclrtDestroyStream: it has work");
    CHECK(read<std::int32_t>(memory, 1) == Ints{5});
  }
  SUBCASE("synchronised") {
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
    CHECK(clean());
  }
}

TEST_CASE("a stream belongs to a device") {
  start();
  void* memory = allocate(4);
  aclrtStream stream = create_stream();
  const std::int32_t source = 0;
  REQUIRE(aclrtSetDevice(1) == ACL_SUCCESS);
  const char* part = "is of device 0; this thread's device is 1";
  SUBCASE("synchronise") { check_misuse(aclrtSynchronizeStream(stream), 107003, part); }
  SUBCASE("destroy") { check_misuse(aclrtDestroyStream(stream), 107003, part); }
  SUBCASE("copy") { check_misuse(to_device(memory, &source, 4, stream), 107003, part); }
  SUBCASE("reduce") {
    check_misuse(aclrtReduceAsync(memory, memory, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                                  stream, nullptr),
                 107003, part);
  }
}

TEST_CASE("another thread of the device may use the stream, one without a device may not") {
  start();
  aclrtStream stream = create_stream();
  aclError with = -1;
  aclError without = -1;
  std::string text;
  std::thread([&] {
    without = aclrtSynchronizeStream(stream);
    text = aclGetRecentErrMsg();
    aclrtSetDevice(0);
    with = aclrtSynchronizeStream(stream);
    aclrtResetDevice(0);
  }).join();
  CHECK(with == ACL_SUCCESS);
  CHECK(text ==
        "aclrtSynchronizeStream: this thread has no device; expected aclrtSetDevice before");
  // The text is that thread's.
  CHECK(aclGetRecentErrMsg() == nullptr);
  CHECK(without == 107002);
  CHECK(acl_double_violations() == 1);
}

TEST_CASE("only live streams are used") {
  start();
  aclrtStream stream = create_stream();
  int host = 0;
  SUBCASE("null") { check_misuse(aclrtSynchronizeStream(nullptr), 100000, "stream 0x0"); }
  SUBCASE("foreign") {
    check_misuse(aclrtSynchronizeStream(&host), 107017, "expected one from aclrtCreateStream");
  }
  SUBCASE("destroyed") {
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    SUBCASE("again") { check_misuse(aclrtDestroyStream(stream), 107017, "was destroyed before"); }
    SUBCASE("used") {
      check_misuse(aclrtSynchronizeStream(stream), 107017, "was destroyed before");
    }
  }
  SUBCASE("nowhere to put it") {
    check_misuse(aclrtCreateStream(nullptr), 100000, "stream is null");
  }
}

TEST_CASE("asynchronous copies are checked when they are given") {
  start();
  void* memory = allocate(4);
  aclrtStream stream = create_stream();
  std::int32_t host[2] = {0, 0};
  SUBCASE("range") {
    check_misuse(to_device(memory, host, 8, stream), 107000, "bytes [0, 8) of an allocation of 4");
  }
  SUBCASE("kind") {
    check_misuse(to_host(memory, host, 4, stream), 107000, "dst is device memory; kind 2");
  }
  SUBCASE("host to host") {
    check_misuse(aclrtMemcpyAsync(host, 4, host + 1, 4, ACL_MEMCPY_HOST_TO_HOST, stream), 207000,
                 "host to host");
  }
}
