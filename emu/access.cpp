#include "emu/access.h"

namespace emu {
namespace {

bool is_signal(AccessKind kind) {
  return kind == AccessKind::kSignalAdd || kind == AccessKind::kSignalSet;
}

bool is_add(AccessKind kind) { return kind == AccessKind::kAdd || kind == AccessKind::kSignalAdd; }

}  // namespace

std::string_view access_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "read";
    case AccessKind::kWrite:
      return "write";
    case AccessKind::kAdd:
      return "atomic add";
    case AccessKind::kSignalAdd:
      return "signal add";
    case AccessKind::kSignalSet:
      return "signal set";
    case AccessKind::kWait:
      return "wait";
  }
  return "access";
}

bool conflict(AccessKind a, pl::DType a_dtype, AccessKind b, pl::DType b_dtype) {
  if (!writes(a) && !writes(b)) return false;
  if (is_add(a) && is_add(b)) return a_dtype != b_dtype;
  if (a == AccessKind::kSignalSet && b == AccessKind::kSignalSet) return false;
  if (a == AccessKind::kWait) return !is_signal(b);
  if (b == AccessKind::kWait) return !is_signal(a);
  return true;
}

bool ordered_by_rank(const Access& a, const Access& b) {
  if (a.rank != b.rank) return false;
  if (!a.lands() && !b.lands()) return true;
  if (a.lands() && b.lands()) {
    const Access& first = a.piece <= b.piece ? a : b;
    const Access& second = a.piece <= b.piece ? b : a;
    return first.writes() && (second.writes() || second.target == second.rank);
  }
  return a.lands() ? a.in_own_view : b.in_own_view;
}

}  // namespace emu
