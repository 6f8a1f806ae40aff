#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/host.h"
#include "core/posix_heap.h"
#include "tests/core/fake_rank.h"

using fake::error_of;
using pl::DType;

namespace {

struct Fixture {
  explicit Fixture(std::int32_t ranks) : heap(*symrace::PosixHeap::create(ranks)), host(*heap) {}

  void dispatch(const std::vector<std::int64_t>& devices) {
    for (const std::int64_t device : devices) host.dispatch(pld::device(device), [] {});
  }
  std::string dispatch_error() const { return std::string(host.check_dispatches().message()); }

  std::unique_ptr<symrace::PosixHeap> heap;
  pld::Host host;
};

}  // namespace

TEST_CASE("a window of bytes keeps the size asked for, and reserves 4 KiB") {
  Fixture f(2);
  const auto small = f.host.alloc_window_buffer(1, "small");
  const auto other = f.host.alloc_window_buffer(5000);
  CHECK(small.window->bytes == 1);
  CHECK(small.window->offset == 0);
  CHECK(std::string(small.window->name) == "small");
  CHECK(other.window->bytes == 5000);
  CHECK(other.window->offset == 4096);
  CHECK(std::string(other.window->name) == "window1");
  CHECK(f.heap->used_bytes() == 4096 + 8192);
  CHECK(f.host.window_count() == 2);
}

TEST_CASE("a window of shape and dtype has the bytes of its elements") {
  Fixture f(2);
  CHECK(f.host.alloc_window_buffer({3, 5}, DType::FP32).window->bytes == 60);
  CHECK(f.host.alloc_window_buffer({3, 5}, DType::FP16).window->bytes == 30);
  CHECK(f.host.alloc_window_buffer({3, 5}, DType::BF16).window->bytes == 30);
  CHECK(f.host.alloc_window_buffer({3, 5}, DType::INT32).window->bytes == 60);
  CHECK(f.host.alloc_window_buffer({3, 5}, DType::INT16).window->bytes == 30);
  CHECK(f.host.alloc_window_buffer({3, 5}, DType::INT8).window->bytes == 15);
}

TEST_CASE("windows of no size, or too large, are errors of the line that asks") {
  Fixture f(2);
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  CHECK(error_of([&](auto here) { f.host.alloc_window_buffer(0, "w", here); }) ==
        "host: alloc_window_buffer: window of 0 bytes; expected a positive size");
  CHECK(error_of([&](auto here) { f.host.alloc_window_buffer(-4, "w", here); }) ==
        "host: alloc_window_buffer: window of -4 bytes; expected a positive size");
  CHECK(error_of([&](auto here) {
          f.host.alloc_window_buffer({0, 4}, DType::FP32, "w", here);
        }) ==
        "host: alloc_window_buffer: shape [0, 4]; expected positive extents whose bytes fit 64 "
        "bits");
  CHECK(error_of([&](auto here) {
          f.host.alloc_window_buffer({-1, -4}, DType::FP32, "w", here);
        }) ==
        "host: alloc_window_buffer: shape [-1, -4]; expected positive extents whose bytes fit 64 "
        "bits");
  CHECK(error_of([&](auto here) {
          f.host.alloc_window_buffer({kHuge, 2}, DType::INT8, "w", here);
        }) ==
        "host: alloc_window_buffer: shape [9223372036854775807, 2]; expected positive extents "
        "whose bytes fit 64 bits");
  CHECK(error_of([&](auto here) {
          f.host.alloc_window_buffer({kHuge / 2, 1}, DType::FP32, "w", here);
        }) ==
        "host: alloc_window_buffer: shape [4611686018427387903, 1]; expected positive extents "
        "whose bytes fit 64 bits");
  CHECK(error_of([&](auto here) { f.host.alloc_window_buffer(kHuge, "w", here); })
            .starts_with("host: alloc_window_buffer: windows of 9223372036854775808 bytes on each "
                         "of 2 ranks do not fit /dev/shm"));
  CHECK(f.host.window_count() == 0);
}

