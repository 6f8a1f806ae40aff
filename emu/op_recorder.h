// The operations of each rank in program order, as far as they take modelled time: what a schedule
// hands to VirtualTime. Nothing in a schedule depends on it.
#ifndef SYMRACE_EMU_OP_RECORDER_H_
#define SYMRACE_EMU_OP_RECORDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/fabric.h"
#include "core/rank_context.h"
#include "emu/event_log.h"
#include "emu/model.h"

namespace emu {

struct TimedOp {
  enum class Kind : std::uint8_t {
    kPrivate,  // `moves` of rank-private memory, `bytes` in all
    kRead,     // load, remote_load
    kWrite,    // store, remote_store
    kPut,
    kGet,
    kNotify,
    kWait,  // a wait, or a test that passed
    kPoll,  // a test that did not pass
    kFence,
    kAddToOwnCell,
  };
  Kind kind = Kind::kPrivate;
  ReleaseClass release_class = ReleaseClass::kLocalStore;  // kWrite
  bool pipeline = false;                                   // kPut, kGet
  pld::NotifyOp notify_op = pld::NotifyOp::AtomicAdd;
  pld::WaitCmp cmp = pld::WaitCmp::Eq;
  std::int32_t target = 0;  // whose slice
  std::int32_t value = 0;   // of a signal: added, set or expected
  std::int32_t seen = 0;    // kWait: in this schedule
  std::uint64_t bytes = 0;
  std::uint64_t moves = 0;
  // Bytes [own_begin, own_end) of own slice that it reads or writes (may be too many: the bounding
  // box), or the offset of the cell.
  std::uint64_t own_begin = 0, own_end = 0;
  std::uint32_t first_chunk = 0, chunks = 0;  // kPut, kGet: in RankOps::chunk_bytes
};

struct RankOps {
  std::vector<TimedOp> ops;
  std::vector<std::uint64_t> chunk_bytes;  // of all puts and gets
  bool finished = false;

  std::span<const std::uint64_t> chunks_of(const TimedOp& op) const {
    return std::span(chunk_bytes).subspan(op.first_chunk, op.chunks);
  }
};

class OpRecorder {
 public:
  static constexpr std::uint32_t kWhole = ~std::uint32_t{0};
  // The op of an event, and its chunk or kWhole.
  struct EventOp {
    std::int32_t rank = 0;
    std::uint32_t op = kWhole;  // kWhole: none; the end of the rank
    std::uint32_t chunk = kWhole;
    bool in_flight = false;  // a landing
  };

  void begin(std::int32_t ranks);

  // Each stands before the events of its op. Private moves since the last op become one of their
  // own.
  void read(symrace::RankContext& rank, std::int32_t target, const symrace::WindowRegion& from);
  void write(symrace::RankContext& rank, std::int32_t target, const symrace::WindowRegion& to,
             ReleaseClass release_class);
  void put(symrace::RankContext& rank, std::int32_t peer, const symrace::LocalRegion& from,
           const symrace::Chunking& chunking, std::int64_t element_bytes);
  void get(symrace::RankContext& rank, const symrace::LocalRegion& to, std::int32_t peer,
           const symrace::Chunking& chunking, std::int64_t element_bytes);
  void notify(symrace::RankContext& rank, std::int32_t peer, const symrace::Cell& cell,
              std::int32_t value, pld::NotifyOp op);
  // A wait, or a test; `seen` is what it saw in own cell.
  void look(symrace::RankContext& rank, const symrace::Cell& cell, std::int32_t expected,
            pld::WaitCmp cmp, std::int32_t seen);
  void fence(symrace::RankContext& rank);
  void add_to_own_cell(symrace::RankContext& rank, const symrace::Cell& cell, std::int32_t delta);
  void finish(symrace::RankContext& rank);

  // An event of a recorded run, in the order of the log.
  void logged(const Event& event);

  const std::vector<RankOps>& ranks() const { return ranks_; }
  const std::vector<EventOp>& events() const { return events_; }

 private:
  RankOps& add(symrace::RankContext& rank, const TimedOp& op);
  RankOps& add_transfer(symrace::RankContext& rank, TimedOp op, const symrace::LocalRegion& local,
                        const symrace::Chunking& chunking, std::int64_t element_bytes);

  std::vector<RankOps> ranks_;
  // Of a recorded run.
  std::vector<EventOp> events_;
  std::vector<std::vector<EventOp>> pieces_;  // by rank, then by number - 1
  // How far a rank's events have come in its op.
  struct Progress {
    std::uint32_t op = kWhole;
    std::uint32_t chunk = 0;
    std::uint64_t bytes = 0;  // of the chunk
  };
  std::vector<Progress> progress_;
};

}  // namespace emu

#endif  // SYMRACE_EMU_OP_RECORDER_H_
