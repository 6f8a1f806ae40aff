// Replay tokens: what is accepted is what was written, and everything else is refused in one line.
#define XXH_INLINE_ALL
#include <absl/strings/escaping.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emu/replay.h"
#include "tests/fuzz/expect.h"

namespace {

constexpr std::uint64_t kProgram = 0x1234;

// A token of any text.
void check_text(std::string_view text) {
  const auto token = emu::decode(text, kProgram);
  if (!token.ok()) return fuzz::expect_one_line(token.status());
  fuzz::expect(emu::encode(*token) == text, "one token a schedule", std::string(text));
}

// A token whose checksum is right, with these bytes for its decisions.
void check_payload(std::string_view payload) {
  std::string bytes;
  const auto append = [&](std::uint64_t word, int count) {
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
  };
  append(kProgram, 8);
  bytes += payload;
  append(XXH3_64bits(bytes.data(), bytes.size()), 4);
  check_text("sr1." + absl::WebSafeBase64Escape(bytes));
}

// A token of decisions, five bytes each, as it was written and damaged in one place.
void check_decisions(const std::uint8_t* data, std::size_t size) {
  emu::ReplayToken token{.program_hash = kProgram, .decisions = {}};
  for (std::size_t i = 0; i + 5 <= size; i += 5) {
    std::uint32_t piece = 0;
    for (std::size_t byte = 1; byte < 5; ++byte) piece = piece << 8 | data[i + byte];
    token.decisions.push_back({static_cast<std::int32_t>(data[i]), piece});
  }
  std::string written = emu::encode(token);
  const auto read = emu::decode(written, kProgram);
  fuzz::expect(read.ok() && read->decisions == token.decisions, "the decisions that were written");
  fuzz::expect(!emu::decode(written, kProgram + 1).ok(), "a token of this program only");
  if (size < 2) return;
  written[data[0] % written.size()] ^= static_cast<char>(data[1] | 1);
  fuzz::expect(!emu::decode(written, kProgram).ok(), "that damage is seen", written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_text(text);
  check_payload(text);
  check_decisions(data, size);
  return 0;
}
