// What the programs share: an input row x[r] and an output row y[r] a rank, a golden, and the named
// data that a wrong output may turn out to be.
#ifndef SYMRACE_KERNELS_ROW_PROGRAM_H_
#define SYMRACE_KERNELS_ROW_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pl.h"
#include "core/pld.h"
#include "core/program.h"

namespace kernels {

// A row-major host matrix.
template <pl::Element T>
struct Matrix {
  Matrix() = default;
  Matrix(std::int64_t rows_in, std::int64_t cols_in)
      : rows(rows_in), cols(cols_in), values(static_cast<std::size_t>(rows_in * cols_in)) {}

  T* row(std::int64_t r) { return values.data() + r * cols; }
  const T* row(std::int64_t r) const { return values.data() + r * cols; }

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<T> values;
};

// Never zero, so that zeros in an output mean "never staged"; of either sign; small enough that the
// sum of two doubled values fits every dtype. `stream` tells apart the inputs of one seed.
template <pl::Element T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                        std::uint64_t stream = 0);

// A rank's row count of `rows` with the ring wrapped: (r + shift) mod N for any shift.
inline std::int64_t ring(std::int64_t r, std::int64_t shift, std::int64_t ranks) {
  return ((r + shift) % ranks + ranks) % ranks;
}

template <pl::Element T>
class RowProgram : public symrace::Program {
 public:
  // Elements of a rank's output and input; size of the arguments when 0.
  explicit RowProgram(const symrace::Arguments& arguments, std::int64_t output_cols = 0,
                      std::int64_t input_cols = 0);

  void orchestrate(pld::Host& host) final;
  bool matches() const final;
  std::vector<symrace::Mismatch> mismatches() const final;
  void expect_outputs() final { expect(y_); }

 protected:
  // Allocates windows and dispatches; called by orchestrate() with y reset.
  virtual void host(pld::Host& host) = 0;

  std::int64_t ranks() const { return ranks_; }
  std::int64_t size() const { return size_; }
  pl::Tensor<T> x(std::int64_t r) { return {x_.row(r), 1, x_.cols}; }
  pl::Out<pl::Tensor<T>> y(std::int64_t r) { return {y_.row(r), 1, y_.cols}; }
  // The same, as a matrix of so many rows.
  pl::Tensor<T> x(std::int64_t r, std::int64_t rows) { return {x_.row(r), rows, x_.cols / rows}; }
  pl::Out<pl::Tensor<T>> y(std::int64_t r, std::int64_t rows) {
    return {y_.row(r), rows, y_.cols / rows};
  }
  const Matrix<T>& input() const { return x_; }

  // golden[r] = input[(r + shift) mod N], element times `factor`. A mismatch then also names the
  // direction: "rank 2's input: x[(r-1) % N], where the golden is x[(r+1) % N]".
  void expect_ring_shift(std::int64_t shift, int factor = 1);
  // A golden of one row is every rank's.
  void expect(Matrix<T> golden);
  const Matrix<T>& golden() const { return golden_; }

  // Names data that may turn up in a wrong output: row k is "rank k's <label>". "zeros" and
  // "rank k's input" are known already.
  void name_data(std::string label, Matrix<T> rows) {
    references_.push_back({std::move(label), std::move(rows)});
  }
  // What the input is called instead, as "round 2 data".
  void name_input(std::string_view label) { input_label_ = label; }

 private:
  struct Reference {
    std::string label;
    Matrix<T> rows;
  };
  struct Candidate;
  std::vector<Candidate> candidates(std::int64_t r) const;
  std::string identify(std::int64_t r) const;
  // ": x[(r-1) % N], where ..." for an output that is rank k's input; empty unless the golden is a
  // plain ring shift.
  std::string direction(std::int64_t r, std::int64_t k) const;
  const T* golden_row(std::int64_t r) const { return golden_.row(golden_.rows == 1 ? 0 : r); }

  std::int64_t ranks_;
  std::int64_t size_;
  Matrix<T> x_;
  Matrix<T> y_;
  Matrix<T> golden_;
  bool golden_is_shift_ = false;
  std::int64_t shift_ = 0;
  std::string input_label_ = "input";
  std::vector<Reference> references_;  // beside the input
};

// make() of a ProgramInfo for a program class template over the element type.
template <template <class> class ProgramClass>
absl::StatusOr<std::unique_ptr<symrace::Program>> make_program(
    const symrace::Arguments& arguments) {
  return pl::visit_dtype(arguments.dtype, [&]<class T>(std::type_identity<T>) {
    return std::unique_ptr<symrace::Program>(new ProgramClass<T>(arguments));
  });
}

}  // namespace kernels

#endif  // SYMRACE_KERNELS_ROW_PROGRAM_H_
