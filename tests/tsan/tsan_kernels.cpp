// Runs programs on the direct engine under ThreadSanitizer: `tsan_kernels fixed` runs the
// documented ones and the mended bugs, which must be clean; `tsan_kernels NAME` runs a seeded bug,
// whose race ThreadSanitizer must report, until it has.
#include <atomic>
#include <cstdio>
#include <string_view>
#include <vector>

#include "core/direct_engine.h"
#include "kernels/programs.h"

namespace {

std::atomic<bool> reported{false};

// Nothing of an earlier program is left: each gets an engine, with threads of its own.
bool run(const symrace::ProgramInfo& info, const symrace::Arguments& arguments, int most_runs,
         bool must_be_ok) {
  const auto program = info.make(arguments);
  if (!program.ok()) return false;
  const auto engine = symrace::DirectEngine::create(**program, arguments.ranks);
  if (!engine.ok()) {
    std::printf("%s\n", std::string(engine.status().message()).c_str());
    return false;
  }
  for (int i = 0; i < most_runs && !reported; ++i) {
    const symrace::DirectResult result = (*engine)->run();
    if (must_be_ok && result.outcome != symrace::DirectResult::Outcome::kOk) return false;
  }
  return true;
}

bool run_fixed() {
  const symrace::ProgramInfo* const programs[] = {&kernels::kBarrier,
                                                  &kernels::kRemoteLoadStore,
                                                  &kernels::kPutGet,
                                                  &kernels::kAllreduceRing,
                                                  &kernels::kAllreduceReveal,
                                                  &kernels::kBroadcast,
                                                  &kernels::kAllgather,
                                                  &kernels::kAllToAll,
                                                  &kernels::kMoeDispatchCombine,
                                                  &kernels::kBugNoBarrier,
                                                  &kernels::kBugPutWithoutSignal,
                                                  &kernels::kBugWaitLeftOut};
  for (const symrace::ProgramInfo* info : programs) {
    for (const std::int32_t ranks : {2, 5}) {
      std::vector<symrace::Arguments> all = {symrace::default_arguments(*info, ranks)};
      if (info->bug != nullptr) all.back().flags["fixed"] = "true";
      for (const symrace::Flag& flag : info->flags) {
        for (const std::string_view choice : flag.choices) {
          all.push_back(all.front());
          all.back().flags[std::string(flag.name)] = std::string(choice);
        }
        if (flag.kind == symrace::Flag::Kind::kSwitch && flag.name != "pipeline") {
          all.push_back(all.front());
          all.back().flags[std::string(flag.name)] = "true";
        }
      }
      for (const symrace::Arguments& arguments : all) {
        if (run(*info, arguments, 30, true)) continue;
        std::printf("%s failed\n", std::string(info->name).c_str());
        return false;
      }
    }
  }
  return true;
}

}  // namespace

// Called by ThreadSanitizer for each report.
extern "C" void __tsan_on_report(void*);                      // NOLINT: its name
extern "C" void __tsan_on_report(void*) { reported = true; }  // NOLINT: its name

int main(int count, char** words) {
  const std::string_view what = count == 2 ? words[1] : "";
  if (what == "fixed") return run_fixed() && !reported ? 0 : 1;
  const symrace::ProgramInfo* const bugs[] = {
      &kernels::kBugNoBarrier, &kernels::kBugPutWithoutSignal, &kernels::kBugWaitLeftOut};
  for (const symrace::ProgramInfo* bug : bugs) {
    // Each run races anew; one of them is seen long before the last.
    if (bug->name == what) run(*bug, symrace::default_arguments(*bug, 3), 2000, false);
  }
  return reported ? 0 : 1;
}
