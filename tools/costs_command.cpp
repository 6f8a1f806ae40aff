#include "tools/costs_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "emu/virtual_time.h"
#include "tools/cost_table.h"

namespace tools {
namespace {

constexpr double kPicosecondsPerCycle = 20'000;

// One get, in device-side cycles of the 50 MHz counter: docs/modelled-time.md names the source.
struct Published {
  std::uint64_t bytes;
  double staged, async;
};
constexpr Published kPublished[] = {{4096, 36.28, 136.51},       {16384, 149.98, 161.40},
                                    {65536, 579.62, 277.25},     {262144, 2409.72, 745.54},
                                    {1048576, 9317.93, 2624.24}, {4194304, 37924.12, 10273.68}};
constexpr std::uint64_t kPublishedChunk = 4096;

emu::Picoseconds get_time(const emu::CostModel& costs, std::uint64_t bytes) {
  emu::RankOps ops;
  for (std::uint64_t at = 0; at < bytes; at += kPublishedChunk) {
    ops.chunk_bytes.push_back(std::min(kPublishedChunk, bytes - at));
  }
  emu::TimedOp get;
  get.kind = emu::TimedOp::Kind::kGet;
  get.target = 1;
  get.bytes = bytes;
  get.chunks = static_cast<std::uint32_t>(ops.chunk_bytes.size());
  ops.ops.push_back(get);
  return emu::VirtualTime(costs).play({ops, {}}, emu::Model::documented()).front();
}

std::string compared(const emu::CostModel& costs, std::uint64_t bytes, double published) {
  const double modelled = static_cast<double>(get_time(costs, bytes)) / kPicosecondsPerCycle;
  return absl::StrFormat("%11.2f %10.2f %+7.2f %%", published, modelled,
                         (modelled / published - 1) * 100);
}

// The smallest transfer that is faster on the asynchronous path.
std::uint64_t crossing(const emu::CostModel& staged, const emu::CostModel& async) {
  std::uint64_t bytes = 4;
  while (get_time(staged, bytes) <= get_time(async, bytes)) bytes += 4;
  return bytes;
}

}  // namespace

void print_costs(std::ostream& out) {
  emu::CostModel staged = emu::CostModel::a2a3();
  const emu::CostModel async = emu::CostModel::a2a3_async();
  out << absl::StrFormat("%-25s %9s  %-18s  %s\n", "parameter", "value", "unit", "source");
  for (const CostParameter& parameter : cost_parameters()) {
    out << absl::StrFormat("%-25s %9d  %-18s  %s\n", parameter.name(), parameter.of(staged),
                           std::string(parameter.unit), std::string(parameter.source));
  }
  out << absl::StrFormat("\n%8s  %32s  %32s\n", "", "staged get, cycles", "async get, cycles");
  out << absl::StrFormat("%8s", "bytes");
  for (int path = 0; path < 2; ++path) {
    out << absl::StrFormat("  %11s %10s %9s", "published", "modelled", "error");
  }
  out << '\n';
  for (const Published& point : kPublished) {
    out << absl::StrFormat("%8d  %s  %s\n", point.bytes,
                           compared(staged, point.bytes, point.staged),
                           compared(async, point.bytes, point.async));
  }
  out << "\nThe paths cross at " << crossing(staged, async) << " bytes.\n";
}

}  // namespace tools