TEST_CASE("a view must fit the bytes of its window, not those that the heap reserves") {
  Fixture f(2);
  const auto buffer = f.host.alloc_window_buffer(64, "data");
  const auto view = f.host.window<float>(buffer, {2, 8});
  CHECK(view.rows() == 2);
  CHECK(view.cols() == 8);
  CHECK(f.host.window<std::int8_t>(buffer, {64, 1}).rows() == 64);
  CHECK(error_of([&](auto here) {
          f.host.window<float>(buffer, {1, 17}, here);
        }) ==
        "host: window 'data': shape [1, 17] of 4-byte elements does not fit its 64 bytes; allocate "
        "more, or view less");
  CHECK(error_of([&](auto here) {
          f.host.window<pl::bf16>(buffer, {-1, 4}, here);
        }) ==
        "host: window 'data': shape [-1, 4] of 2-byte elements does not fit its 64 bytes; allocate "
        "more, or view less");
  // A row of no rows, whose bytes are no int64.
  CHECK(f.host.window<float>(buffer, {0, 17}).cols() == 17);
  CHECK(error_of([&](auto here) {
          f.host.window<float>(buffer, {0, (std::int64_t{1} << 62) + 1}, here);
        }) ==
        "host: window 'data': shape [0, 4611686018427387905] of 4-byte elements does not fit its "
        "64 bytes; allocate more, or view less");
  CHECK(error_of([&](auto here) {
          f.host.window<float>(pld::WindowBuffer{}, {1, 1}, here);
        }) == "host: window of no buffer; call alloc_window_buffer first");
}

TEST_CASE("every rank dispatched once: each task runs its kernel with its arguments") {
  Fixture f(3);
  std::vector<int> seen(3, -1);
  // Any order will do.
  for (const int rank : {2, 0, 1}) {
    f.host.dispatch(
        pld::device(rank),
        [](std::vector<int>* out, int index, int value) {
          (*out)[static_cast<std::size_t>(index)] = value;
        },
        &seen, rank, 10 * rank);
  }
  CHECK(f.host.check_dispatches().ok());
  for (std::int32_t rank = 0; rank < 3; ++rank) f.host.task(rank).run();
  CHECK(seen == std::vector<int>{0, 10, 20});
}

TEST_CASE("fewer dispatches than ranks") {
  Fixture f(3);
  CHECK(f.dispatch_error() ==
        "host: 0 dispatches for 3 ranks: device 0 has none; dispatch each device in [0, 3) exactly "
        "once");
  f.dispatch({0, 2});
  CHECK(absl::IsFailedPrecondition(f.host.check_dispatches()));
  CHECK(f.dispatch_error() ==
        "host: 2 dispatches for 3 ranks: device 1 has none; dispatch each device in [0, 3) exactly "
        "once");
}

TEST_CASE("more dispatches than ranks") {
  Fixture f(2);
  f.dispatch({0, 1, 2});
  CHECK(absl::IsFailedPrecondition(f.host.check_dispatches()));
  CHECK(f.dispatch_error() ==
        "host: 3 dispatches for 2 ranks: device 2 does not exist; dispatch each device in [0, 2) "
        "exactly once");
}

TEST_CASE("a device dispatched twice") {
  Fixture f(2);
  f.dispatch({0, 0});
  CHECK(f.dispatch_error() ==
        "host: 2 dispatches for 2 ranks: device 0 was dispatched more than once; dispatch each "
        "device in [0, 2) exactly once");
}

TEST_CASE("a new schedule starts with no windows and no dispatches") {
  Fixture f(2);
  const auto before = f.host.alloc_window_buffer(8, "first");
  const std::uint64_t offset = before.window->offset;
  f.dispatch({0, 1, 1});
  f.host.begin_schedule();
  CHECK(f.host.window_count() == 0);
  CHECK(f.dispatch_error().starts_with("host: 0 dispatches for 2 ranks"));
  const auto after = f.host.alloc_window_buffer(16);
  CHECK(after.window->offset == offset);
  CHECK(after.window->bytes == 16);
  CHECK(std::string(after.window->name) == "window0");
  f.dispatch({0, 1});
  CHECK(f.host.check_dispatches().ok());
}

TEST_CASE("a task destroys its kernel's arguments once") {
  const auto alive = std::make_shared<int>(0);
  {
    Fixture f(1);
    f.host.dispatch(
        pld::device(0), [](const std::shared_ptr<int>& p) { ++*p; }, alive);
    CHECK(alive.use_count() == 2);
    f.host.task(0).run();
    f.host.begin_schedule();
    CHECK(alive.use_count() == 1);
    f.host.dispatch(
        pld::device(0), [](const std::shared_ptr<int>& p) { ++*p; }, alive);
  }
  CHECK(alive.use_count() == 1);
  CHECK(*alive == 1);
}
