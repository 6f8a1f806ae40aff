// On-core storage of tiles: reference-counted blocks from a pool, so that an op allocates nothing.
#ifndef SYMRACE_CORE_TILE_POOL_H_
#define SYMRACE_CORE_TILE_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/address_sanitizer.h"

namespace symrace {

// The vector on-core buffer (UB) holds 192 KiB, of which 184 KiB are usable.
inline constexpr std::int64_t kOnCoreBytes = 184 * 1024;

class TilePool;

// A block's header; its bytes follow. Contents are immutable once the op that made it has returned,
// except for a deferred remote_load (weak model), whose bytes arrive at any time before first use.
struct alignas(32) TileBlock {
  enum class State : std::uint8_t { kReady, kInFlight, kArrived };

  std::uint32_t references = 0;
  std::uint8_t size_class = 0;
  State state = State::kReady;
  std::uint32_t ticket = 0;  // of a deferred remote_load: the engine's own
  TilePool* pool = nullptr;
  TileBlock* next_free = nullptr;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(this + 1); }
};

// Shares a block. Not thread-safe: a block never leaves its pool's thread of control.
class TileRef {
 public:
  TileRef() = default;
  explicit TileRef(TileBlock* block) : block_(block) { ++block_->references; }
  TileRef(const TileRef& other) : block_(other.block_) {
    if (block_ != nullptr) ++block_->references;
  }
  TileRef(TileRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  TileRef& operator=(TileRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~TileRef() { reset(); }

  inline void reset();
  explicit operator bool() const { return block_ != nullptr; }
  TileBlock* operator->() const { return block_; }
  TileBlock& operator*() const { return *block_; }

 private:
  TileBlock* block_ = nullptr;
};

// Free lists by power-of-two size. Owned by an execution (or by a rank of the direct engine) and
// outlives every tile that came from it.
class TilePool {
 public:
  TilePool() = default;
  TilePool(const TilePool&) = delete;
  TilePool& operator=(const TilePool&) = delete;
  ~TilePool();

  // Contents are unspecified. `bytes` may be 0.
  TileRef allocate(std::size_t bytes) {
    const std::uint8_t size_class = size_class_of(bytes);
    TileBlock*& head = free_[size_class];
    if (head == nullptr) refill(size_class);
    TileBlock* block = head;
    head = block->next_free;
    block->state = TileBlock::State::kReady;
    allow_only(*block, bytes);
    return TileRef(block);
  }

  void release(TileBlock* block) {
    block->next_free = free_[block->size_class];
    free_[block->size_class] = block;
  }

 private:
  static constexpr int kSmallestLog2 = 6;
  static constexpr int kClasses = 48;
  static std::uint8_t size_class_of(std::size_t bytes);
  void refill(std::uint8_t size_class);
  // Tells AddressSanitizer, where there is one, which bytes of a block are the tile's.
#ifdef SYMRACE_HAS_ASAN
  static void allow_only(TileBlock& block, std::size_t bytes);
#else
  static void allow_only(TileBlock& /*block*/, std::size_t /*bytes*/) {}
#endif

  std::array<TileBlock*, kClasses> free_{};
};

inline void TileRef::reset() {
  if (block_ != nullptr && --block_->references == 0) block_->pool->release(block_);
  block_ = nullptr;
}

}  // namespace symrace

#endif  // SYMRACE_CORE_TILE_POOL_H_
