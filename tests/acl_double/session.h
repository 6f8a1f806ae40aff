// What the suites of the double share: a fresh double a test, and checks of what it records.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_SESSION_H_
#define SYMRACE_TESTS_ACL_DOUBLE_SESSION_H_

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/acl_double/acl_double.h"

namespace acl_double {

// A double with these settings only; what the last test left behind is forgotten.
inline void fresh(const std::string& settings = "") { acl_double_reset(settings.c_str()); }

// The same, initialised, and with a device for this thread.
inline void start(const std::string& settings = "", std::int32_t device = 0) {
  fresh(settings);
  REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(device) == ACL_SUCCESS);
}

inline std::vector<std::string> violations() {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < acl_double_violations(); ++i) {
    texts.emplace_back(acl_double_violation(i));
  }
  return texts;
}

inline bool clean() { return acl_double_violations() == 0; }

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// `code` came from a call that must have returned `expected`, and that recorded one misuse, whose
// text has `part`.
inline void check_misuse(aclError code, aclError expected, const std::string& part) {
  CHECK(code == expected);
  const std::vector<std::string> texts = violations();
  REQUIRE(texts.size() == 1);
  CHECK_MESSAGE(contains(texts.front(), part), texts.front());
  if (expected != ACL_SUCCESS) CHECK(aclGetRecentErrMsg() == texts.front());
}

inline void* allocate(std::size_t bytes) {
  void* pointer = nullptr;
  REQUIRE(aclrtMalloc(&pointer, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  return pointer;
}

inline std::byte* at(void* pointer, std::size_t offset) {
  return static_cast<std::byte*>(pointer) + offset;
}

inline aclrtStream create_stream() {
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  return stream;
}

template <class T>
void write(void* to, const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  REQUIRE(aclrtMemcpy(to, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
}

template <class T>
std::vector<T> read(const void* from, std::size_t count) {
  std::vector<T> values(count);
  const std::size_t bytes = count * sizeof(T);
  REQUIRE(aclrtMemcpy(values.data(), bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  return values;
}

}  // namespace acl_double

#endif  // SYMRACE_TESTS_ACL_DOUBLE_SESSION_H_
