#include "core/tile_pool.h"

#include <bit>
#include <new>

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
