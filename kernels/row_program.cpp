#include "kernels/row_program.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "core/rng.h"

namespace kernels {
namespace {

constexpr int kNeverWritten = -77;  // what y holds before a schedule

template <pl::Element T>
T random_element(symrace::SplitMix64& generator) {
  const std::uint64_t bits = generator.next();
  const bool negative = (bits & 1) != 0;
  if constexpr (pl::FloatingElement<T>) {
    // [0.5, 1.5), a multiple of 2^-23.
    const float magnitude = 0.5F + static_cast<float>((bits >> 8) & 0x7fffff) * 0x1p-23F;
    return static_cast<T>(negative ? -magnitude : magnitude);
  } else {
    const auto magnitude = static_cast<std::int32_t>(1 + (bits >> 8) % 30);
    return static_cast<T>(negative ? -magnitude : magnitude);
  }
}

template <pl::Element T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <pl::Element T>
std::string text_of(T value, int digits) {
  if constexpr (pl::FloatingElement<T>) {
    return absl::StrFormat("%.*g", digits, static_cast<float>(value));
  } else {
    return absl::StrCat(static_cast<std::int32_t>(value));
  }
}

// Two values that differ, in as few digits as show that.
template <pl::Element T>
std::pair<std::string, std::string> texts_of(T a, T b) {
  constexpr int kShort = 6;
  constexpr int kExact = 9;  // tells any two floats apart
  std::pair texts = {text_of(a, kShort), text_of(b, kShort)};
  if (texts.first == texts.second) texts = {text_of(a, kExact), text_of(b, kExact)};
  return texts;
}

}  // namespace

template <pl::Element T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                        std::uint64_t stream) {
  Matrix<T> matrix(rows, cols);
  symrace::SplitMix64 generator(seed ^ (stream * 0xd1342543de82ef95));
  for (T& value : matrix.values) value = random_element<T>(generator);
  return matrix;
}

template <pl::Element T>
RowProgram<T>::RowProgram(const symrace::Arguments& arguments, std::int64_t output_cols,
                          std::int64_t input_cols)
    : ranks_(arguments.ranks),
      size_(arguments.size),
      x_(random_matrix<T>(arguments.ranks, input_cols == 0 ? arguments.size : input_cols,
                          arguments.data_seed)),
      y_(arguments.ranks, output_cols == 0 ? arguments.size : output_cols) {}

template <pl::Element T>
void RowProgram<T>::orchestrate(pld::Host& host_object) {
  std::fill(y_.values.begin(), y_.values.end(), static_cast<T>(kNeverWritten));
  host(host_object);
}

template <pl::Element T>
void RowProgram<T>::expect_ring_shift(std::int64_t shift, int factor) {
  golden_ = Matrix<T>(ranks_, size_);
  golden_is_shift_ = factor == 1;
  shift_ = shift;
  for (std::int64_t r = 0; r < ranks_; ++r) {
    for (std::int64_t i = 0; i < size_; ++i) {
      golden_.row(r)[i] =
          pl::arithmetic::mul(x_.row(ring(r, shift, ranks_))[i], static_cast<T>(factor));
    }
  }
}

template <pl::Element T>
void RowProgram<T>::expect(Matrix<T> golden) {
  golden_ = std::move(golden);
  golden_is_shift_ = false;
}

template <pl::Element T>
bool RowProgram<T>::matches() const {
  for (std::int64_t r = 0; r < ranks_; ++r) {
    const auto bytes = static_cast<std::size_t>(y_.cols) * sizeof(T);
    if (std::memcmp(y_.row(r), golden_row(r), bytes) != 0) return false;
  }
  return true;
}

// Data that an output may turn out to be: a constant, a row, or the sum of two rows.
template <pl::Element T>
struct RowProgram<T>::Candidate {
  T at(std::int64_t i) const {
    if (first == nullptr) return constant;
    return second == nullptr ? first[i] : pl::arithmetic::add(first[i], second[i]);
  }

  std::string name;
  const T* first = nullptr;
  const T* second = nullptr;
  T constant{};
  std::int64_t input_of = -1;  // the rank whose input it is
};

