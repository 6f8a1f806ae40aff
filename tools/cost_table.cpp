#include "tools/cost_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tools/usage_error.h"

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::size_t kLongestName = 40;
constexpr std::string_view kPaths[] = {"staged", "async"};

std::string read_text(std::string_view flag, const std::string& path) {
  const auto fail = [&](int error) -> std::string {
    throw UsageError(flag, ": cannot read '", path, "': ", std::strerror(error),
                     "; expected a file with a cost table");
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(errno);
  std::string text;
  int error = 0;
  while (text.size() <= kMostBytes) {
    char buffer[4096];
    const ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  if (error != 0) return fail(error);
  if (text.size() > kMostBytes) {
    throw UsageError(flag, ": '", path, "' has more than ", kMostBytes,
                     " bytes; expected a cost table");
  }
  return text;
}

class TableReader {
 public:
  TableReader(std::string_view flag, const std::string& path) : flag_(flag), path_(path) {}

  emu::CostModel read() {
    const Json table = parse(read_text(flag_, path_));
    if (!table.is_object()) fail("", "is no object", "{\"name\": ..., \"path\": ..., ...}");
    emu::CostModel model;
    std::set<std::string> keys = {"name", "path"};
    std::set<std::string> groups;
    for (const CostParameter& parameter : cost_parameters()) {
      keys.insert(parameter.name());
      if (!parameter.group.empty()) groups.insert(std::string(parameter.group));
    }
    refuse_unknown(table, "", keys, groups);
    model.name = name(value(table, "name"));
    const Json& path = value(table, "path");
    if (path != kPaths[0] && path != kPaths[1]) {
      fail("path", "is " + shown(path), "\"staged\" or \"async\"");
    }
    if (path == kPaths[1]) model.path = emu::CostModel::Path::kAsync;
    for (const std::string& group : groups) {
      const Json& members = value(table, group);
      if (!members.is_object()) fail(group, "is " + shown(members), "an object");
      refuse_unknown(members, group + ".", keys, {});
    }
    for (const CostParameter& parameter : cost_parameters()) {
      const Json& members =
          parameter.group.empty() ? table : table.at(std::string(parameter.group));
      const auto found = members.find(std::string(parameter.key));
      const std::string range =
          "an integer of picoseconds from 0 to " + std::to_string(parameter.largest);
      if (found == members.end()) fail(parameter.name(), "is missing", range);
      if (!found->is_number_unsigned() || found->get<std::uint64_t>() > parameter.largest) {
        fail(parameter.name(), "is " + shown(*found), range);
      }
      parameter.of(model) = found->get<std::uint64_t>();
    }
    return model;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& wrong,
                         const std::string& expected) const {
    throw UsageError(flag_, ": '", path_, "': ", key.empty() ? "" : "'" + key + "' ", wrong,
                     "; expected ", expected);
  }

  static std::string shown(const Json& value) {
    constexpr std::size_t kLongest = 40;
    const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
  }

  // The library keeps the last of several values of a key; here a key has one.
  Json parse(const std::string& text) const {
    std::vector<std::set<std::string>> seen;
    std::string twice;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
      constexpr int kDeepest = 8;
      if (event == Json::parse_event_t::object_start) seen.emplace_back();
      if (event == Json::parse_event_t::object_end) seen.pop_back();
      if (event == Json::parse_event_t::key &&
          !seen.back().insert(parsed.get<std::string>()).second) {
        twice = parsed.get<std::string>();
      }
      return depth < kDeepest;
    };
    try {
      Json table = Json::parse(text, watch);
      if (!twice.empty()) fail(twice, "is there twice", "each key once");
      return table;
    } catch (const Json::parse_error& error) {
      const std::string before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
      const auto line = 1 + std::count(before.begin(), before.end(), '\n');
      const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
      fail("",
           "is no JSON: line " + std::to_string(line) + ", column " + std::to_string(column) +
               " does not go on as it should",
           "a cost table");
    } catch (const Json::exception&) {  // a number that no double holds
      fail("", "holds a number out of range", "integers of picoseconds");
    }
  }

  const Json& value(const Json& table, const std::string& key) const {
    const auto found = table.find(key);
    if (found == table.end()) fail(key, "is missing", "all keys of a cost table");
    return *found;
  }

  void refuse_unknown(const Json& members, const std::string& prefix,
                      const std::set<std::string>& keys,
                      const std::set<std::string>& groups) const {
    for (const auto& [key, ignored] : members.items()) {
      const std::string name = prefix + key;
      // "staged.start_ps" at the top is not the start_ps of staged.
      const bool known = key.find('.') == std::string::npos && keys.count(name) != 0;
      if (!known && groups.count(name) == 0) {
        fail(name.substr(0, kLongestName), "is unknown", "the keys of docs/modelled-time.md");
      }
    }
  }

  std::string name(const Json& value) const {
    const std::string expected =
        "1 to " + std::to_string(kLongestName) + " letters, digits, '-', '_' and '.'";
    if (!value.is_string()) fail("name", "is " + shown(value), expected);
    const auto& text = value.get_ref<const std::string&>();
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (text.empty() || text.size() > kLongestName ||
        text.find_first_not_of(kLetters) != std::string::npos) {
      fail("name", "is " + shown(value), expected);
    }
    return text;
  }

  std::string_view flag_;
  const std::string& path_;
};

}  // namespace

const std::array<CostParameter, 7>& cost_parameters() {
  using emu::CostModel;
  using emu::Picoseconds;
  static const std::array<CostParameter, 7> parameters = {{
      {"staged", "start_ps", "ps a load or store", CostModel::kLongest,
       [](CostModel& m) -> Picoseconds& { return m.staged.start; },
       "fit: a 4 KiB chunk takes 738.5 ns"},
      {"staged", "remote_ps_per_kib", "ps a KiB", CostModel::kSlowestPerKib,
       [](CostModel& m) -> Picoseconds& { return m.staged.remote_per_kib; },
       "assumed: as async.ps_per_kib"},
      {"staged", "local_ps_per_kib", "ps a KiB", CostModel::kSlowestPerKib,
       [](CostModel& m) -> Picoseconds& { return m.staged.local_per_kib; },
       "assumed: as async.ps_per_kib"},
      {"async", "start_ps", "ps a put or get", CostModel::kLongest,
       [](CostModel& m) -> Picoseconds& { return m.async.start; }, "fit"},
      {"async", "ps_per_kib", "ps a KiB", CostModel::kSlowestPerKib,
       [](CostModel& m) -> Picoseconds& { return m.async.per_kib; }, "fit"},
      {"", "signal_latency_ps", "ps", CostModel::kLongest,
       [](CostModel& m) -> Picoseconds& { return m.signal_latency; },
       "assumed: two starts of a move"},
      {"", "issue_ps", "ps", CostModel::kLongest,
       [](CostModel& m) -> Picoseconds& { return m.issue; }, "assumed: one tick of the counter"},
  }};
  return parameters;
}

emu::CostModel read_cost_table(std::string_view flag, const std::string& path) {
  return TableReader(flag, path).read();
}

std::string microseconds(emu::Picoseconds time) {
  const emu::Picoseconds ns = time / 1000 + (time % 1000 >= 500 ? 1 : 0);
  const std::string fraction = std::to_string(1000 + ns % 1000).substr(1);
  return std::to_string(ns / 1000) + "." + fraction + " us";
}

}  // namespace tools
