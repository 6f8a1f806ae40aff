// How a call fails: by misuse, which is recorded, or without anybody's fault.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_ERRORS_H_
#define SYMRACE_TESTS_ACL_DOUBLE_ERRORS_H_

#include <string>
#include <utility>

#include "tests/acl_double/acl_double.h"

namespace acl_double {

struct CallError {
  aclError code;
  std::string text;  // without the function's name
  bool misuse;
};

[[noreturn]] inline void misuse(aclError code, std::string text) {
  throw CallError{code, std::move(text), true};
}
[[noreturn]] inline void failure(aclError code, std::string text) {
  throw CallError{code, std::move(text), false};
}

}  // namespace acl_double

#endif  // SYMRACE_TESTS_ACL_DOUBLE_ERRORS_H_
