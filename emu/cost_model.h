// What operations cost in modelled time. A cost model is a value; docs/modelled-time.md has the
// table of the preset's parameters with their source, and how near it comes to published times.
//
// All of it is integer picoseconds, so that a modelled time is the same on every machine.
#ifndef SYMRACE_EMU_COST_MODEL_H_
#define SYMRACE_EMU_COST_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace emu {

using Picoseconds = std::uint64_t;

// Of `bytes` at a rate, rounded down. Tables are bounded such that no sum of a run overflows.
constexpr Picoseconds stream_time(std::uint64_t bytes, Picoseconds per_kib) {
  return bytes / 1024 * per_kib + bytes % 1024 * per_kib / 1024;
}

// Through the on-core buffer: every move is one load into it, or one store out of it.
struct StagedPath {
  Picoseconds start = 0;           // of each load and of each store
  Picoseconds remote_per_kib = 0;  // to or from a peer's slice
  Picoseconds local_per_kib = 0;   // to or from this rank's own memory

  Picoseconds remote(std::uint64_t bytes) const {
    return start + stream_time(bytes, remote_per_kib);
  }
  Picoseconds local(std::uint64_t bytes) const { return start + stream_time(bytes, local_per_kib); }
};

// By the copy engine (SDMA), memory to memory.
struct AsyncPath {
  Picoseconds start = 0;  // of each put or get
  Picoseconds per_kib = 0;
};

struct CostModel {
  // Which of the two a put or get takes. Every other move goes through the on-core buffer.
  enum class Path : std::uint8_t { kStaged, kAsync };

  std::string name;
  Path path = Path::kStaged;
  StagedPath staged;
  AsyncPath async;
  Picoseconds signal_latency = 0;  // from a notify (or from what it releases) to the waiting rank
  Picoseconds issue = 0;           // of the rank's own time, to post a transfer or a signal

  // The largest parameters that make sense: 1 ms, and 10 MB/s.
  static constexpr Picoseconds kLongest = 1'000'000'000;
  static constexpr Picoseconds kSlowestPerKib = 100'000'000;

  static CostModel a2a3();
  static CostModel a2a3_async();  // the same table, for programs that take the other path
  static std::optional<CostModel> parse(std::string_view name);
};

}  // namespace emu

#endif  // SYMRACE_EMU_COST_MODEL_H_
