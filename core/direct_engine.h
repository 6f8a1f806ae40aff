// DirectEngine: runs a program with its ranks really in parallel, one OS thread or process a rank,
// at full speed and in whatever order the machine gives. What it shows is one execution of those
// that emu::Explorer can show all of.
#ifndef SYMRACE_CORE_DIRECT_ENGINE_H_
#define SYMRACE_CORE_DIRECT_ENGINE_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/direct_processes.h"
#include "core/heap.h"
#include "core/host.h"
#include "core/named_heap.h"
#include "core/program.h"
#include "core/rank_context.h"
#include "core/rank_fabric.h"
#include "core/ranks_as.h"
#include "core/run_watch.h"
#include "core/stuck_rank.h"

namespace symrace {

struct DirectOptions {
  // Device of each rank; empty: rank r on device r.
  std::vector<std::int32_t> devices = {};
  // Of processes, one that dies (exit, signal, out of memory) is named in the error, and ends the
  // run. A kernel's outputs are then the pl::Out arguments that it was dispatched with: a run is
  // refused when some kernel captures variables, or gets a pointer to what it may change, since
  // what it wrote there would stay in its process.
  RanksAs ranks_as = RanksAs::kThreads;
  // A run that lasts longer counts as stuck; 0: none does. Ranks that all block are seen at once.
  std::chrono::steady_clock::duration time_limit = std::chrono::seconds(60);
  // Keeps rank r on the r-th core that this process may use, where there are as many: for
  // measurements, since the system likes to put two threads that signal each other on one core.
  bool pins_ranks = false;
  // Set (by a signal handler, say) to end a run early, as kInterrupted.
  const std::atomic<bool>* interrupt = nullptr;
  // Called each time that a run has been over for `patience` and the kernel of some thread goes on
  // without any op, with a line that names its rank: a thread cannot be ended, so that this is to
  // end the process. Null: run() waits for it.
  std::function<void(const std::string& error)> cannot_end = nullptr;
  std::chrono::steady_clock::duration patience = std::chrono::seconds(10);
  // Makes the heap a named one, of one engine at a time.
  HeapLabel heap = {};
};

struct DirectResult {
  enum class Outcome : std::uint8_t {
    kOk,           // ended, output equals the golden
    kMismatch,     // ended, output differs
    kDeadlock,     // every unfinished rank waits, and nobody is left to signal
    kTimeLimit,    // no end by the time limit
    kError,        // a kernel asked for what the hardware cannot do, or threw; a process died
    kInterrupted,  // DirectOptions::interrupt was set
  };
  Outcome outcome = Outcome::kOk;
  std::string error = {};                 // kError: one line
  std::vector<StuckRank> stuck = {};      // kDeadlock, kTimeLimit
  std::vector<SentSignal> signals = {};   // the same: rank by rank
  bool has_all_signals = true;            // a rank with very many keeps the first
  std::vector<Mismatch> mismatches = {};  // kMismatch
};

// Not thread-safe itself.
class DirectEngine {
 public:
  // `program` outlives the engine. ResourceExhausted when the heap or the threads cannot be had;
  // Unimplemented when processes cannot; AlreadyExists when the heap's name is taken.
  static absl::StatusOr<std::unique_ptr<DirectEngine>> create(Program& program, std::int32_t ranks,
                                                              DirectOptions options = {});
  virtual ~DirectEngine();
  DirectEngine(const DirectEngine&) = delete;
  DirectEngine& operator=(const DirectEngine&) = delete;

  // Once through the program, on zeroed windows. May be called again and again.
  DirectResult run();

  SymmetricHeap& heap() { return *heap_; }

 protected:
  // For ranks of another kind: threads, on `heap`, with a fabric each that `watch` knows.
  DirectEngine(Program& program, std::unique_ptr<SymmetricHeap> heap,
               std::shared_ptr<RunWatch> watch, DirectOptions options);
  absl::Status start(
      const std::function<std::unique_ptr<RankFabric>(std::int32_t rank)>& make_fabric);
  // Calls `task` on the thread of a rank that is in no run; returns when it has returned.
  void on_rank(std::int32_t rank, const std::function<void()>& task);
  // Before each run, when its windows are known: makes them usable and zero. The last run may have
  // written the first `written_bytes` of each slice.
  virtual absl::Status clear_windows(std::uint64_t written_bytes);

 private:
  // A rank's own lines of memory.
  struct alignas(128) Rank {
    RankContext context;
    TilePool tiles;
    std::unique_ptr<RankFabric> fabric;
    std::atomic<bool> is_running{false};  // its kernel, in a thread
    std::string error;                    // one line; empty: none

    // To start it. Each rank has its own: through a common one, a rank that is done with a run
    // would come before one that is yet to start, and ThreadSanitizer would miss their races.
    enum class Order : std::uint8_t { kNone, kRun, kTask, kLeave };
    std::mutex mutex;
    std::condition_variable changed;
    Order order = Order::kNone;
    const std::function<void()>* task = nullptr;  // of kTask; null when it is done
    void give(Order what);
  };

  void serve(Rank& rank);
  void run_kernel(Rank& rank, RankContext& context);
  void run_in_process(Rank& rank, RankRecord& record);
  std::string prepare();  // an error, or ""
  RunWatch::End run_threads(RunWatch::Clock::time_point deadline);
  absl::StatusOr<RunWatch::End> run_processes(RunWatch::Clock::time_point deadline);
  void describe_stuck(DirectResult& result);

  Program& program_;
  std::unique_ptr<SymmetricHeap> heap_;
  std::shared_ptr<RunWatch> watch_;
  DirectOptions options_;
  pld::Host host_;
  std::deque<Rank> ranks_;
  std::uint64_t written_bytes_ = 0;   // of each slice, by the last run
  std::vector<std::thread> threads_;  // one a rank, or fewer when the others could not be had
  std::unique_ptr<DirectProcesses> processes_;  // null: threads
};

}  // namespace symrace

#endif  // SYMRACE_CORE_DIRECT_ENGINE_H_
