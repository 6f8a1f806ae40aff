// A rank that runs alone: a Fabric that does every move at once, in plain memory, and writes down
// what it was asked. What pl and pld ops are tested against, without an engine.
#ifndef SYMRACE_TESTS_CORE_FAKE_RANK_H_
#define SYMRACE_TESTS_CORE_FAKE_RANK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <vector>

#include "core/arithmetic.h"
#include "core/error.h"
#include "core/rank_context.h"
#include "core/tensor.h"

namespace fake {

class Fabric : public symrace::Fabric {
 public:
  Fabric(std::int32_t rank, std::int32_t ranks)
      : rank_(rank), slices_(static_cast<std::size_t>(ranks), std::vector<std::byte>(kBytes)) {}

  void load(const symrace::WindowRegion& from, symrace::TileBlock& to,
            const symrace::Site&) override {
    calls.emplace_back("load");
    copy_out(rank_, from, to.bytes());
  }
  void store(const symrace::TileRef& from, const symrace::WindowRegion& to, pld::AtomicType atomic,
             const symrace::Site&) override {
    calls.emplace_back(name("store", atomic));
    copy_in(rank_, to, from->bytes(), to.extent.row_bytes, atomic);
  }
  void remote_load(std::int32_t peer, const symrace::WindowRegion& from, const symrace::TileRef& to,
                   const symrace::Site&) override {
    calls.push_back(name("remote_load", peer));
    copy_out(peer, from, to->bytes());
  }
  void remote_store(const symrace::TileRef& from, std::int32_t peer,
                    const symrace::WindowRegion& to, pld::AtomicType atomic,
                    const symrace::Site&) override {
    calls.push_back(name(name("remote_store", peer), atomic));
    copy_in(peer, to, from->bytes(), to.extent.row_bytes, atomic);
  }
  void put(std::int32_t peer, const symrace::WindowRegion& to, const symrace::LocalRegion& from,
           pld::AtomicType atomic, const symrace::Chunking& chunks, const symrace::Site&) override {
    calls.push_back(name(name("put", peer), atomic));
    chunking = chunks;
    const std::byte* source =
        from.window != nullptr ? slice(rank_).data() + from.window->offset : from.memory.data;
    copy_in(peer, to, source, from.extent().stride, atomic);
  }
  void get(const symrace::LocalRegion& to, std::int32_t peer, const symrace::WindowRegion& from,
           const symrace::Chunking& chunks, const symrace::Site&) override {
    calls.push_back(name("get", peer));
    chunking = chunks;
    std::byte* target =
        to.window != nullptr ? slice(rank_).data() + to.window->offset : to.memory.data;
    symrace::copy_rows(target, to.extent().stride, slice(peer).data() + from.offset,
                       from.extent.stride, from.extent.rows, from.extent.row_bytes);
  }
  void notify(std::int32_t peer, const symrace::Cell& cell, std::int32_t value, pld::NotifyOp op,
              const symrace::Site&) override {
    calls.push_back(name("notify", peer));
    std::int32_t before = 0;
    std::memcpy(&before, slice(peer).data() + cell.offset, sizeof(before));
    const std::int32_t after = op == pld::NotifyOp::Set ? value : before + value;
    std::memcpy(slice(peer).data() + cell.offset, &after, sizeof(after));
  }
  // There is nobody to wait for: the rank goes on whatever its cell says.
  void wait(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp,
            const symrace::Site&) override {
    calls.push_back("wait cell " + std::to_string(cell.offset / 4) + " for " +
                    std::to_string(expected));
  }
  bool test(const symrace::Cell& cell, std::int32_t expected, pld::WaitCmp cmp,
            const symrace::Site&) override {
    calls.emplace_back("test");
    std::int32_t actual = 0;
    std::memcpy(&actual, slice(rank_).data() + cell.offset, sizeof(actual));
    return pld::compare(cmp, actual, expected);
  }
  void fence(const symrace::Site&) override { calls.emplace_back("fence"); }
  void add_to_own_cell(const symrace::Cell& cell, std::int32_t delta,
                       const symrace::Site&) override {
    calls.push_back("add " + std::to_string(delta) + " to cell " + std::to_string(cell.offset / 4));
  }
  void use(symrace::TileBlock& tile, const symrace::Site&) override {
    calls.emplace_back("use");
    tile.state = symrace::TileBlock::State::kReady;
  }
  void use_private_memory(const symrace::Site&) override {
    calls.emplace_back("use_private_memory");
  }

