// What the environment, or a test, asks of the double.
#ifndef SYMRACE_TESTS_ACL_DOUBLE_SETTINGS_H_
#define SYMRACE_TESTS_ACL_DOUBLE_SETTINGS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "tests/acl_double/acl_double.h"

namespace acl_double {

struct Settings {
  std::int32_t devices = 8;
  std::uint64_t seed = 0;
  std::size_t memory = std::size_t{1} << 30;                // bytes of a device
  std::set<std::pair<std::int32_t, std::int32_t>> no_peer;  // smaller device first
  std::string fail_function;
  std::uint64_t fail_call = 0;  // from 1
  aclError fail_code = ACL_ERROR_RT_DRV_INTERNAL_ERROR;
  std::size_t flip_bytes = 0;  // size of the copies to the host that come wrong; 0: none
  std::string report;
  std::string log;

  bool peers(std::int32_t a, std::int32_t b) const { return !no_peer.contains(std::minmax(a, b)); }
};

// From `text` as in acl_double_reset, or from the environment when it is null. A value that cannot
// be read ends the process with status 2.
Settings read_settings(const char* text);

}  // namespace acl_double

#endif  // SYMRACE_TESTS_ACL_DOUBLE_SETTINGS_H_
