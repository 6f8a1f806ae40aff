// Every limit that an op checks before it moves anything, with its exact text.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <source_location>
#include <string>
#include <vector>

#include "core/checks.h"
#include "core/pl.h"
#include "core/pld.h"
#include "tests/core/fake_rank.h"

using fake::error_of;
using pld::AtomicType;
using pld::NotifyOp;
using pld::TransferOptions;
using pld::WaitCmp;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// Rank 1 of 3, with a window "data" of [4, 8] fp32, one "signal" of [3, 1] and a private tensor.
struct Fixture {
  fake::Rank rank{1, 3};
  symrace::Window data_window{0, 128, 0, "data"};
  symrace::Window signal_window{4096, 12, 1, "signal"};
  pld::DistributedTensor<float> data{&data_window, 4, 8};
  pld::DistributedTensor<std::int32_t> signal{&signal_window, 3, 1};
  std::array<float, 32> memory{};
  pl::Tensor<float> x{memory.data(), 4, 8};
  pl::Out<pl::Tensor<float>> y{memory.data(), 4, 8};
};

std::string outside(const std::string& op, const std::string& region, const std::string& place) {
  return "rank 1: " + op + ": region of shape " + region + " lies outside " + place +
         " of shape [4, 8]; a region is never clamped or wrapped: correct the offsets or shape";
}

std::string no_peer(const std::string& op, const std::string& peer) {
  return "rank 1: " + op + ": peer " + peer +
         " does not exist; expected a rank in [0, 3): wrap with (rank + d) % nranks";
}

std::string too_large(const std::string& tile) {
  return "rank 1: use: a tile of shape " + tile +
         " does not fit the on-core buffer of 188416 bytes (184 KiB); move it in smaller tiles, or "
         "use pld::tensor::put / get with chunk_rows and chunk_cols";
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a region outside rank-private memory") {
  const std::string tensor = "the tensor";
  CHECK(error_of([&](auto here) {
          pl::load(x, {1, 0}, {4, 8}, here);
        }) == outside("load", "[4, 8] at [1, 0]", tensor));
  CHECK(error_of([&](auto here) {
          pl::load(x, {0, 1}, {1, 8}, here);
        }) == outside("load", "[1, 8] at [0, 1]", tensor));
  CHECK(error_of([&](auto here) {
          pl::load(x, {-1, 0}, {1, 1}, here);
        }) == outside("load", "[1, 1] at [-1, 0]", tensor));
  CHECK(error_of([&](auto here) {
          pl::load(x, {0, 0}, {-1, 1}, here);
        }) == outside("load", "[-1, 1] at [0, 0]", tensor));
  CHECK(error_of([&](auto here) {
          pl::load(x, {kHuge, 0}, {kHuge, 1}, here);
        }) == outside("load", "[9223372036854775807, 1] at [9223372036854775807, 0]", tensor));
  CHECK(error_of([&](auto here) {
          pl::read(x, {4, 0}, here);
        }) == outside("read", "[1, 1] at [4, 0]", tensor));
  CHECK(error_of([&](auto here) {
          pl::write(y, {0, 8}, 1.0F, here);
        }) == outside("write", "[1, 1] at [0, 8]", tensor));
  CHECK(error_of([&](auto here) {
          pl::slice(x, {2, 2}, {3, 3}, here);
        }) == outside("use", "[3, 3] at [2, 2]", tensor));
  const auto tile = pl::full<float>({2, 2}, 1.0F);
  CHECK(error_of([&](auto here) {
          pl::store(tile, {3, 0}, y, AtomicType::None_, here);
        }) == outside("store", "[2, 2] at [3, 0]", tensor));
  CHECK(memory == std::array<float, 32>{});
}

