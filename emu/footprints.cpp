#include "emu/footprints.h"

namespace emu {
namespace {

bool is_integer(pl::DType dtype) {
  return dtype == pl::DType::INT32 || dtype == pl::DType::INT16 || dtype == pl::DType::INT8;
}

bool commute(const Access& a, const Access& b) {
  if (!a.writes() && !b.writes()) return true;
  const bool adds = (a.kind == AccessKind::kAdd || a.kind == AccessKind::kSignalAdd) &&
                    (b.kind == AccessKind::kAdd || b.kind == AccessKind::kSignalAdd);
  // Sums of floats depend on their order, and so do two integer adds of different widths.
  if (adds && a.region.dtype == b.region.dtype && is_integer(a.region.dtype)) return true;
  if (a.rank != b.rank || a.lands() == b.lands()) return false;
  const Access& landing = a.lands() ? a : b;
  const Access& step = a.lands() ? b : a;
  return landing.in_own_view && !step.writes();
}

}  // namespace

bool dependent(std::span<const Access> a, std::span<const Access> b) {
  for (const Access& x : a) {
    for (const Access& y : b) {
      if (x.target == y.target && !commute(x, y) && symrace::overlaps(x.region, y.region)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace emu
