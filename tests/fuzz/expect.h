// What a fuzz target finds out is told by an abort, which libFuzzer and the tests both see.
#ifndef SYMRACE_TESTS_FUZZ_EXPECT_H_
#define SYMRACE_TESTS_FUZZ_EXPECT_H_

#include <absl/status/status.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace fuzz {

// Aborts unless it holds.
inline void expect(bool holds, const char* what, const std::string& actual = {}) {
  if (holds) return;
  std::fprintf(stderr, "expected: %s\n%s\n", what, actual.c_str());
  std::abort();
}

inline void expect_one_line(const std::string& message) {
  expect(!message.empty() && message.find('\n') == std::string::npos,
         "an error message of one line", message);
}
inline void expect_one_line(const absl::Status& status) {
  expect_one_line(std::string(status.message()));
}

}  // namespace fuzz

#endif  // SYMRACE_TESTS_FUZZ_EXPECT_H_
