#include "core/acl_fabric.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/checks.h"
#include "core/error.h"

namespace symrace {
namespace {

// A waiter looks a few times in a row, then ever more seldom: a look is a copy from the card.
constexpr int kEagerLooks = 16;
constexpr std::chrono::microseconds kShortestPause{1};
constexpr std::chrono::microseconds kLongestPause{500};

// Calls visit(a, b, bytes) for each run of bytes that is contiguous on both sides, with how far it
// lies behind the first byte of each.
template <class Visit>
void for_each_run(const Extent& extent, std::int64_t other_stride, Visit visit) {
  if (extent.empty()) return;
  const bool contiguous =
      extent.rows == 1 || (extent.contiguous() && other_stride == extent.row_bytes);
  const std::int64_t runs = contiguous ? 1 : extent.rows;
  const std::int64_t bytes = contiguous ? extent.bytes() : extent.row_bytes;
  for (std::int64_t run = 0; run < runs; ++run) {
    visit(run * extent.stride, run * other_stride, static_cast<std::size_t>(bytes));
  }
}

// Calls visit(offset, bytes) for pieces that fit the staging memory.
template <class Visit>
void in_pieces(std::size_t bytes, Visit visit) {
  for (std::size_t at = 0; at < bytes; at += AclDevice::kStagingBytes) {
    visit(at, std::min(AclDevice::kStagingBytes, bytes - at));
  }
}

}  // namespace

void AclFabric::fail(const absl::Status& status) {
  // What is on its way to the host may be on its way to the kernel's own variables.
  (void)device_.synchronize();
  checks::fail(*site_, std::string(status.message()));
}

void AclFabric::end() {
  const absl::Status status = device_.synchronize();
  if (status.ok()) return;
  throw KernelError(absl::StrCat("rank ", rank(), ": at the end of its kernel: ", status.message()),
                    {});
}

void AclFabric::add(std::byte* to, const std::byte* from, std::size_t bytes, pl::DType dtype) {
  require(device_.add(to, from, bytes, dtype));
}

void AclFabric::write(std::int32_t target, const WindowRegion& to, const std::byte* from,
                      std::int64_t from_stride, pld::AtomicType atomic) {
  std::byte* first = address(target, to.offset);
  for_each_run(to.extent, from_stride, [&](std::int64_t there, std::int64_t here, std::size_t run) {
    in_pieces(run, [&](std::size_t at, std::size_t bytes) {
      const absl::StatusOr<std::byte*> staged = device_.staged(from + here + at, bytes);
      require(staged.status());
      std::byte* end = first + there + at;
      if (atomic == pld::AtomicType::Add) return add(end, *staged, bytes, to.dtype);
      require(device_.copy(end, *staged, bytes, AclCopy::kDeviceToDevice));
    });
  });
}

void AclFabric::move(std::int32_t target, const WindowRegion& to, std::int32_t source,
                     const WindowRegion& from, pld::AtomicType atomic) {
  std::byte* first = address(target, to.offset);
  const std::byte* from_first = address(source, from.offset);
  for_each_run(
      to.extent, from.extent.stride, [&](std::int64_t there, std::int64_t here, std::size_t bytes) {
        if (atomic == pld::AtomicType::Add) {
          return add(first + there, from_first + here, bytes, to.dtype);
        }
        require(device_.copy(first + there, from_first + here, bytes, AclCopy::kDeviceToDevice));
      });
}

void AclFabric::read(std::int32_t source, const WindowRegion& from, std::byte* to,
                     std::int64_t to_stride) {
  const std::byte* first = address(source, from.offset);
  for_each_run(from.extent, to_stride, [&](std::int64_t there, std::int64_t here, std::size_t run) {
    if (source == rank()) {
      return require(device_.copy(to + here, first + there, run, AclCopy::kDeviceToHost));
    }
    in_pieces(run, [&](std::size_t at, std::size_t bytes) {
      const absl::StatusOr<std::byte*> room = device_.room(bytes);
      require(room.status());
      require(device_.copy(*room, first + there + at, bytes, AclCopy::kDeviceToDevice));
      require(device_.copy(to + here + at, *room, bytes, AclCopy::kDeviceToHost));
    });
  });
  require(device_.synchronize());
}

void AclFabric::load(const WindowRegion& from, TileBlock& to, const Site& site) {
  begin_op(site);
  read(rank(), from, to.bytes(), from.extent.row_bytes);
}

void AclFabric::store(const TileRef& from, const WindowRegion& to, pld::AtomicType atomic,
                      const Site& site) {
  begin_op(site);
  write(rank(), to, from->bytes(), to.extent.row_bytes, atomic);
}

void AclFabric::remote_load(std::int32_t peer, const WindowRegion& from, const TileRef& to,
                            const Site& site) {
  begin_op(site);
  read(peer, from, to->bytes(), from.extent.row_bytes);
}

void AclFabric::remote_store(const TileRef& from, std::int32_t peer, const WindowRegion& to,
                             pld::AtomicType atomic, const Site& site) {
  begin_op(site);
  write(peer, to, from->bytes(), to.extent.row_bytes, atomic);
}

// From card to card in one piece, whatever the chunks. Only where a rank moves between overlapping
// regions of its own slice, all is read before anything is written, as everywhere.
void AclFabric::put(std::int32_t peer, const WindowRegion& to, const LocalRegion& from,
                    pld::AtomicType atomic, const Chunking&, const Site& site) {
  begin_op(site);
  if (from.window == nullptr) {
    return write(peer, to, from.memory.data, from.memory.extent.stride, atomic);
  }
  if (peer == rank() && overlaps(*from.window, to)) [[unlikely]] {
    std::vector<std::byte> all(static_cast<std::size_t>(to.extent.bytes()));
    read(rank(), *from.window, all.data(), to.extent.row_bytes);
    return write(rank(), to, all.data(), to.extent.row_bytes, atomic);
  }
  move(peer, to, rank(), *from.window, atomic);
}

void AclFabric::get(const LocalRegion& to, std::int32_t peer, const WindowRegion& from,
                    const Chunking& chunking, const Site& site) {
  if (to.window == nullptr) {
    begin_op(site);
    return read(peer, from, to.memory.data, to.memory.extent.stride);
  }
  if (peer == rank()) {  // to oneself, a get is a put
    put(peer, *to.window, {.window = &from, .memory = {}, .keep_alive = {}}, pld::AtomicType::None_,
        chunking, site);
  } else {
    begin_op(site);
    move(rank(), *to.window, peer, from, pld::AtomicType::None_);
  }
  require(device_.synchronize());
}

void AclFabric::notify(std::int32_t peer, const Cell& cell, std::int32_t value, pld::NotifyOp op,
                       const Site& site) {
  begin_op(site);
  const WindowRegion region{
      cell.window, cell.offset, {1, sizeof(value), sizeof(value)}, pl::DType::INT32};
  write(peer, region, reinterpret_cast<const std::byte*>(&value), sizeof(value),
        op == pld::NotifyOp::Set ? pld::AtomicType::None_ : pld::AtomicType::Add);
  signal_sent(peer, cell, op, site);
}

void AclFabric::add_to_own_cell(const Cell& cell, std::int32_t delta, const Site& site) {
  begin_op(site);
  const WindowRegion region{
      cell.window, cell.offset, {1, sizeof(delta), sizeof(delta)}, pl::DType::INT32};
  write(rank(), region, reinterpret_cast<const std::byte*>(&delta), sizeof(delta),
        pld::AtomicType::Add);
}

std::int32_t AclFabric::read_cell(const Cell& cell) {
  require(device_.copy(reinterpret_cast<std::byte*>(&cell_value_), address(rank(), cell.offset),
                       sizeof(cell_value_), AclCopy::kDeviceToHost));
  require(device_.synchronize());
  return cell_value_;
}

void AclFabric::wait(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp, const Site& site) {
  begin_op(site);
  if (pld::compare(cmp, read_cell(cell), expected)) return;
  wait_longer({.site = site, .on_cell = true, .cell = cell, .expected = expected, .cmp = cmp});
}

void AclFabric::wait_longer(const DirectWait& wait) {
  waits_.begin_wait(rank());
  std::chrono::microseconds pause = kShortestPause;
  for (int look = 0;; ++look) {
    const std::uint64_t since = waits_.change();
    const std::int32_t actual = read_cell(wait.cell);
    if (pld::compare(wait.cmp, actual, wait.expected)) break;
    waits_.looked(rank(), since, actual);
    if (waits_.is_over()) waits_.leave(rank(), wait);
    if (look < kEagerLooks) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
  waits_.end_wait(rank());
}

bool AclFabric::test(const Cell& cell, std::int32_t expected, pld::WaitCmp cmp, const Site& site) {
  begin_op(site);
  const std::int32_t actual = read_cell(cell);
  if (pld::compare(cmp, actual, expected)) return true;
  waits_.tested(rank(), actual);
  test_failed({.site = site, .on_cell = true, .cell = cell, .expected = expected, .cmp = cmp});
  std::this_thread::yield();
  return false;
}

void AclFabric::fence(const Site& site) {
  begin_op(site);
  require(device_.synchronize());
}

}  // namespace symrace
