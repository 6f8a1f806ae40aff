#include "emu/event_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>

namespace emu {

static_assert(std::endian::native == std::endian::little, "hashes are of little-endian fields");

std::uint64_t hash_bytes(const std::byte* bytes, std::int64_t count) {
  return XXH3_64bits(bytes, static_cast<std::size_t>(count));
}

std::uint64_t hash_rows(const std::byte* bytes, std::int64_t stride,
                        const symrace::Extent& extent) {
  if (stride == extent.row_bytes || extent.rows <= 1) return hash_bytes(bytes, extent.bytes());
  std::vector<std::byte> packed(static_cast<std::size_t>(extent.bytes()));
  symrace::copy_rows(packed.data(), extent.row_bytes, bytes, stride, extent.rows, extent.row_bytes);
  return hash_bytes(packed.data(), extent.bytes());
}

std::uint64_t EventLog::hash() const {
  std::vector<std::uint64_t> words;
  words.reserve(events.size() * 10);
  for (const Event& event : events) {
    words.push_back(static_cast<std::uint64_t>(event.kind) |
                    static_cast<std::uint64_t>(event.op) << 8 |
                    static_cast<std::uint64_t>(event.dtype) << 16 |
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.rank)) << 32);
    words.push_back(static_cast<std::uint32_t>(event.target) |
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.window)) << 32);
    words.push_back(event.piece);
    words.push_back(event.offset);
    words.push_back(static_cast<std::uint64_t>(event.rows));
    words.push_back(static_cast<std::uint64_t>(event.row_bytes));
    words.push_back(static_cast<std::uint64_t>(event.stride));
    words.push_back(static_cast<std::uint64_t>(event.value));
    words.push_back(event.data_hash);
  }
  return XXH3_64bits(words.data(), words.size() * sizeof(std::uint64_t));
}

}  // namespace emu
