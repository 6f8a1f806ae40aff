// Replay tokens: a schedule as text, and the strategy that repeats it.
#ifndef SYMRACE_EMU_REPLAY_H_
#define SYMRACE_EMU_REPLAY_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emu/strategy.h"

namespace emu {

// What a token must agree with: the program, its arguments, ranks, model, burst and data seed, as
// one canonical string. A token of anything else is refused.
struct ReplayToken {
  std::uint64_t program_hash = 0;  // XXH3 of the canonical string
  std::vector<Decision> decisions;
};

std::uint64_t program_hash(std::string_view canonical);

// "sr1." + base64url of the hash and the decisions (variable-length numbers).
std::string encode(const ReplayToken& token);
// InvalidArgument: not a token, another version, damaged (it carries a checksum), or made for
// another program or arguments than `expected_hash`; the message says which.
absl::StatusOr<ReplayToken> decode(std::string_view text, std::uint64_t expected_hash);

// Chooses the token's decisions one by one. Gives up when one is not enabled (the program has
// changed since), and goes on round-robin when they have run out.
std::unique_ptr<Strategy> make_replay_strategy(std::vector<Decision> decisions);
// The same where it can be: a decision that is not enabled waits until it is, and deliveries go
// first when nothing that is left is. Never gives up. Costs the square of the decisions.
std::unique_ptr<Strategy> make_wish_strategy(std::vector<Decision> wishes);

}  // namespace emu

#endif  // SYMRACE_EMU_REPLAY_H_
