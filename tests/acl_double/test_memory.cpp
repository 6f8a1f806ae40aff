#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "tests/acl_double/session.h"

using acl_double::allocate;
using acl_double::at;
using acl_double::check_misuse;
using acl_double::clean;
using acl_double::create_stream;
using acl_double::read;
using acl_double::start;
using acl_double::write;

namespace {

// The signal that ends a child which runs `body`; 0 when it lives on.
template <class Body>
int signal_of(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // whatever doctest or a sanitizer does about it
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

aclError to_device(void* to, std::size_t to_max, const void* from, std::size_t bytes) {
  return aclrtMemcpy(to, to_max, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
}

aclError to_host(void* to, const void* from, std::size_t bytes) {
  return aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
}

}  // namespace

TEST_CASE("a round trip is clean") {
  start();
  void* memory = allocate(10000);
  const std::vector<std::uint8_t> values(10000, 7);
  write(memory, values);
  CHECK(read<std::uint8_t>(memory, 10000) == values);
  CHECK(aclrtMemset(at(memory, 1), 9999, 3, 2) == ACL_SUCCESS);
  CHECK(read<std::uint8_t>(memory, 5) == std::vector<std::uint8_t>{7, 3, 3, 7, 7});
  void* other = allocate(4);
  CHECK(aclrtMemcpy(other, 4, at(memory, 2), 4, ACL_MEMCPY_DEVICE_TO_DEVICE) == ACL_SUCCESS);
  CHECK(read<std::uint8_t>(other, 4) == std::vector<std::uint8_t>{3, 7, 7, 7});
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
  CHECK(aclrtFree(other) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CHECK(aclFinalize() == ACL_SUCCESS);
  CHECK(clean());
}

TEST_CASE("the host cannot touch device memory, from the first byte to the last") {
  start();
  auto* memory = static_cast<volatile std::uint8_t*>(allocate(5000));
  for (const std::size_t offset : {std::size_t{0}, std::size_t{4999}}) {
    CHECK(signal_of([&] { static_cast<void>(memory[offset]); }) == SIGSEGV);
    CHECK(signal_of([&] { memory[offset] = 1; }) == SIGSEGV);
  }
  CHECK(aclrtFree(const_cast<std::uint8_t*>(memory)) == ACL_SUCCESS);
  CHECK(signal_of([&] { static_cast<void>(memory[0]); }) == SIGSEGV);
}

TEST_CASE("new memory is not zero") {
  start();
  const auto values = read<std::uint8_t>(allocate(5000), 5000);
  CHECK(std::none_of(values.begin(), values.end(), [](std::uint8_t byte) { return byte == 0; }));
}

TEST_CASE("an address does not come again") {
  start();
  std::set<void*> addresses;
  for (int i = 0; i < 20; ++i) {
    void* memory = allocate(4096);
    CHECK(addresses.insert(memory).second);
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
  }
  CHECK(clean());
}

TEST_CASE("a copy stays in its allocation, to the byte") {
  start();
  void* memory = allocate(100);
  std::vector<std::uint8_t> host(200);
  CHECK(to_device(at(memory, 60), 40, host.data(), 40) == ACL_SUCCESS);
  CHECK(clean());
  SUBCASE("destination too long") {
    check_misuse(to_device(at(memory, 60), 41, host.data(), 41), 107000,
                 "aclrtMemcpy: bytes [60, 101) of an allocation of 100 bytes");
  }
  SUBCASE("source too long") {
    check_misuse(to_host(host.data(), memory, 101), 107000, "bytes [0, 101) of");
  }
  SUBCASE("memset too long") {
    check_misuse(aclrtMemset(memory, 101, 0, 101), 107000, "aclrtMemset: bytes [0, 101) of");
  }
  SUBCASE("behind its end, on its last page") {
    check_misuse(to_host(host.data(), at(memory, 101), 1), 107000, "bytes [101, 102) of");
  }
}

TEST_CASE("a copy needs room, bytes and pointers") {
  start();
  void* memory = allocate(100);
  std::vector<std::uint8_t> host(100);
  SUBCASE("destination") {
    check_misuse(to_device(memory, 99, host.data(), 100), 107000,
                 "100 bytes into a destination of 99");
  }
  SUBCASE("memset") {
    check_misuse(aclrtMemset(memory, 99, 0, 100), 107000, "100 bytes into a destination of 99");
  }
  SUBCASE("nothing") { check_misuse(to_device(memory, 1, host.data(), 0), 107000, "0 bytes"); }
  SUBCASE("to null") { check_misuse(to_device(nullptr, 9, host.data(), 9), 100000, "dst is null"); }
  SUBCASE("from null") { check_misuse(to_host(host.data(), nullptr, 9), 100000, "src is null"); }
}

TEST_CASE("the kind tells where both ends are") {
  start();
  void* device = allocate(8);
  std::vector<std::uint8_t> host(8);
  const struct {
    const char* name;
    bool to_device;
    bool from_device;
    aclrtMemcpyKind kind;
    const char* part;  // null: allowed
  } cases[] = {
      {"hh as hh", false, false, ACL_MEMCPY_HOST_TO_HOST, nullptr},
      {"dh as hh", true, false, ACL_MEMCPY_HOST_TO_HOST, "dst is device memory; kind 0"},
      {"hd as hh", false, true, ACL_MEMCPY_HOST_TO_HOST, "src is device memory; kind 0"},
      {"hh as hd", false, false, ACL_MEMCPY_HOST_TO_DEVICE, "dst is host memory; kind 1"},
      {"dd as hd", true, true, ACL_MEMCPY_HOST_TO_DEVICE, "src is device memory; kind 1"},
      {"hh as dh", false, false, ACL_MEMCPY_DEVICE_TO_HOST, "src is host memory; kind 2"},
      {"dd as dh", true, true, ACL_MEMCPY_DEVICE_TO_HOST, "dst is device memory; kind 2"},
      {"hd as dd", false, true, ACL_MEMCPY_DEVICE_TO_DEVICE, "dst is host memory; kind 3"},
      {"dh as dd", true, false, ACL_MEMCPY_DEVICE_TO_DEVICE, "src is host memory; kind 3"},
      {"kind 4", true, true, static_cast<aclrtMemcpyKind>(4), "kind 4; expected 0 to 3"},
  };
  for (const auto& example : cases) {
    SUBCASE(example.name) {
      void* to = example.to_device ? device : host.data();
      const void* from = example.from_device ? device : host.data() + 4;
      const aclError code = aclrtMemcpy(to, 4, from, 4, example.kind);
      if (example.part == nullptr) {
        CHECK(code == ACL_SUCCESS);
        CHECK(clean());
      } else {
        check_misuse(code, 107000, example.part);
      }
    }
  }
}

TEST_CASE("memset is for device memory") {
  start();
  std::vector<std::uint8_t> host(8);
  check_misuse(aclrtMemset(host.data(), 8, 0, 8), 107000, "devPtr is host memory");
}

TEST_CASE("memory is freed once, by its address, on its device") {
  start();
  void* memory = allocate(4096);
  int host = 0;
  SUBCASE("twice") {
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
    check_misuse(aclrtFree(memory), 207002, "was freed before");
  }
  SUBCASE("of the host") { check_misuse(aclrtFree(&host), 207002, "is not from aclrtMalloc"); }
  SUBCASE("inside") { check_misuse(aclrtFree(at(memory, 8)), 207002, "is not from aclrtMalloc"); }
  SUBCASE("null") { check_misuse(aclrtFree(nullptr), 100000, "devPtr is null"); }
  SUBCASE("another device") {
    CHECK(aclrtSetDevice(1) == ACL_SUCCESS);
    check_misuse(aclrtFree(memory), 107000, "memory of device 0; this thread's device is 1");
  }
}

TEST_CASE("freed memory is not used") {
  start();
  void* memory = allocate(8);
  std::uint64_t host = 0;
  REQUIRE(aclrtFree(memory) == ACL_SUCCESS);
  check_misuse(to_host(&host, memory, 8), 107000, "is in device memory that was freed");
}

TEST_CASE("memory is not freed while a stream may use it") {
  start();
  void* memory = allocate(8);
  static const std::uint64_t host = 1;  // outlives the stream
  aclrtStream stream = create_stream();
  REQUIRE(aclrtMemcpyAsync(memory, 8, &host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream) == ACL_SUCCESS);
  SUBCASE("before a synchronise") {
    check_misuse(aclrtFree(memory), ACL_SUCCESS, "a stream may still use it");
  }
  SUBCASE("after it") {
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(aclrtFree(memory) == ACL_SUCCESS);
    CHECK(clean());
  }
}

TEST_CASE("a device has so much memory, and tells how much is free") {
  start("ACL_DOUBLE_MEMORY=10000");
  const auto free_bytes = [] {
    std::size_t free = 1;
    std::size_t total = 1;
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS);
    CHECK(total == 10000);
    return free;
  };
  void* memory = allocate(6000);
  CHECK(free_bytes() == 4000);
  void* none = nullptr;
  CHECK(aclrtMalloc(&none, 4001, ACL_MEM_MALLOC_HUGE_FIRST) == 207001);
  CHECK(none == nullptr);
  CHECK(std::string(aclGetRecentErrMsg()) ==
        "aclrtMalloc: 4001 bytes on device 0, which has 4000 of 10000 free");
  CHECK(aclrtSetDevice(1) == ACL_SUCCESS);
  CHECK(free_bytes() == 10000);
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
  CHECK(free_bytes() == 10000);
  allocate(10000);
  CHECK(free_bytes() == 0);
  std::size_t free = 1;
  std::size_t total = 1;
  CHECK(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total) == ACL_SUCCESS);
  CHECK(free == 0);
  CHECK(total == 0);
  CHECK(clean());
}

TEST_CASE("aclrtMalloc wants a pointer, bytes and a policy") {
  start();
  void* memory = nullptr;
  SUBCASE("pointer") {
    check_misuse(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), 100000, "devPtr is null");
  }
  SUBCASE("bytes") {
    check_misuse(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000, "0 bytes");
  }
  SUBCASE("policy") {
    check_misuse(aclrtMalloc(&memory, 8, static_cast<aclrtMemMallocPolicy>(6)), 100000,
                 "policy 6; expected 0 to 5");
  }
  SUBCASE("free and total") {
    std::size_t bytes = 0;
    check_misuse(aclrtGetMemInfo(ACL_HBM_MEM, &bytes, nullptr), 100000, "total is null");
  }
}
