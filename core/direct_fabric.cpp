#include "core/direct_fabric.h"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "core/asymmetric_fence.h"
#include "core/atomic_add.h"

namespace symrace {
namespace {

// How often a waiter looks at its cell before it blocks: rounds of looks with a yield behind each.
// With a core for each rank the peer is running, most of the time, and a signal that comes soon
// comes cheaper than a sleep; the yields help where both share a core none the less. With more
// ranks than cores, the peer is likely to need this very core.
constexpr int kRounds = 8;
constexpr int kLooks = 60;
constexpr int kFewRounds = 4;
constexpr int kFewLooks = 2;
// A look takes the line from its writer, who then needs longer to write: a signal between distant
// cores, which is not there after the first looks, comes sooner to who looks seldom.
constexpr int kCloseLooks = 8;
constexpr int kPauses = 8;  // before each later look
// Failed tests in a row after which a polling loop makes room for others.
constexpr std::uint32_t kPatientTests = 1000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool compares(const std::int32_t* cell, std::int32_t expected, pld::WaitCmp cmp) {
  // NOLINTNEXTLINE: an atomic_ref to a const object is C++26.
  const std::atomic_ref value(*const_cast<std::int32_t*>(cell));
  return pld::compare(cmp, value.load(std::memory_order_acquire), expected);
}

}  // namespace

void DirectFabric::begin() {
  RankFabric::begin();
  failed_tests_ = 0;
}

void DirectFabric::load(const WindowRegion& from, TileBlock& to, const Site& site) {
  check(site);
  copy_rows(to.bytes(), from.extent.row_bytes, address(rank(), from.offset), from.extent.stride,
            from.extent.rows, from.extent.row_bytes);
}

void DirectFabric::write(std::int32_t target, const WindowRegion& to, const std::byte* from,
                         std::int64_t from_stride, pld::AtomicType atomic) {
  std::byte* bytes = address(target, to.offset);
  if (atomic == pld::AtomicType::None_) {
    copy_rows(bytes, to.extent.stride, from, from_stride, to.extent.rows, to.extent.row_bytes);
    return;
  }
  for (std::int64_t row = 0; row < to.extent.rows; ++row) {
    atomic_add(bytes + row * to.extent.stride, from + row * from_stride, to.extent.row_bytes,
               to.dtype);
  }
}

void DirectFabric::store(const TileRef& from, const WindowRegion& to, pld::AtomicType atomic,
                         const Site& site) {
  check(site);
  write(rank(), to, from->bytes(), to.extent.row_bytes, atomic);
}

void DirectFabric::remote_load(std::int32_t peer, const WindowRegion& from, const TileRef& to,
                               const Site& site) {
  check(site);
  copy_rows(to->bytes(), from.extent.row_bytes, address(peer, from.offset), from.extent.stride,
            from.extent.rows, from.extent.row_bytes);
}

void DirectFabric::remote_store(const TileRef& from, std::int32_t peer, const WindowRegion& to,
                                pld::AtomicType atomic, const Site& site) {
  check(site);
  write(peer, to, from->bytes(), to.extent.row_bytes, atomic);
}

// Straight from window to window, whatever the chunks: no chunk is ever seen apart from the others.
// Only where a rank moves between overlapping regions of its own slice, all is read before anything
// is written, as everywhere.
void DirectFabric::put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
                       pld::AtomicType atomic, const Chunking&, const Site& site) {
  check(site);
  if (from.window == nullptr) {
    write(peer, to, from.memory.data, from.memory.extent.stride, atomic);
    return;
  }
  const std::byte* source = address(rank(), from.window->offset);
  const std::int64_t stride = from.window->extent.stride;
  if (peer == rank() && overlaps(*from.window, to)) [[unlikely]] {
    std::vector<std::byte> staging(static_cast<std::size_t>(to.extent.bytes()));
    copy_rows(staging.data(), to.extent.row_bytes, source, stride, to.extent.rows,
              to.extent.row_bytes);
    write(peer, to, staging.data(), to.extent.row_bytes, atomic);
    return;
  }
  write(peer, to, source, stride, atomic);
}

void DirectFabric::get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                       const Chunking& chunking, const Site& site) {
  if (to.window != nullptr) {
    // To oneself, a get is a put.
    if (peer == rank()) [[unlikely]] {
      put(peer, *to.window, {.window = &from, .memory = {}, .keep_alive = {}},
          pld::AtomicType::None_, chunking, site);
      return;
    }
    check(site);
    write(rank(), *to.window, address(peer, from.offset), from.extent.stride,
          pld::AtomicType::None_);
    return;
  }
  check(site);
  copy_rows(to.memory.data, to.memory.extent.stride, address(peer, from.offset), from.extent.stride,
            from.extent.rows, from.extent.row_bytes);
}

void DirectFabric::notify(std::int32_t peer, const Cell& cell, std::int32_t value, pld::NotifyOp op,
                          const Site& site) {
  check(site);
  std::int32_t* target = cell_of(peer, cell);
  const std::atomic_ref signal(*target);
  if (op == pld::NotifyOp::Set) {
    // A wait that sees it comes after this rank, and no longer after those whose value it replaces.
    signal.store(value, std::memory_order_release);
  } else {
    signal.fetch_add(value, std::memory_order_acq_rel);
  }
  waits_.signalled(peer, target);
  heap_.note_signal(*cell.window);  // the waiter's gain comes first
  signal_sent(peer, cell, op, site);
}

void DirectFabric::wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                        const Site& site) {
  if (compares(cell_of(rank(), cell), expected, cmp)) return;
  wait_longer({.site = site, .on_cell = true, .cell = cell, .expected = expected, .cmp = cmp});
}

void DirectFabric::wait_longer(const DirectWait& wait) {
  heap_.note_signal(*wait.cell.window);
  const std::int32_t* cell = cell_of(rank(), wait.cell);
  const int rounds = oversubscribed_ ? kFewRounds : kRounds;
  const int looks = oversubscribed_ ? kFewLooks : kLooks;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < looks; ++i) {
      if (compares(cell, wait.expected, wait.cmp)) return;
      const int pauses = round == 0 && i < kCloseLooks ? 1 : kPauses;
      for (int k = 0; k < pauses; ++k) pause();
    }
    std::this_thread::yield();
  }
  waits_.block(rank(), wait);
}

bool DirectFabric::test(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
                        const Site& site) {
  if (compares(cell_of(rank(), cell), expected, cmp)) {
    failed_tests_ = 0;
    return true;
  }
  heap_.note_signal(*cell.window);
  test_failed({.site = site, .on_cell = true, .cell = cell, .expected = expected, .cmp = cmp});
  if (oversubscribed_ || ++failed_tests_ > kPatientTests) {
    std::this_thread::yield();
  } else {
    pause();
  }
  return false;
}

void DirectFabric::fence(const Site& site) {
  check(site);
  full_fence();
}

void DirectFabric::add_to_own_cell(const Cell& cell, std::int32_t delta, const Site& site) {
  check(site);
  std::int32_t* target = cell_of(rank(), cell);
  std::atomic_ref(*target).fetch_add(delta, std::memory_order_acq_rel);
}

}  // namespace symrace
