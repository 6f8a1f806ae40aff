// What pld ops ask of the fabric: which peer, which region, in which order.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/pld.h"
#include "tests/core/fake_rank.h"

using pld::AtomicType;
using pld::NotifyOp;
using pld::WaitCmp;
using Calls = std::vector<std::string>;
using Floats = std::vector<float>;

namespace {

// Rank 1 of 3; "data" holds [2, 3] and "other" too; memory is 1 2 3 4 5 6.
struct Fixture {
  Fixture() { std::iota(memory.begin(), memory.end(), 1.0F); }

  Floats slice(std::int32_t of, const symrace::Window& window) {
    const float* begin = rank.slice<float>(of, window);
    return {begin, begin + 6};
  }

  fake::Rank rank{1, 3};
  symrace::Window data_window{0, 24, 0, "data"};
  symrace::Window other_window{4096, 24, 1, "other"};
  symrace::Window signal_window{8192, 12, 2, "signal"};
  pld::DistributedTensor<float> data{&data_window, 2, 3};
  pld::DistributedTensor<float> other{&other_window, 2, 3};
  pld::DistributedTensor<std::int32_t> signal{&signal_window, 3, 1};
  Floats memory = Floats(6);
  pl::Out<pl::Tensor<float>> private_rows{memory.data(), 2, 3};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "who am I") {
  const auto context = pld::get_comm_ctx(data);
  CHECK(pld::rank(context) == 1);
  CHECK(pld::nranks(context) == 3);
  CHECK(pld::world_size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "remote_store and remote_load, tile, tensor and short forms") {
  const auto tile = pl::load(private_rows, {0, 0}, {2, 2});
  pld::tile::remote_store(tile, data, 2, {0, 1});
  CHECK(slice(2, data_window) == Floats{0, 1, 2, 0, 4, 5});
  pld::remote_store(tile, data, 2, {0, 1}, AtomicType::Add);
  CHECK(slice(2, data_window) == Floats{0, 2, 4, 0, 8, 10});
  pld::remote_store(pl::slice(private_rows, {1, 0}, {1, 3}), data, 0, {0, 0});
  pld::tensor::remote_store(pl::slice(private_rows, {1, 0}, {1, 3}), data, 0, {1, 0});
  CHECK(slice(0, data_window) == Floats{4, 5, 6, 4, 5, 6});
  CHECK(slice(1, data_window) == Floats(6));

  const auto pulled = pld::tile::remote_load(data, 2, {0, 1}, {2, 1});
  CHECK(pulled.data({})[0] == 2);
  CHECK(pulled.data({})[1] == 8);
  CHECK(*pld::remote_load(data, 0, {1, 2}, {1, 1}).data({}) == 6);
  CHECK(pl::read(pld::tensor::remote_load(data, 2, {1, 0}, {1, 3}), {0, 2}) == 10);
  CHECK(rank.fabric.calls == Calls{"remote_store peer 2", "remote_store peer 2 add",
                                   "remote_store peer 0", "remote_store peer 0",
                                   "remote_load peer 2", "remote_load peer 0",
                                   "remote_load peer 2"});
}

TEST_CASE_FIXTURE(Fixture, "put: from rank-private memory and from own slice") {
  pld::tensor::put(data, 2, private_rows, AtomicType::None_);
  CHECK(slice(2, data_window) == Floats{1, 2, 3, 4, 5, 6});
  pl::store(pl::full<float>({2, 3}, 10), {0, 0}, other);
  pld::tensor::put(data, 2, other, AtomicType::Add);
  CHECK(slice(2, data_window) == Floats{11, 12, 13, 14, 15, 16});
  CHECK(rank.fabric.calls == Calls{"put peer 2", "store", "put peer 2 add"});
  CHECK_FALSE(rank.fabric.chunking.chunked());
}

TEST_CASE_FIXTURE(Fixture, "put of a sub-region, with chunks") {
  pld::tensor::put(data, 0, private_rows, AtomicType::None_,
                   {.dst_offsets{{0, 0}},
                    .src_offsets{{0, 1}},
                    .shape{{2, 2}},
                    .chunk_rows = 1,
                    .chunk_cols = 2,
                    .pipeline = true});
  CHECK(slice(0, data_window) == Floats{2, 3, 0, 5, 6, 0});
  CHECK(rank.fabric.chunking.rows == 1);
  CHECK(rank.fabric.chunking.cols == 2);
  CHECK(rank.fabric.chunking.pipeline);
}

TEST_CASE_FIXTURE(Fixture, "get: into rank-private memory and into own slice") {
  pld::tensor::put(data, 2, private_rows, AtomicType::None_);
  Floats result(6);
  const pl::Out<pl::Tensor<float>> y(result.data(), 2, 3);
  pld::tensor::get(y, 2, data);
  CHECK(result == Floats{1, 2, 3, 4, 5, 6});
  pld::tensor::get(other, 2, data,
                   {.dst_offsets{{1, 1}}, .src_offsets{{0, 0}}, .shape{{1, 2}}, .chunk_cols = 1});
  CHECK(slice(1, other_window) == Floats{0, 0, 0, 0, 1, 2});
  CHECK(rank.fabric.chunking.cols == 1);
  CHECK(rank.fabric.calls == Calls{"put peer 2", "get peer 2", "get peer 2"});
}

TEST_CASE_FIXTURE(Fixture, "notify sets or adds to the peer's cell; test compares own cell") {
  pld::system::notify(signal, 2, {1, 0}, 5, NotifyOp::Set);
  pld::system::notify(signal, 2, {1, 0}, 2, NotifyOp::AtomicAdd);
  CHECK(rank.slice<std::int32_t>(2, signal_window)[1] == 7);
  CHECK(rank.slice<std::int32_t>(1, signal_window)[1] == 0);
  pld::system::notify(signal, 1, {0, 0}, 3, NotifyOp::Set);
  CHECK(pld::system::test(signal, {0, 0}, 3, WaitCmp::Eq));
  CHECK_FALSE(pld::system::test(signal, {0, 0}, 3, WaitCmp::Ne));
  CHECK(pld::system::test(signal, {0, 0}, 3, WaitCmp::Ge));
  CHECK_FALSE(pld::system::test(signal, {0, 0}, 3, WaitCmp::Gt));
  CHECK(pld::system::test(signal, {0, 0}, 4, WaitCmp::Le));
  CHECK(pld::system::test(signal, {0, 0}, 4, WaitCmp::Lt));
  pld::system::fence();
  CHECK(rank.fabric.calls.back() == "fence");
}

TEST_CASE_FIXTURE(Fixture, "the barrier notifies, waits for and clears a cell of every peer") {
  // Signal cells of this window start at cell 8192 / 4 = 2048.
  const Calls barrier{"fence",
                      "notify peer 2",
                      "notify peer 0",
                      "wait cell 2050 for 1",
                      "wait cell 2048 for 1",
                      "add -1 to cell 2050",
                      "add -1 to cell 2048"};
  const auto same = pld::tensor::barrier(signal);
  CHECK(same.window() == &signal_window);
  CHECK(rank.fabric.calls == barrier);
  CHECK(rank.slice<std::int32_t>(0, signal_window)[1] == 1);
  CHECK(rank.slice<std::int32_t>(2, signal_window)[1] == 1);
}

TEST_CASE("a rank alone passes its barrier") {
  const fake::Rank rank(0, 1);
  const symrace::Window window{0, 4, 0, "signal"};
  pld::tensor::barrier(pld::DistributedTensor<std::int32_t>(&window, 1, 1));
  CHECK(rank.fabric.calls == Calls{"fence"});
}
