// What the reducing programs share: --op, and the fold that a golden is made of.
#ifndef SYMRACE_KERNELS_REDUCTION_H_
#define SYMRACE_KERNELS_REDUCTION_H_

#include <cstdint>
#include <utility>

#include "kernels/row_program.h"

namespace kernels {

inline pld::ReduceOp reduce_op(const symrace::Arguments& arguments) {
  const std::string_view name = arguments.choice("op");
  if (name == "max") return pld::ReduceOp::Max;
  if (name == "min") return pld::ReduceOp::Min;
  return name == "prod" ? pld::ReduceOp::Prod : pld::ReduceOp::Sum;
}

inline symrace::Flag op_flag() {
  return {.name = "op",
          .default_value = "sum",
          .choices = {"sum", "max", "min", "prod"},
          .help = "what the elements are combined by"};
}

// Of a program that does the same by hand and by the built-in.
inline symrace::Flag builtin_flag(std::string_view help) {
  return {.name = "mode", .default_value = "hand", .choices = {"hand", "builtin"}, .help = help};
}

// On a core: a op b.
template <class T>
pl::Tile<T> combine(pld::ReduceOp op, const pl::Tile<T>& a, const pl::Tile<T>& b) {
  switch (op) {
    case pld::ReduceOp::Max:
      return pl::max(a, b);
    case pld::ReduceOp::Min:
      return pl::min(a, b);
    case pld::ReduceOp::Prod:
      return pl::mul(a, b);
    case pld::ReduceOp::Sum:
      break;
  }
  return pl::add(a, b);
}

// On the host: element `i` of rows first, first + 1, ... of `rows` (wrapping), folded in that
// order.
template <class T>
T fold(pld::ReduceOp op, const Matrix<T>& rows, std::int64_t first, std::int64_t i) {
  T value = rows.row(first)[i];
  for (std::int64_t step = 1; step < rows.rows; ++step) {
    const T next = rows.row((first + step) % rows.rows)[i];
    switch (op) {
      case pld::ReduceOp::Sum:
        value = pl::arithmetic::add(value, next);
        break;
      case pld::ReduceOp::Max:
        value = pl::arithmetic::max(value, next);
        break;
      case pld::ReduceOp::Min:
        value = pl::arithmetic::min(value, next);
        break;
      case pld::ReduceOp::Prod:
        value = pl::arithmetic::mul(value, next);
        break;
    }
  }
  return value;
}

// Element columns [begin, end) of block b of N, where a row has `cols`.
inline std::pair<std::int64_t, std::int64_t> block_columns(std::int64_t b, std::int64_t cols,
                                                           std::int64_t ranks) {
  return {b * cols / ranks, (b + 1) * cols / ranks};
}

// The golden of an all-reduce, every rank's row. `by_ring`: block b of N is folded from rank b on.
template <class T>
Matrix<T> all_reduced(pld::ReduceOp op, const Matrix<T>& x, bool by_ring = false) {
  Matrix<T> golden(1, x.cols);
  for (std::int64_t b = 0; b < x.rows; ++b) {
    const auto [begin, end] = block_columns(b, x.cols, x.rows);
    for (std::int64_t i = begin; i < end; ++i) {
      golden.row(0)[i] = fold(op, x, by_ring ? b : 0, i);
    }
  }
  return golden;
}

// Calls `visit(col, cols)` for columns [begin, end) in pieces that fit the on-core buffer twice.
template <class T, class Visit>
void by_tiles(std::int64_t begin, std::int64_t end, Visit&& visit) {
  constexpr std::int64_t kMost = symrace::kOnCoreBytes / 2 / sizeof(T);
  for (std::int64_t col = begin; col < end; col += kMost) {
    visit(col, std::min(kMost, end - col));
  }
}

}  // namespace kernels

#endif  // SYMRACE_KERNELS_REDUCTION_H_