template <pl::Element T>
std::vector<typename RowProgram<T>::Candidate> RowProgram<T>::candidates(std::int64_t r) const {
  std::vector<Candidate> found = {
      {.name = "zeros"},
      {.name = "never written", .constant = static_cast<T>(kNeverWritten)},
      {.name = "as expected", .first = golden_row(r)}};
  const std::size_t unnamed = found.size();
  const auto add = [&](const std::string& label, const Matrix<T>& rows) {
    if (rows.cols != y_.cols) return;
    for (std::int64_t k = 0; k < rows.rows; ++k) {
      found.push_back({.name = absl::StrCat("rank ", k, "'s ", label),
                       .first = rows.row(k),
                       .input_of = &rows == &x_ ? k : -1});
    }
  };
  add(input_label_, x_);
  for (const Reference& reference : references_) add(reference.label, reference.rows);
  const std::size_t plain = found.size();
  for (std::size_t a = unnamed; a < plain && plain < 200; ++a) {
    for (std::size_t b = a; b < plain; ++b) {
      found.push_back({.name = absl::StrCat("the sum of ", found[a].name, " and ", found[b].name),
                       .first = found[a].first,
                       .second = found[b].first});
    }
  }
  return found;
}

template <pl::Element T>
std::string RowProgram<T>::direction(std::int64_t r, std::int64_t k) const {
  if (!golden_is_shift_) return {};
  const auto shifted = [this](std::int64_t shift) {
    const std::int64_t forward = ring(shift, 0, ranks_);
    if (forward == 0) return std::string("x[r]");
    const bool back = forward > ranks_ / 2;
    return absl::StrCat("x[(r", back ? "-" : "+", back ? ranks_ - forward : forward, ") % N]");
  };
  return absl::StrCat(": ", shifted(k - r), ", where the golden is ", shifted(shift_));
}

template <pl::Element T>
std::string RowProgram<T>::identify(std::int64_t r) const {
  const T* actual = y_.row(r);
  const std::int64_t cols = y_.cols;
  const std::vector<Candidate> known = candidates(r);

  // The longest run that one candidate explains, again and again.
  std::string text;
  int runs = 0;
  for (std::int64_t begin = 0; begin < cols;) {
    const Candidate* best = nullptr;
    std::int64_t best_end = begin;
    for (const Candidate& candidate : known) {
      std::int64_t end = begin;
      while (end < cols && same_bits(actual[end], candidate.at(end))) ++end;
      if (end > best_end) {
        best = &candidate;
        best_end = end;
      }
    }
    if (best == nullptr) return "no known data";
    if (runs == 6) return text + ", ...";  // enough to know it by
    if (begin == 0 && best_end == cols) {
      return best->input_of < 0 ? best->name : best->name + direction(r, best->input_of);
    }
    absl::StrAppend(&text, runs == 0 ? "a mixture: [" : ", [", begin, ":", best_end, ") ",
                    best->name);
    ++runs;
    begin = best_end;
  }
  return text;
}

template <pl::Element T>
std::vector<symrace::Mismatch> RowProgram<T>::mismatches() const {
  std::vector<symrace::Mismatch> rows;
  for (std::int64_t r = 0; r < ranks_; ++r) {
    symrace::Mismatch mismatch;
    mismatch.rank = static_cast<std::int32_t>(r);
    mismatch.total = y_.cols;
    for (std::int64_t i = 0; i < y_.cols; ++i) {
      if (same_bits(y_.row(r)[i], golden_row(r)[i])) continue;
      if (mismatch.differing++ == 0) {
        mismatch.index = i;
        std::tie(mismatch.expected, mismatch.actual) = texts_of(golden_row(r)[i], y_.row(r)[i]);
      }
    }
    if (mismatch.differing == 0) continue;
    mismatch.identity = identify(r);
    rows.push_back(std::move(mismatch));
  }
  return rows;
}

#define SYMRACE_INSTANTIATE(T)                                                                   \
  template Matrix<T> random_matrix<T>(std::int64_t, std::int64_t, std::uint64_t, std::uint64_t); \
  template class RowProgram<T>;
SYMRACE_INSTANTIATE(float)
SYMRACE_INSTANTIATE(pl::fp16)
SYMRACE_INSTANTIATE(pl::bf16)
SYMRACE_INSTANTIATE(std::int32_t)
SYMRACE_INSTANTIATE(std::int16_t)
SYMRACE_INSTANTIATE(std::int8_t)
#undef SYMRACE_INSTANTIATE

}  // namespace kernels