  std::vector<std::byte>& slice(std::int32_t rank) {
    return slices_[static_cast<std::size_t>(rank)];
  }

  std::vector<std::string> calls;
  symrace::Chunking chunking;  // of the last put or get

 private:
  static constexpr std::size_t kBytes = 1 << 20;

  static std::string name(const std::string& op, std::int32_t peer) {
    return op + " peer " + std::to_string(peer);
  }
  static std::string name(const std::string& op, pld::AtomicType atomic) {
    return atomic == pld::AtomicType::Add ? op + " add" : op;
  }
  void copy_out(std::int32_t rank, const symrace::WindowRegion& from, std::byte* to) {
    symrace::copy_rows(to, from.extent.row_bytes, slice(rank).data() + from.offset,
                       from.extent.stride, from.extent.rows, from.extent.row_bytes);
  }
  void copy_in(std::int32_t rank, const symrace::WindowRegion& to, const std::byte* from,
               std::int64_t from_stride, pld::AtomicType atomic) {
    std::byte* target = slice(rank).data() + to.offset;
    if (atomic == pld::AtomicType::None_) {
      symrace::copy_rows(target, to.extent.stride, from, from_stride, to.extent.rows,
                         to.extent.row_bytes);
      return;
    }
    pl::visit_dtype(to.dtype, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t row = 0; row < to.extent.rows; ++row) {
        for (std::int64_t byte = 0; byte < to.extent.row_bytes;
             byte += static_cast<std::int64_t>(sizeof(T))) {
          T old;
          T more;
          std::memcpy(&old, target + row * to.extent.stride + byte, sizeof(T));
          std::memcpy(&more, from + row * from_stride + byte, sizeof(T));
          const T sum = pl::arithmetic::add(old, more);
          std::memcpy(target + row * to.extent.stride + byte, &sum, sizeof(T));
        }
      }
    });
  }

  std::int32_t rank_;
  std::vector<std::vector<std::byte>> slices_;
};

// Makes this thread rank `rank` of `ranks` while it lives.
class Rank {
 public:
  explicit Rank(std::int32_t rank = 0, std::int32_t ranks = 2) : fabric(rank, ranks) {
    context.rank = rank;
    context.world_size = ranks;
    context.fabric = &fabric;
    context.tiles = &pool_;
    symrace::internal::current_rank_pointer = &context;
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() { symrace::internal::current_rank_pointer = nullptr; }

  // The packed elements of a window in one rank's slice.
  template <pl::Element T>
  T* slice(std::int32_t rank, const symrace::Window& window) {
    return reinterpret_cast<T*>(fabric.slice(rank).data() + window.offset);
  }

  Fabric fabric;
  symrace::RankContext context;

 private:
  symrace::TilePool pool_;
};

// Runs `op(here)` and returns the error it throws, without the "file:line: " that must name
// `here`; "no error" when it throws none. Ops get `here` as their location.
template <class Op>
std::string error_of(Op&& op, std::source_location here = std::source_location::current()) {
  try {
    op(here);
  } catch (const symrace::KernelError& error) {
    const std::string text = error.what();
    const std::string place = symrace::short_location(here) + ": ";
    return text.starts_with(place) ? text.substr(place.size()) : "wrong place: " + text;
  }
  return "no error";
}

}  // namespace fake

#endif  // SYMRACE_TESTS_CORE_FAKE_RANK_H_
