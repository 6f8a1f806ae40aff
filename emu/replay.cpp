#include "emu/replay.h"

#define XXH_INLINE_ALL
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <xxhash.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "emu/strategies.h"

namespace emu {
namespace {

constexpr std::string_view kVersion = "sr1.";
constexpr std::size_t kLongestVersion = 8;

void append_number(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void append_word(std::string& bytes, std::uint64_t word, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
}

// Reads what the two above wrote; `ok` goes false at the first damage.
struct Reader {
  std::string_view bytes;
  bool ok = true;

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const std::uint64_t byte = word(1);
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok = false;
    return 0;
  }
  std::uint64_t word(int count) {
    if (bytes.size() < static_cast<std::size_t>(count)) {
      ok = false;
      return 0;
    }
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
      value |=
          static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]))
          << (8 * i);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
    return value;
  }
};

std::uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size()) & 0xffffffff;
}

class ReplayStrategy final : public Strategy {
 public:
  explicit ReplayStrategy(std::vector<Decision> decisions) : decisions_(std::move(decisions)) {}

  void begin(std::int32_t ranks, std::uint64_t) override {
    next_ = 0;
    rest_->begin(ranks, 0);
  }
  std::size_t choose(const std::vector<Transition>& enabled) override {
    if (next_ == decisions_.size()) return rest_->choose(enabled);
    const Decision wanted = decisions_[next_++];
    for (std::size_t i = 0; i < enabled.size(); ++i) {
      if (enabled[i].decision == wanted) return i;
    }
    return kGiveUp;
  }

 private:
  std::vector<Decision> decisions_;
  std::size_t next_ = 0;
  std::unique_ptr<Strategy> rest_ = make_round_robin_strategy();
};

// Takes what is wished for as soon as it is enabled, in the order of the wishes; then deliveries
// before steps.
class WishStrategy final : public Strategy {
 public:
  explicit WishStrategy(std::vector<Decision> wishes) : wishes_(std::move(wishes)) {}

  void begin(std::int32_t, std::uint64_t) override {}
  std::size_t choose(const std::vector<Transition>& enabled) override {
    for (std::size_t i = 0; i < wishes_.size(); ++i) {
      const auto found = std::find_if(enabled.begin(), enabled.end(), [&](const Transition& t) {
        return t.decision == wishes_[i];
      });
      if (found == enabled.end()) continue;
      wishes_.erase(wishes_.begin() + static_cast<std::ptrdiff_t>(i));
      return static_cast<std::size_t>(found - enabled.begin());
    }
    const auto order = [](const Transition& t) {
      return std::tuple(!t.decision.is_delivery(), t.decision.rank, t.decision.piece);
    };
    const auto first =
        std::min_element(enabled.begin(), enabled.end(),
                         [&](const auto& a, const auto& b) { return order(a) < order(b); });
    return static_cast<std::size_t>(first - enabled.begin());
  }

 private:
  std::vector<Decision> wishes_;
};

}  // namespace

std::uint64_t program_hash(std::string_view canonical) {
  return XXH3_64bits(canonical.data(), canonical.size());
}

// A decision is (rank * 2 + is_delivery), and for a delivery the piece's number: small numbers
// both.
std::string encode(const ReplayToken& token) {
  std::string bytes;
  append_word(bytes, token.program_hash, 8);
  for (const Decision& decision : token.decisions) {
    append_number(bytes,
                  static_cast<std::uint64_t>(decision.rank) * 2 + (decision.is_delivery() ? 1 : 0));
    if (decision.is_delivery()) append_number(bytes, decision.piece);
  }
  append_word(bytes, checksum(bytes), 4);
  return absl::StrCat(std::string(kVersion), absl::WebSafeBase64Escape(bytes));
}

absl::StatusOr<ReplayToken> decode(std::string_view text, std::uint64_t expected_hash) {
  const auto refuse = [](std::string_view reason) {
    return absl::InvalidArgumentError(std::string(reason));
  };
  const std::string_view version = text.substr(0, text.find('.') + 1);
  if (version.size() < kVersion.size() || version.size() > kLongestVersion ||
      !version.starts_with("sr") ||
      version.find_first_not_of("0123456789", 2) != version.size() - 1) {
    return refuse("not a replay token; expected 'sr1.' and its letters, as a finding prints it");
  }
  if (version != kVersion) {
    return refuse(absl::StrCat("a token of version '",
                               std::string(version.substr(0, version.size() - 1)),
                               "'; this a2a3sim reads 'sr1': find the bug again to get a new one"));
  }
  std::string bytes;
  const std::string body(text.substr(kVersion.size()));
  if (!absl::WebSafeBase64Unescape(body, &bytes) || bytes.size() < 12) {
    return refuse("a damaged replay token; copy it whole");
  }
  Reader sum{std::string_view(bytes).substr(bytes.size() - 4)};
  Reader reader{std::string_view(bytes).substr(0, bytes.size() - 4)};
  if (sum.word(4) != checksum(reader.bytes)) {
    return refuse("a damaged replay token; copy it whole");
  }
  ReplayToken token;
  token.program_hash = reader.word(8);
  if (token.program_hash != expected_hash) {
    return refuse(
        "a token of another program, or of other arguments, ranks, model, burst or data "
        "seed; run the command that was printed with it");
  }
  while (!reader.bytes.empty() && reader.ok) {
    const std::uint64_t who = reader.number();
    Decision decision;
    decision.rank = static_cast<std::int32_t>(who / 2 & 0x7fffffff);
    if (who % 2 == 1) {
      decision.piece = static_cast<std::uint32_t>(reader.number());
      if (decision.piece == 0) reader.ok = false;
    }
    token.decisions.push_back(decision);
  }
  // Of what it holds there is one way to write it.
  if (!reader.ok || encode(token) != text) {
    return refuse("a damaged replay token; copy it whole");
  }
  return token;
}

std::unique_ptr<Strategy> make_replay_strategy(std::vector<Decision> decisions) {
  return std::make_unique<ReplayStrategy>(std::move(decisions));
}

std::unique_ptr<Strategy> make_wish_strategy(std::vector<Decision> wishes) {
  return std::make_unique<WishStrategy>(std::move(wishes));
}

}  // namespace emu