TEST_CASE_FIXTURE(Fixture, "a region outside a window names the window") {
  const std::string window = "window 'data'";
  const auto tile = pl::full<float>({2, 2}, 1.0F);
  CHECK(error_of([&](auto here) {
          pl::load(data, {0, 0}, {5, 1}, here);
        }) == outside("load", "[5, 1] at [0, 0]", window));
  CHECK(error_of([&](auto here) {
          pl::store(tile, {0, 7}, data, AtomicType::None_, here);
        }) == outside("store", "[2, 2] at [0, 7]", window));
  CHECK(error_of([&](auto here) {
          pl::read(data, {0, -1}, here);
        }) == outside("read", "[1, 1] at [0, -1]", window));
  CHECK(error_of([&](auto here) {
          pl::write(data, {4, 7}, 1.0F, here);
        }) == outside("write", "[1, 1] at [4, 7]", window));
  CHECK(error_of([&](auto here) {
          pld::tile::remote_load(data, 0, {0, 0}, {4, 9}, here);
        }) == outside("remote_load", "[4, 9] at [0, 0]", window));
  CHECK(error_of([&](auto here) {
          pld::tile::remote_store(tile, data, 0, {-2, 0}, AtomicType::Add, here);
        }) == outside("remote_store", "[2, 2] at [-2, 0]", window));
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "a view's limits are the view's, not its window's") {
  const auto half = pl::slice(data, {0, 0}, {4, 4});
  CHECK(error_of([&](auto here) {
          pl::load(half, {0, 0}, {1, 5}, here);
        }) ==
        "rank 1: load: region of shape [1, 5] at [0, 0] lies outside window 'data' of shape [4, "
        "4]; a region is never clamped or wrapped: correct the offsets or shape");
}

TEST_CASE_FIXTURE(Fixture, "a sub-region of put and get outside either end") {
  const TransferOptions dst_out{.dst_offsets{{3, 0}}, .src_offsets{{0, 0}}, .shape{{2, 8}}};
  const TransferOptions src_out{.dst_offsets{{0, 0}}, .src_offsets{{0, 4}}, .shape{{4, 5}}};
  const std::string window = "window 'data'";
  CHECK(error_of([&](auto here) {
          pld::tensor::put(data, 2, x, AtomicType::None_, dst_out, here);
        }) == outside("put", "[2, 8] at [3, 0]", window));
  CHECK(error_of([&](auto here) {
          pld::tensor::put(data, 2, x, AtomicType::None_, src_out, here);
        }) == outside("put", "[4, 5] at [0, 4]", "the tensor"));
  CHECK(error_of([&](auto here) { pld::tensor::get(y, 2, data, dst_out, here); }) ==
        outside("get", "[2, 8] at [3, 0]", "the tensor"));
  CHECK(error_of([&](auto here) { pld::tensor::get(y, 2, data, src_out, here); }) ==
        outside("get", "[4, 5] at [0, 4]", window));
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "a signal cell outside its window") {
  const auto text = [](const std::string& op, const std::string& cell) {
    return "rank 1: " + op + ": region of shape [1, 1] at " + cell +
           " lies outside window 'signal' of shape [3, 1]; a region is never clamped or wrapped: "
           "correct the offsets or shape";
  };
  CHECK(error_of([&](auto here) {
          pld::system::notify(signal, 0, {3, 0}, 1, NotifyOp::Set, here);
        }) == text("notify", "[3, 0]"));
  CHECK(error_of([&](auto here) {
          pld::system::wait(signal, {0, 1}, 1, WaitCmp::Ge, here);
        }) == text("wait", "[0, 1]"));
  CHECK(error_of([&](auto here) {
          pld::system::test(signal, {-1, 0}, 1, WaitCmp::Eq, here);
        }) == text("test", "[-1, 0]"));
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "a peer out of range") {
  const auto tile = pl::full<float>({1, 1}, 1.0F);
  for (const std::int64_t peer :
       {std::int64_t{-1}, std::int64_t{3}, kHuge, std::int64_t{1} << 32}) {
    const std::string name = std::to_string(peer);
    CHECK(error_of([&](auto here) {
            pld::remote_load(data, peer, {0, 0}, {1, 1}, here);
          }) == no_peer("remote_load", name));
    CHECK(error_of([&](auto here) {
            pld::remote_store(tile, data, peer, {0, 0}, AtomicType::None_, here);
          }) == no_peer("remote_store", name));
    CHECK(error_of([&](auto here) {
            pld::tensor::remote_store(x, data, peer, {0, 0}, AtomicType::None_, here);
          }) == no_peer("remote_store", name));
    CHECK(error_of([&](auto here) {
            pld::tensor::put(data, peer, x, AtomicType::None_, {}, here);
          }) == no_peer("put", name));
    CHECK(error_of([&](auto here) { pld::tensor::get(y, peer, data, {}, here); }) ==
          no_peer("get", name));
    CHECK(error_of([&](auto here) {
            pld::system::notify(signal, peer, {0, 0}, 1, NotifyOp::AtomicAdd, here);
          }) == no_peer("notify", name));
  }
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "a tile may fill 184 KiB and no byte more") {
  CHECK(error_of([](auto here) { pl::full<std::int8_t>({1, 188416}, 0, here); }) == "no error");
  CHECK(error_of([](auto here) {
          pl::full<std::int8_t>({1, 188417}, 0, here);
        }) == too_large("[1, 188417] of 1-byte elements"));
  CHECK(error_of([](auto here) { pl::full<pl::bf16>({184, 512}, 0, here); }) == "no error");
  CHECK(error_of([](auto here) {
          pl::full<pl::bf16>({184, 513}, 0, here);
        }) == too_large("[184, 513] of 2-byte elements"));
  CHECK(error_of([](auto here) { pl::full<float>({47104, 1}, 0, here); }) == "no error");
  CHECK(error_of([](auto here) {
          pl::full<float>({47105, 1}, 0, here);
        }) == too_large("[47105, 1] of 4-byte elements"));
  // Shapes whose size in bytes is no int64.
  CHECK(error_of([](auto here) {
          pl::full<float>({kHuge, kHuge}, 0, here);
        }) == too_large("[9223372036854775807, 9223372036854775807] of 4-byte elements"));
  // Of an empty tile too, no extent is larger than all of the buffer.
  CHECK(error_of([](auto here) { pl::full<float>({188416, 0}, 0, here); }) == "no error");
  CHECK(error_of([](auto here) {
          pl::full<float>({0, kHuge}, 0, here);
        }) == too_large("[0, 9223372036854775807] of 4-byte elements"));
}

