// What a kernel's ops find through the current-rank pointer, the only global of the project.
#ifndef SYMRACE_CORE_RANK_CONTEXT_H_
#define SYMRACE_CORE_RANK_CONTEXT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/fabric.h"
#include "core/tile_pool.h"

namespace symrace {

struct RankContext {
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::int32_t device = 0;
  Fabric* fabric = nullptr;
  TilePool* tiles = nullptr;
  bool in_core_group = false;  // inside pl::at(Level::CORE_GROUP, ...)
  // Gets into private memory whose bytes may still be on their way (weak model). Where it is not 0,
  // the fabric is told of every op on private memory.
  std::int32_t deferred_gets = 0;
  // Moves between rank-private memory and a tile, which no fabric sees, for engines that model
  // time.
  std::uint64_t private_moves = 0;
  std::uint64_t private_bytes = 0;
  // The op that it began last, and how many there were; for what is told of a kernel that fails
  // between ops.
  Site latest = {};
  std::uint32_t ops = 0;
};

// "put.cpp:12: rank 1: the kernel `what` after its notify here", or what of it fits. Allocates
// nothing, so that signal handlers may call it.
std::array<char, 512> between_ops(const RankContext& rank, std::string_view what);

// What is wrong with a kernel that comes to no op once its run is over.
std::string endless(const RankContext& rank);

namespace internal {
// Set by the engine whenever it hands control to a rank; null outside kernels.
inline thread_local constinit RankContext* current_rank_pointer = nullptr;
}  // namespace internal

// The rank that runs now. Throws KernelError outside a kernel.
inline RankContext& current_rank(const Site& site);

[[noreturn]] void throw_outside_kernel(const Site& site);

inline RankContext& current_rank(const Site& site) {
  RankContext* context = internal::current_rank_pointer;
  if (context == nullptr) throw_outside_kernel(site);
  context->latest = site;
  ++context->ops;
  return *context;
}

// For an op that touches private memory; nearly always one comparison.
inline void settle_private_memory(const Site& site) {
  RankContext& context = current_rank(site);
  if (context.deferred_gets != 0) context.fabric->use_private_memory(site);
}

// For such an op that moves `bytes` between that memory and a tile.
inline void begin_private_move(const Site& site, std::int64_t bytes) {
  RankContext& context = current_rank(site);
  ++context.private_moves;
  context.private_bytes += static_cast<std::uint64_t>(bytes);
  if (context.deferred_gets != 0) context.fabric->use_private_memory(site);
}

}  // namespace symrace

#endif  // SYMRACE_CORE_RANK_CONTEXT_H_
