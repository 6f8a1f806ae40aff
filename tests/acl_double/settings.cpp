#include "tests/acl_double/settings.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

namespace acl_double {
namespace {

constexpr const char* kNames[] = {"ACL_DOUBLE_DEVICES", "ACL_DOUBLE_SEED", "ACL_DOUBLE_MEMORY",
                                  "ACL_DOUBLE_NO_PEER", "ACL_DOUBLE_FAIL", "ACL_DOUBLE_FLIP",
                                  "ACL_DOUBLE_REPORT",  "ACL_DOUBLE_LOG"};

constexpr const char* kFunctions[] = {"aclInit",
                                      "aclFinalize",
                                      "aclGetRecentErrMsg",
                                      "aclrtGetDeviceCount",
                                      "aclrtSetDevice",
                                      "aclrtResetDevice",
                                      "aclrtGetSocName",
                                      "aclrtDeviceCanAccessPeer",
                                      "aclrtDeviceEnablePeerAccess",
                                      "aclrtMalloc",
                                      "aclrtFree",
                                      "aclrtGetMemInfo",
                                      "aclrtMemset",
                                      "aclrtMemcpy",
                                      "aclrtMemcpyAsync",
                                      "aclrtReduceAsync",
                                      "aclrtCreateStream",
                                      "aclrtDestroyStream",
                                      "aclrtSynchronizeStream"};

bool is_in(absl::Span<const char* const> names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void refuse(absl::string_view name, absl::string_view value, const char* expected) {
  const std::string line =
      absl::StrCat("acl_double: ", name, "=", value, "; expected ", expected, "\n");
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  _exit(2);
}

std::map<std::string, std::string> values(const char* text) {
  std::map<std::string, std::string> found;
  if (text == nullptr) {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      if (value != nullptr) found[name] = value;
    }
    return found;
  }
  for (absl::string_view entry : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (!is_in(kNames, pair.first))
      refuse(pair.first, pair.second, "a name that acl_double.h tells");
    found[std::string(pair.first)] = std::string(pair.second);
  }
  return found;
}

void read_no_peer(absl::string_view value, Settings& settings) {
  for (absl::string_view pair : absl::StrSplit(value, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(pair, '-');
    std::int32_t a = 0;
    std::int32_t b = 0;
    if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &a) || !absl::SimpleAtoi(ends[1], &b)) {
      refuse("ACL_DOUBLE_NO_PEER", value, "pairs of devices as in 0-1,2-3");
    }
    settings.no_peer.insert(std::minmax(a, b));
  }
}

void read_fail(absl::string_view value, Settings& settings) {
  const std::vector<absl::string_view> parts = absl::StrSplit(value, ':');
  const bool well_formed =
      (parts.size() == 2 || parts.size() == 3) && is_in(kFunctions, parts[0]) &&
      absl::SimpleAtoi(parts[1], &settings.fail_call) && settings.fail_call > 0 &&
      (parts.size() == 2 ||
       (absl::SimpleAtoi(parts[2], &settings.fail_code) && settings.fail_code != ACL_SUCCESS));
  if (!well_formed) {
    refuse("ACL_DOUBLE_FAIL", value,
           "FUNCTION:K[:CODE], a function of acl_double.h, K from 1, CODE not 0");
  }
  settings.fail_function = std::string(parts[0]);
}

}  // namespace

Settings read_settings(const char* text) {
  Settings settings;
  for (const auto& [name, value] : values(text)) {
    if (name == "ACL_DOUBLE_DEVICES") {
      if (!absl::SimpleAtoi(value, &settings.devices) || settings.devices < 0) {
        refuse(name, value, "a count of devices");
      }
    } else if (name == "ACL_DOUBLE_SEED") {
      if (!absl::SimpleAtoi(value, &settings.seed)) refuse(name, value, "a 64-bit seed");
    } else if (name == "ACL_DOUBLE_MEMORY") {
      if (!absl::SimpleAtoi(value, &settings.memory)) refuse(name, value, "bytes a device");
    } else if (name == "ACL_DOUBLE_NO_PEER") {
      read_no_peer(value, settings);
    } else if (name == "ACL_DOUBLE_FAIL") {
      read_fail(value, settings);
    } else if (name == "ACL_DOUBLE_FLIP") {
      if (!absl::SimpleAtoi(value, &settings.flip_bytes)) refuse(name, value, "bytes of a copy");
    } else if (name == "ACL_DOUBLE_REPORT") {
      settings.report = value;
    } else {
      settings.log = value;
    }
  }
  return settings;
}

}  // namespace acl_double
