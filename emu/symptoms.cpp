#include "emu/symptoms.h"

namespace emu {
namespace {

constexpr std::string_view k05 = "remote_load / remote_store (step 05), edge cases";
constexpr std::string_view k06 = "put / get (step 06), edge cases";

constexpr Symptom kSymptoms[] = {
    {"zeros", "remote read returns zeros", "remote_load before the peer has staged, or no barrier",
     "stage, then pld::tensor::barrier(signal), then remote_load", "bug_05_no_barrier", k05},
    {"wrong-direction", "shift goes the wrong direction", "pull and push are confused",
     "load mode reads from (r+1); store mode writes to (r+1) and reads its own slice",
     "bug_05_pull_push_confused", k05},
    {"float-scalar", "scalar FP32 arithmetic in peer math",
     "floating scalars do not run on the AI core",
     "keep index math in INT32, as (r+1) % n; cast only for data ops", "", k05},
    {"type-mismatch", "type mismatch on the window parameter",
     "a window used as a tensor, or the reverse",
     "annotate shared buffers as pld::DistributedTensor<T>", "", k05},
    {"stale-round", "a rank reads stale data of an earlier round",
     "the barrier between the rounds is missing or in the wrong place",
     "load mode: a barrier between the stage and the load; and one before the slice is staged "
     "again",
     "bug_05_barrier_before_staging", k05},
    {"stale-slice", "a rank reads stale data from its own slice",
     "store mode with the barrier before the store, or none",
     "pld::tensor::barrier(signal) after the remote_store, before the slice is read",
     "bug_05_barrier_before_store", k05},
    {"stale-dst", "receiver reads stale dst", "the put or get races the signal handshake",
     "notify after the move; wait before dst is read", "bug_06_put_without_signal", k06},
    {"wrong-rank", "data land in the wrong rank", "peer is computed wrong",
     "put writes to (r+1) % n; get reads from (r+1) % n", "bug_06_wrong_peer_put", k06},
    {"golden-behind", "golden is one step behind", "pull and push are confused",
     "put mode: y[r] = x[(r-1)]; get mode: y[r] = x[(r+1)]", "bug_06_golden_other_direction", k06},
    {"stall", "a large transfer stalls or overruns", "the chunking rules are ignored",
     "give chunk sizes whose staging tile fits 184 KiB, both of them with pipeline, inside the "
     "slice",
     "bug_06_transfer_too_large", k06},
    {"torn", "old and new chunks in one slice", "a chunked put is read before its signal",
     "wait for the signal, not for data", "bug_06_chunked_put_before_signal", k06},
    {"sum", "the sum of both rounds, or an update is lost",
     "an atomic add meets a plain read or write of the same bytes",
     "pass pld::AtomicType::None_ for a plain overwrite; order it against the adds by a barrier",
     "bug_06_add_two_rounds", k06},
    {"overwritten", "data are overwritten while they are read, or by another rank",
     "nothing orders two moves to the same bytes",
     "a barrier between the two uses of the slice, or slices of their own", "bug_06_wrong_peer_put",
     k06},
    {"notify-overtakes", "a wait returns before the data are there: zeros or old bytes",
     "the notify does not wait for stores that are still in flight",
     "pld::system::fence() between the move and the notify", "bug_hw_notify_overtakes_store",
     "PTOAS 711, pypto 1561"},
    {"partial-put", "the peer sees a put without its last chunk",
     "the notify does not wait for the last chunk of a chunked put",
     "pld::system::fence() between the put and the notify", "bug_hw_last_chunk_undrained",
     "PTOAS 872"},
    {"load-overwritten", "a load in flight is overwritten after \"consumed\" was signalled",
     "the notify does not wait for the rank's own reads",
     "use what was loaded, or pld::system::fence(), before the \"consumed\" notify",
     "bug_hw_consumed_too_early", "PTOAS 711, pypto 1561"},
    {"source-overwritten", "a put carries data that were written after it",
     "the source is overwritten while the put may still read it",
     "pld::system::fence() between the put and the next write to its source", "", "PTOAS 711"},
    {"second-call", "the second call on one signal passes at once, and mixes old and new rows",
     "the first call left the cell at 1",
     "pld::tensor::barrier(signal), which clears its cells; or count: AtomicAdd and wait Ge",
     "bug_hw_leftover_signal", "pypto 2156, 2279"},
    {"lost-update", "two adds to one chunk, one is lost", "the add is a plain read, add and write",
     "pld::AtomicType::Add", "bug_hw_lost_update", "simpler 1271"},
    {"hang", "a rank waits for ever",
     "the signal goes to another cell or rank, is never sent, or stands after the wait",
     "send before waiting, and signal the cell that the peer waits for", "bug_hw_wait_before_send",
     "pypto 2397"},
    {"set-and-add", "a count is lost", "Set and AtomicAdd meet on one signal cell",
     "use AtomicAdd only on a cell that counts", "", "signals: credit barrier"},
    {"cell", "a signal is missed or made up", "data are moved to or from a signal cell",
     "touch signal cells by notify, wait and test only", "", "signals: cells"},
    {"atomic-mix", "a sum is wrong", "atomics of different dtype or op meet on the same bytes",
     "one dtype and one op for all atomics on a location", "", "machine: atomic add dtypes"},
    {"shared-operands", "a rank's own data come back, or are lost",
     "source and destination of the exchange lie in one window",
     "a window each for src and dst, or a barrier between reading and writing back", "",
     "collectives: distinct operands"},
};

}  // namespace

std::span<const Symptom> symptoms() { return kSymptoms; }

const Symptom* find_symptom(std::string_view key) {
  for (const Symptom& symptom : kSymptoms) {
    if (symptom.key == key) return &symptom;
  }
  return nullptr;
}

}  // namespace emu
