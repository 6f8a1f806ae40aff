// From what a run showed to what its author needs to know: the symptom in the documents' words, the
// accesses, the order that is missing, and the fix. Values, without pointers into an engine.
#ifndef SYMRACE_EMU_DIAGNOSIS_H_
#define SYMRACE_EMU_DIAGNOSIS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emu/race.h"
#include "emu/run.h"
#include "emu/symptoms.h"

namespace emu {

struct Finding {
  enum class Kind : std::uint8_t { kRace, kMismatch, kDeadlock, kStepBound, kTimeLimit };

  // One end of a race.
  struct Place {
    std::int32_t rank = 0;
    symrace::OpKind op = symrace::OpKind::kLoad;
    AccessKind access = AccessKind::kRead;
    std::string where;  // "file.cpp:17"
    std::string file;   // as compiled
    std::uint32_t line = 0;
    std::int32_t target = 0;  // whose slice
    std::string window;
    std::string range;        // "data[0:1, 0:64]", in tensor coordinates
    std::uint32_t event = 0;  // of the run's log
  };

  Kind kind = Kind::kRace;
  const Symptom* symptom = nullptr;  // null: no documented one
  std::string title;                 // one sentence
  RaceKind race = RaceKind::kReadWrite;
  std::vector<Place> places;         // of a race: two
  std::string missing;               // the order that is missing, in a sentence
  std::vector<std::string> details;  // further lines, as of each stuck rank
  std::string fix;
  std::uint64_t count = 1;  // of a race: pairs of accesses at its lines, in all schedules
};

// "race", "mismatch", "deadlock", "step-bound", "time-limit" (of a direct run).
std::string_view finding_name(Finding::Kind kind);

// All that `run` showed, races first, those of wrong outputs before others. `options`: what it ran
// under. `of_all`: the races of the exploration that it is of, whose counts stand for its own.
std::vector<Finding> diagnose(const RecordedRun& run, const Options& options,
                              const std::vector<Race>& of_all = {});

// The finding as text, a line each: the title first, the others indented.
std::string finding_text(const Finding& finding);

}  // namespace emu

#endif  // SYMRACE_EMU_DIAGNOSIS_H_
