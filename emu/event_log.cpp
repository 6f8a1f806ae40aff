#include "emu/event_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
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
  // A few events at a time: all their words together may be more than the log itself.
  constexpr std::size_t kWordsAnEvent = 9;
  std::array<std::uint64_t, 64 * kWordsAnEvent> words;
  std::size_t count = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  const auto flush = [&] {
    XXH3_64bits_update(&state, words.data(), count * sizeof(std::uint64_t));
    count = 0;
  };
  for (const Event& event : events) {
    words[count++] = static_cast<std::uint64_t>(event.kind) |
                     static_cast<std::uint64_t>(event.op) << 8 |
                     static_cast<std::uint64_t>(event.dtype) << 16 |
                     static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.rank)) << 32;
    words[count++] = static_cast<std::uint32_t>(event.target) |
                     static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.window)) << 32;
    words[count++] = event.piece;
    words[count++] = event.offset;
    words[count++] = static_cast<std::uint64_t>(event.rows);
    words[count++] = static_cast<std::uint64_t>(event.row_bytes);
    words[count++] = static_cast<std::uint64_t>(event.stride);
    words[count++] = static_cast<std::uint64_t>(event.value);
    words[count++] = event.data_hash;
    if (count == words.size()) flush();
  }
  flush();
  return XXH3_64bits_digest(&state);
}

}  // namespace emu
