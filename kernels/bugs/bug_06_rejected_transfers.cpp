// Step 06, put mode, asking for what the hardware cannot do. The op says so before anything moves.
#include "kernels/bugs/bug_program.h"
#include "kernels/programs.h"
#include "kernels/put_get.h"

namespace kernels {
namespace {

using symrace::Arguments;

template <class T>
class RejectedPut : public PutGet<T> {
 protected:
  RejectedPut(const Arguments& arguments, pld::TransferOptions buggy, pld::TransferOptions fixed,
              std::int64_t window_rows = 1)
      : PutGet<T>(arguments, PutGet<T>::Mode::kPut, arguments.is_set("fixed") ? fixed : buggy,
                  window_rows) {}
};

// The fewest rows that no dtype's on-core buffer holds.
template <class T>
std::int64_t too_many_rows(std::int64_t cols) {
  return symrace::kOnCoreBytes / (cols * static_cast<std::int64_t>(sizeof(T))) + 1;
}

template <class T>
class TransferTooLarge final : public RejectedPut<T> {
 public:
  explicit TransferTooLarge(const Arguments& arguments)
      : RejectedPut<T>(arguments, {}, {.chunk_rows = 128, .chunk_cols = 64},
                       too_many_rows<T>(arguments.size)) {}
};

template <class T>
class PipelineWithoutChunks final : public RejectedPut<T> {
 public:
  explicit PipelineWithoutChunks(const Arguments& arguments)
      : RejectedPut<T>(arguments, {.chunk_cols = 16, .pipeline = true},
                       {.chunk_rows = 1, .chunk_cols = 16, .pipeline = true}) {}
};

template <class T>
class RegionPastSlice final : public RejectedPut<T> {
 public:
  explicit RegionPastSlice(const Arguments& arguments)
      : RejectedPut<T>(arguments, region(arguments.size + 1), region(arguments.size)) {}

 private:
  static pld::TransferOptions region(std::int64_t cols) {
    return {.dst_offsets = pl::Offsets{0, 0},
            .src_offsets = pl::Offsets{0, 0},
            .shape = pl::Shape{1, cols}};
  }
};

// In no order right: the arguments alone decide.
constexpr symrace::BugInfo rejected(std::string_view symptom) {
  return {.document = "06",
          .symptom = symptom,
          .order_dependent = false,
          .needs_late_delivery = false,
          .ranks = 2};
}
const symrace::BugInfo kTooLarge =
    rejected("large transfer overruns: does not fit the on-core buffer");
const symrace::BugInfo kPipeline = rejected("pipeline = true needs both chunk_rows and chunk_cols");
const symrace::BugInfo kRegion = rejected("region lies outside window");

}  // namespace

const symrace::ProgramInfo kBugTransferTooLarge = bug_program<TransferTooLarge>(
    "bug_06_transfer_too_large", "put of more than the staging buffer holds, with no chunks",
    kTooLarge);
const symrace::ProgramInfo kBugPipelineWithoutChunks = bug_program<PipelineWithoutChunks>(
    "bug_06_pipeline_without_chunks", "put with pipeline and chunk_cols, but no chunk_rows",
    kPipeline);
const symrace::ProgramInfo kBugRegionPastSlice = bug_program<RegionPastSlice>(
    "bug_06_region_past_slice", "put of a region one element wider than the slice", kRegion);

}  // namespace kernels
