// The programs of this folder, in the order that `a2a3sim list` shows.
#ifndef SYMRACE_KERNELS_PROGRAMS_H_
#define SYMRACE_KERNELS_PROGRAMS_H_

#include <span>
#include <string_view>

#include "core/program.h"

namespace kernels {

// The tutorial steps, then the seeded bugs: of the documents, then of hardware.
std::span<const symrace::ProgramInfo* const> programs();
// Null when there is none of that name.
const symrace::ProgramInfo* find_program(std::string_view name);

extern const symrace::ProgramInfo kHelloRank;
extern const symrace::ProgramInfo kProgrammingModel;
extern const symrace::ProgramInfo kWindowBuffer;
extern const symrace::ProgramInfo kBarrier;
extern const symrace::ProgramInfo kRemoteLoadStore;
extern const symrace::ProgramInfo kPutGet;
extern const symrace::ProgramInfo kDynamicRankCount;
extern const symrace::ProgramInfo kAllreduceMesh;
extern const symrace::ProgramInfo kAllreduceTwoPhase;
extern const symrace::ProgramInfo kAllreduceRing;
extern const symrace::ProgramInfo kAllreduceReveal;
extern const symrace::ProgramInfo kBroadcast;
extern const symrace::ProgramInfo kAllgather;
extern const symrace::ProgramInfo kReduceScatter;
extern const symrace::ProgramInfo kAllToAll;
extern const symrace::ProgramInfo kPuttingItTogether;
extern const symrace::ProgramInfo kMoeDispatchCombine;

extern const symrace::ProgramInfo kBugNoBarrier;
extern const symrace::ProgramInfo kBugPullPushConfused;
extern const symrace::ProgramInfo kBugBarrierBeforeStaging;
extern const symrace::ProgramInfo kBugBarrierBeforeStore;
extern const symrace::ProgramInfo kBugPutWithoutSignal;
extern const symrace::ProgramInfo kBugNotifyBeforePut;
extern const symrace::ProgramInfo kBugWaitLeftOut;
extern const symrace::ProgramInfo kBugWrongPeerPut;
extern const symrace::ProgramInfo kBugWrongPeerGet;
extern const symrace::ProgramInfo kBugWrongPeerHandshake;
extern const symrace::ProgramInfo kBugGoldenOtherDirection;
extern const symrace::ProgramInfo kBugTransferTooLarge;
extern const symrace::ProgramInfo kBugPipelineWithoutChunks;
extern const symrace::ProgramInfo kBugRegionPastSlice;
extern const symrace::ProgramInfo kBugChunkedPutBeforeSignal;
extern const symrace::ProgramInfo kBugLastChunkPeeked;
extern const symrace::ProgramInfo kBugAddTwoRounds;

extern const symrace::ProgramInfo kBugNotifyOvertakesStore;
extern const symrace::ProgramInfo kBugConsumedTooEarly;
extern const symrace::ProgramInfo kBugDrainedPipes;
extern const symrace::ProgramInfo kBugLastChunkUndrained;
extern const symrace::ProgramInfo kBugRemoteStoreForPut;
extern const symrace::ProgramInfo kBugLeftoverSignal;
extern const symrace::ProgramInfo kBugLeftoverSignalHost;
extern const symrace::ProgramInfo kBugNoSecondBarrier;
extern const symrace::ProgramInfo kBugLostUpdate;
extern const symrace::ProgramInfo kBugWaitBeforeSend;

}  // namespace kernels

#endif  // SYMRACE_KERNELS_PROGRAMS_H_
