#include "emu/race.h"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

bool is_signal_cell_access(const Access& access) {
  return access.kind == AccessKind::kSignalAdd || access.kind == AccessKind::kSignalSet ||
         access.kind == AccessKind::kWait;
}

bool is_transfer(const Access& access) {
  return access.op == symrace::OpKind::kPut || access.op == symrace::OpKind::kGet;
}

bool same_site(const Access& a, const Access& b) {
  return a.op == b.op && a.kind == b.kind && same_line(a.where, b.where);
}

}  // namespace

std::string_view race_name(RaceKind kind) {
  switch (kind) {
    case RaceKind::kReadWrite:
      return "read/write";
    case RaceKind::kWriteWrite:
      return "write/write";
    case RaceKind::kAtomicPlain:
      return "atomic/plain";
    case RaceKind::kAtomicMix:
      return "atomics of different dtype or op";
    case RaceKind::kSetAdd:
      return "Set mixed with AtomicAdd";
    case RaceKind::kCellAccess:
      return "plain access to a signal cell";
    case RaceKind::kSourceOverwritten:
      return "source overwritten in flight";
    case RaceKind::kSharedOperands:
      return "source and destination in one window";
  }
  return "race";
}

RaceKind race_kind(const Access& a, const Access& b) {
  using enum AccessKind;
  const bool a_signal = is_signal_cell_access(a);
  const bool b_signal = is_signal_cell_access(b);
  if (a_signal && b_signal) return RaceKind::kSetAdd;
  if (a_signal || b_signal) {
    const Access& data = a_signal ? b : a;
    const Access& signal = a_signal ? a : b;
    const bool mix = data.kind == kAdd && signal.kind != kWait;
    return mix ? RaceKind::kAtomicMix : RaceKind::kCellAccess;
  }
  if (a.kind == kAdd && b.kind == kAdd) return RaceKind::kAtomicMix;
  // The two ends of one put or get, at the same line, that meet in one window.
  if (is_transfer(a) && a.op == b.op && same_line(a.where, b.where) &&
      (a.kind == kRead) != (b.kind == kRead)) {
    return RaceKind::kSharedOperands;
  }
  if (a.kind == kAdd || b.kind == kAdd) return RaceKind::kAtomicPlain;
  if (a.reads_source_late || b.reads_source_late) return RaceKind::kSourceOverwritten;
  return a.kind == kWrite && b.kind == kWrite ? RaceKind::kWriteWrite : RaceKind::kReadWrite;
}

bool same_line(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

bool same_lines(const Race& a, const Race& b) {
  if (a.kind != b.kind) return false;
  return (same_site(a.first, b.first) && same_site(a.second, b.second)) ||
         (same_site(a.first, b.second) && same_site(a.second, b.first));
}

void merge(std::vector<Race>& into, const Race& race) {
  const auto found = std::find_if(into.begin(), into.end(),
                                  [&](const Race& known) { return same_lines(known, race); });
  if (found == into.end()) {
    into.push_back(race);
  } else {
    found->count += race.count;
  }
}

void merge(std::vector<Race>& into, const std::vector<Race>& from) {
  for (const Race& race : from) merge(into, race);
}

}  // namespace emu
