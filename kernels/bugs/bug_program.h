// What the seeded bugs share: windows, data of an earlier use, and the --fixed switch between the
// buggy kernel and the mended one.
#ifndef SYMRACE_KERNELS_BUGS_BUG_PROGRAM_H_
#define SYMRACE_KERNELS_BUGS_BUG_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/row_program.h"

namespace kernels {

// Column 0 of a bug's signal window is the built-in barrier's; a handshake has a cell of its own,
// since a peer that has left the barrier may signal one that is still in it.
inline constexpr std::int64_t kSignalCols = 2;
inline constexpr std::int64_t kHandshakeCol = 1;

struct MyRanks {
  pl::Scalar<std::int32_t> my_rank;
  pl::Scalar<std::int32_t> nranks;
};
template <class T>
MyRanks ranks_of(const pld::DistributedTensor<T>& window) {
  const auto ctx = pld::get_comm_ctx(window);
  return {pld::rank(ctx), pld::nranks(ctx)};
}

// Runs `buggy`, or `fixed` when --fixed is given. Either is a kernel with one data window, or with
// src and dst windows.
template <class T>
class BugProgram : public RowProgram<T> {
 public:
  using Signal = pld::DistributedTensor<std::int32_t>;
  using OneWindowKernel = void (*)(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y,
                                   pld::DistributedTensor<T> data, Signal signal);
  using TwoWindowKernel = void (*)(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y,
                                   pld::DistributedTensor<T> src, pld::DistributedTensor<T> dst,
                                   Signal signal);

  // Expects y[r] = input[(r + shift) mod N].
  BugProgram(const symrace::Arguments& arguments, std::int64_t shift, OneWindowKernel buggy,
             OneWindowKernel fixed)
      : BugProgram(arguments, shift) {
    one_window_kernel_ = arguments.is_set("fixed") ? fixed : buggy;
  }
  BugProgram(const symrace::Arguments& arguments, std::int64_t shift, TwoWindowKernel buggy,
             TwoWindowKernel fixed)
      : BugProgram(arguments, shift) {
    two_window_kernel_ = arguments.is_set("fixed") ? fixed : buggy;
  }

 protected:
  // x gets a second row: row 0 is other data of this name, and row 1 is the input.
  void add_earlier_data(std::string name) {
    Matrix<T> earlier = random_matrix<T>(this->ranks(), this->size(), data_seed_, 1);
    both_ = Matrix<T>(this->ranks(), 2 * this->size());
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      T* end = std::copy_n(earlier.row(r), this->size(), both_.row(r));
      std::copy_n(this->input().row(r), this->size(), end);
    }
    this->name_data(std::move(name), std::move(earlier));
  }
  // The same for a kernel of two rounds, whose y is that of the second.
  void add_rounds() {
    add_earlier_data("round 1 data");
    this->name_input("round 2 data");
  }

 private:
  BugProgram(const symrace::Arguments& arguments, std::int64_t shift)
      : RowProgram<T>(arguments), data_seed_(arguments.data_seed) {
    this->expect_ring_shift(shift);
  }

  void host(pld::Host& host) override {
    const pl::Shape signal_shape{this->ranks(), kSignalCols};
    const auto signal_buffer = host.alloc_window_buffer(signal_shape, pl::DType::INT32, "signal");
    const auto signal = host.window<std::int32_t>(signal_buffer, signal_shape);
    if (one_window_kernel_ != nullptr) {
      const auto data = data_window(host, "data");
      for (std::int64_t r = 0; r < this->ranks(); ++r) {
        host.dispatch(pld::device(r), one_window_kernel_, x_rows(r), this->y(r), data, signal);
      }
      return;
    }
    const auto src = data_window(host, "src");
    const auto dst = data_window(host, "dst");
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      host.dispatch(pld::device(r), two_window_kernel_, x_rows(r), this->y(r), src, dst, signal);
    }
  }

  pld::DistributedTensor<T> data_window(pld::Host& host, const char* name) {
    const auto buffer = host.alloc_window_buffer({1, this->size()}, pl::dtype_of<T>(), name);
    return host.window<T>(buffer, {1, this->size()});
  }
  pl::Tensor<T> x_rows(std::int64_t r) {
    return both_.rows == 0 ? this->x(r) : pl::Tensor<T>(both_.row(r), 2, this->size());
  }

  std::uint64_t data_seed_;
  Matrix<T> both_;
  OneWindowKernel one_window_kernel_ = nullptr;
  TwoWindowKernel two_window_kernel_ = nullptr;
};

inline symrace::Flag fixed_flag() {
  return {.name = "fixed",
          .kind = symrace::Flag::Kind::kSwitch,
          .default_value = "",
          .help = "run the mended kernel"};
}

// The ProgramInfo of a bug: it needs the ranks that show it, since with fewer it may be none.
template <template <class> class ProgramClass>
symrace::ProgramInfo bug_program(std::string_view name, std::string_view summary,
                                 const symrace::BugInfo& bug) {
  return {.name = name,
          .summary = summary,
          .smallest_ranks = bug.ranks,
          .flags = {fixed_flag()},
          .make = make_program<ProgramClass>,
          .bug = &bug};
}

}  // namespace kernels

#endif  // SYMRACE_KERNELS_BUGS_BUG_PROGRAM_H_
