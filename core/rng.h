// The project's only generators: fixed sequences on every compiler and library, unlike
// std::uniform_int_distribution. Seeding is cheap, since every schedule seeds anew.
#ifndef SYMRACE_CORE_RNG_H_
#define SYMRACE_CORE_RNG_H_

#include <bit>
#include <cstdint>

namespace symrace {

// SplitMix64 (Steele, Lea, Flood 2014): one 64-bit state, used for seeding and for input data.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// xoshiro256** (Blackman, Vigna 2018).
class Xoshiro256 {
 public:
  explicit Xoshiro256(std::uint64_t seed) {
    SplitMix64 seeder(seed);
    for (std::uint64_t& word : state_) word = seeder.next();
  }
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // In [0, bound) for bound in [1, 2^32]: the high half of a 32 x 32-bit product. The bias is below
  // bound / 2^32 and the draw never loops.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RNG_H_
