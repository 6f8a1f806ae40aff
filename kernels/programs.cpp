#include "kernels/programs.h"

namespace kernels {

std::span<const symrace::ProgramInfo* const> programs() {
  static constexpr const symrace::ProgramInfo* kPrograms[] = {
      &kHelloRank,
      &kProgrammingModel,
      &kWindowBuffer,
      &kBarrier,
      &kRemoteLoadStore,
      &kPutGet,
      &kDynamicRankCount,
      &kAllreduceMesh,
      &kAllreduceTwoPhase,
      &kAllreduceRing,
      &kAllreduceReveal,
      &kBroadcast,
      &kAllgather,
      &kReduceScatter,
      &kAllToAll,
      &kPuttingItTogether,
      &kMoeDispatchCombine,
      &kBugNoBarrier,
      &kBugPullPushConfused,
      &kBugBarrierBeforeStaging,
      &kBugBarrierBeforeStore,
      &kBugPutWithoutSignal,
      &kBugNotifyBeforePut,
      &kBugWaitLeftOut,
      &kBugWrongPeerPut,
      &kBugWrongPeerGet,
      &kBugWrongPeerHandshake,
      &kBugGoldenOtherDirection,
      &kBugTransferTooLarge,
      &kBugPipelineWithoutChunks,
      &kBugRegionPastSlice,
      &kBugChunkedPutBeforeSignal,
      &kBugLastChunkPeeked,
      &kBugAddTwoRounds,
      &kBugNotifyOvertakesStore,
      &kBugConsumedTooEarly,
      &kBugDrainedPipes,
      &kBugLastChunkUndrained,
      &kBugRemoteStoreForPut,
      &kBugLeftoverSignal,
      &kBugLeftoverSignalHost,
      &kBugNoSecondBarrier,
      &kBugLostUpdate,
      &kBugWaitBeforeSend,
  };
  return kPrograms;
}

const symrace::ProgramInfo* find_program(std::string_view name) {
  for (const symrace::ProgramInfo* program : programs()) {
    if (program->name == name) return program;
  }
  return nullptr;
}

}  // namespace kernels
