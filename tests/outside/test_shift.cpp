#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <emu/doctest.h>

#include <vector>

namespace {

// y[r] = x[(r+1) % N], with or without the barrier.
class Shift {
 public:
  Shift(std::int32_t ranks, bool barrier)
      : ranks_(ranks), barrier_(barrier), y_(static_cast<std::size_t>(ranks)) {}

  symrace::FunctionProgram program() {
    return symrace::FunctionProgram([this](pld::Host& host) { orchestrate(host); },
                                    [this] { return is_right(); });
  }

 private:
  void orchestrate(pld::Host& host) {
    y_.assign(y_.size(), 0);
    const auto data =
        host.window<float>(host.alloc_window_buffer({1, 1}, pl::DType::FP32, "data"), {1, 1});
    const auto signal = host.window<std::int32_t>(
        host.alloc_window_buffer({ranks_, 1}, pl::DType::INT32, "signal"), {ranks_, 1});
    for (std::int32_t r = 0; r < ranks_; ++r) {
      host.dispatch(
          pld::device(r),
          [this](pld::DistributedTensor<float> d, pld::DistributedTensor<std::int32_t> s,
                 std::int32_t me) {
            pl::store(pl::full<float>({1, 1}, static_cast<float>(me + 1)), {0, 0}, d);
            if (barrier_) pld::tensor::barrier(s);
            const auto tile = pld::tile::remote_load(d, (me + 1) % ranks_, {0, 0}, {1, 1});
            pl::Out<pl::Tensor<float>> y(&y_[static_cast<std::size_t>(me)], 1, 1);
            pl::store(tile, {0, 0}, y);
          },
          data, signal, r);
    }
  }
  bool is_right() const {
    for (std::int32_t r = 0; r < ranks_; ++r) {
      if (y_[static_cast<std::size_t>(r)] != static_cast<float>((r + 1) % ranks_ + 1)) return false;
    }
    return true;
  }

  std::int32_t ranks_;
  bool barrier_;
  std::vector<float> y_;
};

TEST_CASE("the shift with its barrier is verified") {
  Shift shift(3, true);
  auto program = shift.program();
  CHECK(emu::explore(program, {.ranks = 3, .strategy = emu::Exhaustive{}}) == emu::is_verified());
  CHECK(emu::explore(program, {.ranks = 3, .strategy = emu::Pct{3}}) == emu::passes());
}

TEST_CASE("without it, the race is found") {
  Shift shift(3, false);
  auto program = shift.program();
  const auto result = emu::explore(program, {.ranks = 3, .schedules = 100});
  CHECK(result == emu::finds("zeros"));
  CHECK(result.text().find("test_shift.cpp") != std::string::npos);
}

}  // namespace
