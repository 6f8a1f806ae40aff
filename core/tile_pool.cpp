#include "core/tile_pool.h"

#include <bit>
#include <new>

#ifdef SYMRACE_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace symrace {

std::uint8_t TilePool::size_class_of(std::size_t bytes) {
  if (bytes <= (std::size_t{1} << kSmallestLog2)) return 0;
  return static_cast<std::uint8_t>(std::bit_width(bytes - 1) - kSmallestLog2);
}

void TilePool::refill(std::uint8_t size_class) {
  const std::size_t bytes = sizeof(TileBlock) + (std::size_t{1} << (size_class + kSmallestLog2));
  void* memory = ::operator new(bytes, std::align_val_t{alignof(TileBlock)});
  auto* block = new (memory) TileBlock;
  block->size_class = size_class;
  block->pool = this;
  release(block);
}

#ifdef SYMRACE_HAS_ASAN
void TilePool::allow_only(TileBlock& block, std::size_t bytes) {
  const std::size_t room = std::size_t{1} << (block.size_class + kSmallestLog2);
  __asan_unpoison_memory_region(block.bytes(), bytes);
  __asan_poison_memory_region(block.bytes() + bytes, room - bytes);
}
#endif

TilePool::~TilePool() {
  for (TileBlock* head : free_) {
    while (head != nullptr) {
      TileBlock* next = head->next_free;
      head->~TileBlock();
      ::operator delete(head, std::align_val_t{alignof(TileBlock)});
      head = next;
    }
  }
}

}  // namespace symrace
