// The bytes of a fuzz input, read front to back as numbers: a change of one byte changes one of
// them. Behind the end there are zeros.
#ifndef SYMRACE_TESTS_FUZZ_INPUT_H_
#define SYMRACE_TESTS_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  bool is_empty() const { return bytes_.empty(); }

  // Of that many bytes, the lowest first.
  std::uint64_t bits(std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count && !bytes_.empty(); ++i) {
      value |= static_cast<std::uint64_t>(bytes_.front()) << (8 * i);
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }
  // In [0, count), of one byte.
  int below(int count) { return static_cast<int>(bits(1)) % count; }
  bool flag() { return below(2) == 1; }
  template <class T, std::size_t kCount>
  T pick(const T (&values)[kCount]) {
    return values[below(static_cast<int>(kCount))];
  }
  // Mostly small, of one byte; else an edge, or any of eight more bytes.
  std::int64_t wild_number() {
    constexpr std::int64_t kEdges[] = {
        -1, INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN, std::int64_t{1} << 32,
        // Times 4, 4 beyond 64 bits; squared, beyond 32; on-core bytes, and their floats.
        (std::int64_t{1} << 62) + 1, 46341, 184 * 1024, 184 * 1024 / 4};
    constexpr int kSmall = 240;
    const int byte = below(256);
    if (byte < kSmall) return byte % 10;
    if (byte < kSmall + static_cast<int>(std::size(kEdges))) return kEdges[byte - kSmall];
    return static_cast<std::int64_t>(bits(8));
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace fuzz

#endif  // SYMRACE_TESTS_FUZZ_INPUT_H_
