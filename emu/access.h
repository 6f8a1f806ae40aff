// Accesses to slices, as race detection and exploration see them: who touches which bytes, how, and
// which pairs conflict.
#ifndef SYMRACE_EMU_ACCESS_H_
#define SYMRACE_EMU_ACCESS_H_

#include <cstdint>
#include <cstring>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "core/fabric.h"
#include "core/region.h"

namespace emu {

enum class AccessKind : std::uint8_t {
  kRead,       // a plain read: load, remote_load, the source of a put or get
  kWrite,      // a plain write: store, remote_store, put, the destination of a get
  kAdd,        // an atomic add of data: AtomicType::Add
  kSignalAdd,  // NotifyOp::AtomicAdd, and a barrier's clearing of its own cells
  kSignalSet,  // NotifyOp::Set
  kWait,       // a wait's or test's look at its cell
};

// "read", "write", "atomic add", "signal add", "signal set", "wait".
std::string_view access_name(AccessKind kind);

// Whether an access of this kind changes its bytes.
constexpr bool writes(AccessKind kind) {
  return kind != AccessKind::kRead && kind != AccessKind::kWait;
}

// Whether two records of a place are one: far cheaper than same_line(), for what may keep a place
// twice. One place of the program has one record, mostly.
inline bool same_record(const std::source_location& a, const std::source_location& b) {
  static_assert(std::is_trivially_copyable_v<std::source_location>);
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

struct Access {
  AccessKind kind = AccessKind::kRead;
  symrace::OpKind op = symrace::OpKind::kLoad;
  std::int32_t rank = 0;    // whose op
  std::int32_t target = 0;  // whose slice
  // Of a transfer: the piece that lands, as in Decision. 0: an op of the rank's own step.
  std::uint32_t piece = 0;
  symrace::WindowRegion region;
  std::source_location where;
  // The rank's own later loads see it before it lands: a plain or atomic write to own slice.
  bool in_own_view = false;
  bool reads_source_late = false;  // the source of a put under a model that reads it on landing
  std::uint32_t event = 0;         // of the event log, when one is kept
  // Of a signal what it adds or sets; of a wait what it expects.
  std::int32_t value = 0;
  pld::WaitCmp cmp = pld::WaitCmp::Ge;

  bool lands() const { return piece != 0; }
  bool writes() const { return emu::writes(kind); }
};

// Whether two accesses to the same bytes matter to each other, whatever their order:
//   - one of them writes;
//   - they are not atomic adds of one dtype, nor signals of one op;
//   - a wait meets a signal: that is what orders, and no conflict.
bool conflict(AccessKind a, pl::DType a_dtype, AccessKind b, pl::DType b_dtype);
inline bool conflict(const Access& a, const Access& b) {
  return conflict(a.kind, a.region.dtype, b.kind, b.region.dtype);
}

// The order that two accesses of one rank have whatever else orders them: writes of one rank to the
// same bytes of one target land in issue order, a late read of own slice follows the rank's own
// earlier writes to it, and a rank's own ops on its own slice see each other in program order.
// The bytes are known to overlap.
bool ordered_by_rank(const Access& a, const Access& b);

}  // namespace emu

#endif  // SYMRACE_EMU_ACCESS_H_