TEST_CASE_FIXTURE(Fixture, "a tile or a window tensor that was given no value") {
  const std::string text =
      ": a tile that was given no value; expected one of a load, of pl::full or of arithmetic";
  const pl::Tile<float> none;
  CHECK(error_of([&](auto here) {
          pl::store(none, {0, 0}, data, AtomicType::None_, here);
        }) == "rank 1: store" + text);
  CHECK(error_of([&](auto here) {
          pld::remote_store(none, data, 2, {0, 0}, AtomicType::None_, here);
        }) == "rank 1: remote_store" + text);
  CHECK(error_of([&](auto here) { pl::add(none, none, here); }) == "rank 1: use" + text);
  CHECK(error_of([&](auto here) { pl::cast<pl::fp16>(none, here); }) == "rank 1: use" + text);

  const pld::DistributedTensor<float> nowhere;
  const std::string outside =
      "region of shape [1, 1] at [0, 0] lies outside window '(none)' of shape [0, 0]; a region is "
      "never clamped or wrapped: correct the offsets or shape";
  CHECK(error_of([&](auto here) {
          pl::load(nowhere, {0, 0}, {1, 1}, here);
        }) == "rank 1: load: " + outside);
  CHECK(error_of([&](auto here) {
          pld::remote_load(nowhere, 2, {0, 0}, {1, 1}, here);
        }) == "rank 1: remote_load: " + outside);
  const pld::DistributedTensor<std::int32_t> no_signal;
  CHECK(error_of([&](auto here) {
          pld::system::wait(no_signal, {0, 0}, 1, pld::WaitCmp::Ge, here);
        }) == "rank 1: wait: " + outside);
  CHECK(error_of([&](auto here) { pld::tensor::barrier(no_signal, here); }) ==
        "rank 1: barrier: signal window '(none)' of shape [0, 0] is too small; expected at least "
        "[3, 1] for 3 ranks");
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "every op that makes a tile checks it") {
  const symrace::Window large_window{8192, 400'000, 2, "large"};
  const pld::DistributedTensor<float> large(&large_window, 1, 100'000);
  std::vector<float> storage(100'000);
  const pl::Tensor<float> memory_tensor(storage.data(), 1, 100'000);
  const auto text = [](const std::string& op) {
    return "rank 1: " + op +
           ": a tile of shape [1, 50000] of 4-byte elements does not fit the on-core buffer of "
           "188416 bytes (184 KiB); move it in smaller tiles, or use pld::tensor::put / get with "
           "chunk_rows and chunk_cols";
  };
  CHECK(error_of([&](auto here) {
          pl::load(memory_tensor, {0, 0}, {1, 50'000}, here);
        }) == text("load"));
  CHECK(error_of([&](auto here) { pl::load(large, {0, 0}, {1, 50'000}, here); }) == text("load"));
  CHECK(error_of([&](auto here) {
          pld::remote_load(large, 0, {0, 0}, {1, 50'000}, here);
        }) == text("remote_load"));
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "negative chunk sizes") {
  CHECK(error_of([&](auto here) {
          pld::tensor::put(data, 2, x, AtomicType::None_, {.chunk_rows = -1, .chunk_cols = 4},
                           here);
        }) ==
        "rank 1: put: chunk_rows = -1, chunk_cols = 4; expected positive sizes in elements, or 0 "
        "for no chunking");
  CHECK(error_of([&](auto here) { pld::tensor::get(y, 2, data, {.chunk_cols = -2}, here); }) ==
        "rank 1: get: chunk_rows = 0, chunk_cols = -2; expected positive sizes in elements, or 0 "
        "for no chunking");
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "pipeline needs both chunk sizes") {
  const std::string text =
      "pipeline = true needs both chunk_rows and chunk_cols; give both, or drop pipeline";
  for (const TransferOptions& options :
       {TransferOptions{.pipeline = true}, TransferOptions{.chunk_rows = 1, .pipeline = true},
        TransferOptions{.chunk_cols = 1, .pipeline = true}}) {
    CHECK(error_of([&](auto here) {
            pld::tensor::put(data, 2, x, AtomicType::None_, options, here);
          }) == "rank 1: put: " + text);
    CHECK(error_of([&](auto here) { pld::tensor::get(y, 2, data, options, here); }) ==
          "rank 1: get: " + text);
  }
  CHECK(rank.fabric.calls.empty());
  CHECK(error_of([&](auto here) {
          pld::tensor::put(data, 2, x, AtomicType::None_,
                           {.chunk_rows = 2, .chunk_cols = 4, .pipeline = true}, here);
        }) == "no error");
}

TEST_CASE("the staging tile of a put or get must fit, two of them with pipeline") {
  const fake::Rank rank(1, 3);
  const symrace::Site site{symrace::OpKind::kPut, std::source_location::current()};
  // Of a transfer of [400, 1000] fp32; 184 KiB are 47104 of them.
  const auto error = [&](std::int64_t rows, std::int64_t cols, bool pipeline) {
    return error_of(
        [&](auto) { symrace::checks::chunking(site, rows, cols, pipeline, 400, 1000, 4); },
        site.where);
  };
  CHECK(error(0, 0, false) ==
        "rank 1: put: the staging tile of shape [400, 1000] of 4-byte elements does not fit the "
        "on-core buffer of 188416 bytes (184 KiB); give chunk_rows / chunk_cols");
  CHECK(error(47, 0, false) == "no error");
  CHECK(error(48, 0, false) ==
        "rank 1: put: the staging tile of shape [48, 1000] of 4-byte elements does not fit the "
        "on-core buffer of 188416 bytes (184 KiB); give smaller chunk_rows / chunk_cols");
  CHECK(error(0, 117, false) == "no error");
  CHECK(error(0, 118, false) ==
        "rank 1: put: the staging tile of shape [400, 118] of 4-byte elements does not fit the "
        "on-core buffer of 188416 bytes (184 KiB); give smaller chunk_rows / chunk_cols");
  CHECK(error(23, 1000, true) == "no error");
  CHECK(error(24, 1000, true) ==
        "rank 1: put: the staging tiles (two with pipeline) of shape [24, 1000] of 4-byte elements "
        "do not fit the on-core buffer of 188416 bytes (184 KiB); give smaller chunk_rows / "
        "chunk_cols");
  // A chunk larger than the transfer stages only the transfer.
  CHECK(error(47, kHuge, false) == "no error");
}

TEST_CASE_FIXTURE(Fixture, "a sub-region's three arguments: all or none") {
  const std::string text =
      "the sub-region form needs dst_offsets, src_offsets and shape together; give all three, or "
      "none for the full slice";
  for (int given = 1; given < 7; ++given) {
    TransferOptions options;
    if ((given & 1) != 0) options.dst_offsets = {0, 0};
    if ((given & 2) != 0) options.src_offsets = {0, 0};
    if ((given & 4) != 0) options.shape = {1, 1};
    CHECK(error_of([&](auto here) {
            pld::tensor::put(data, 2, x, AtomicType::Add, options, here);
          }) == "rank 1: put: " + text);
    CHECK(error_of([&](auto here) { pld::tensor::get(data, 2, data, options, here); }) ==
          "rank 1: get: " + text);
  }
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "without a sub-region both ends have one shape") {
  const auto part = pl::slice(x, {0, 0}, {4, 7});
  CHECK(
      error_of([&](auto here) { pld::tensor::put(data, 2, part, AtomicType::None_, {}, here); }) ==
      "rank 1: put: dst of shape [4, 8] and src of shape [4, 7] differ; give equal shapes, or a "
      "sub-region (dst_offsets, src_offsets, shape)");
  const auto rows = y.view(0, 0, 2, 8);
  CHECK(error_of([&](auto here) { pld::tensor::get(rows, 2, data, {}, here); }) ==
        "rank 1: get: dst of shape [2, 8] and src of shape [4, 8] differ; give equal shapes, or a "
        "sub-region (dst_offsets, src_offsets, shape)");
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "a barrier needs a signal row for each rank") {
  const auto two = pl::slice(signal, {0, 0}, {2, 1});
  CHECK(error_of([&](auto here) { pld::tensor::barrier(two, here); }) ==
        "rank 1: barrier: signal window 'signal' of shape [2, 1] is too small; expected at "
        "least [3, 1] for 3 ranks");
  CHECK(rank.fabric.calls.empty());
}

TEST_CASE_FIXTURE(Fixture, "tile ops: shapes, extents and levels") {
  const auto a = pl::full<float>({2, 3}, 1.0F);
  const auto b = pl::full<float>({3, 2}, 1.0F);
  CHECK(error_of([&](auto here) { pl::add(a, b, here); }) ==
        "rank 1: use: operands differ in shape: [2, 3] and [3, 2]; slice them to one shape");
  CHECK(error_of([&](auto here) {
          pl::slice(a, {0, 0}, {3, 3}, here);
        }) ==
        "rank 1: use: region of shape [3, 3] at [0, 0] lies outside the tensor of shape [2, 3]; a "
        "region is never clamped or wrapped: correct the offsets or shape");
  CHECK(error_of([&](auto here) {
          pl::full<float>({-1, 3}, 0, here);
        }) == "rank 1: use: pl::full with a negative extent; expected rows, cols >= 0");
  CHECK(error_of([&](auto here) { pl::mul(x, 2.0F, here); }) ==
        "rank 1: use: arithmetic on a pl::Tensor runs on a core; put it inside "
        "pl::at(pl::Level::CORE_GROUP, [&] { ... }), or pl::load a tile first");
  CHECK(error_of([&](auto here) {
          pl::at(pl::Level::CORE_GROUP, [&] {
            pl::at(
                pl::Level::CORE_GROUP, [] {}, here);
          });
        }) == "rank 1: use: pl::at inside pl::at; a core group does not nest");
}

TEST_CASE("an op outside a kernel") {
  const symrace::Window window{0, 64, 0, "data"};
  const pld::DistributedTensor<float> data(&window, 1, 16);
  const std::string text = " outside a kernel; call it from a function given to Host::dispatch";
  CHECK(error_of([&](auto here) { pl::load(data, {0, 0}, {1, 1}, here); }) == "load" + text);
  CHECK(error_of([&](auto here) {
          pld::remote_load(data, 0, {0, 0}, {1, 1}, here);
        }) == "remote_load" + text);
  CHECK(error_of([](auto here) { pld::system::fence(here); }) == "fence" + text);
  CHECK(error_of([](auto here) { pld::world_size(here); }) == "use" + text);
}

TEST_CASE_FIXTURE(Fixture, "by default an error names the caller's own line") {
  const auto place = [](auto&& op) -> std::string {
    try {
      op();
    } catch (const symrace::KernelError& error) {
      const std::string text = error.what();
      return text.substr(0, text.find(": "));
    }
    return "no error";
  };
  const auto line = [](int number) { return "test_checks.cpp:" + std::to_string(number); };
  const auto tile = pl::full<float>({1, 1}, 0);
  // Each op stands on the line after its number.
  int at = __LINE__ + 1;
  CHECK(place([&] { pl::load(x, {9, 9}, {1, 1}); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pl::store(tile, {9, 9}, data); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pld::remote_load(data, 9, {0, 0}, {1, 1}); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pld::remote_store(tile, data, 9, {0, 0}); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pld::tensor::put(data, 9, x, AtomicType::None_); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pld::tensor::get(y, 9, data); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pld::system::notify(signal, 9, {0, 0}, 1, NotifyOp::Set); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pld::system::wait(signal, {9, 0}, 1, WaitCmp::Ge); }) == line(at));
  at = __LINE__ + 1;
  CHECK(place([&] { pl::add(x, x); }) == line(at));
}
