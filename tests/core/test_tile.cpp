// Moves between rank-private memory, own slice and tiles, and tile arithmetic, on all six dtypes.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/pl.h"
#include "tests/core/fake_rank.h"

using Int8 = std::int8_t;
using Int16 = std::int16_t;
using Int32 = std::int32_t;

#define SYMRACE_ALL_DTYPES float, pl::fp16, pl::bf16, Int32, Int16, Int8

namespace {

// Elements as doubles: every value here is exact in every dtype.
using Values = std::vector<double>;

template <pl::Element T>
std::vector<T> elements(const Values& values) {
  std::vector<T> result;
  for (const double value : values) result.push_back(static_cast<T>(static_cast<float>(value)));
  return result;
}

template <pl::Element T>
Values values_of(const T* data, std::int64_t count) {
  Values result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(static_cast<double>(data[i]));
  return result;
}

template <pl::Element T>
Values values_of(const pl::Tile<T>& tile) {
  return values_of(tile.data({}), tile.size());
}

template <pl::Element T>
Values values_of(const pl::Tensor<T>& tensor) {
  return values_of(pl::load(tensor, {0, 0}, {tensor.rows(), tensor.cols()}));
}

// [1 2 3; 4 5 6] and [6 5 4; 3 2 1].
template <pl::Element T>
struct Operands {
  fake::Rank rank;
  std::vector<T> rising = elements<T>({1, 2, 3, 4, 5, 6});
  std::vector<T> falling = elements<T>({6, 5, 4, 3, 2, 1});
  pl::Tensor<T> x{rising.data(), 2, 3};
  pl::Tile<T> a = pl::load(x, {0, 0}, {2, 3});
  pl::Tile<T> b = pl::load(pl::Tensor<T>(falling.data(), 2, 3), {0, 0}, {2, 3});
};

}  // namespace

TEST_CASE_TEMPLATE("load takes the region asked for", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  CHECK(values_of(o.a) == Values{1, 2, 3, 4, 5, 6});
  const auto corner = pl::load(o.x, {0, 1}, {2, 2});
  CHECK(corner.rows() == 2);
  CHECK(corner.cols() == 2);
  CHECK(values_of(corner) == Values{2, 3, 5, 6});
  CHECK(pl::load(o.x, {2, 3}, {0, 0}).size() == 0);
}

TEST_CASE_TEMPLATE("a load is a copy: later writes do not reach the tile", T, SYMRACE_ALL_DTYPES) {
  Operands<T> o;
  o.rising[0] = static_cast<T>(9.0F);
  CHECK(values_of(o.a) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE_TEMPLATE("store writes its region and nothing else", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  std::vector<T> memory = elements<T>(Values(12, 9));
  const pl::Out<pl::Tensor<T>> y(memory.data(), 3, 4);
  const auto same = pl::store(o.a, {1, 1}, y);
  CHECK(values_of(memory.data(), 12) == Values{9, 9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6});
  CHECK(same.data() == y.data());
}

TEST_CASE_TEMPLATE("store with Add combines", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  std::vector<T> memory = elements<T>({10, 20, 30, 40, 50, 60});
  const pl::Out<pl::Tensor<T>> y(memory.data(), 2, 3);
  pl::store(o.a, {0, 0}, y, pld::AtomicType::Add);
  CHECK(values_of(memory.data(), 6) == Values{11, 22, 33, 44, 55, 66});
}

TEST_CASE_TEMPLATE("strided tensors: rows lie apart, and the gaps stay", T, SYMRACE_ALL_DTYPES) {
  const fake::Rank rank;
  std::vector<T> memory = elements<T>({1, 2, 7, 7, 3, 4, 7, 7, 5, 6, 7, 7});
  const pl::Tensor<T> x(memory.data(), 3, 2, 4);
  const auto tile = pl::load(x, {0, 0}, {3, 2});
  CHECK(values_of(tile) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values_of(pl::load(x, {1, 1}, {2, 1})) == Values{4, 6});
  CHECK(static_cast<double>(pl::read(x, {2, 1}).value()) == 6);

  const pl::Out<pl::Tensor<T>> y(memory.data(), 3, 2, 4);
  pl::store(pl::add(tile, tile), {0, 0}, y);
  CHECK(values_of(memory.data(), 12) == Values{2, 4, 7, 7, 6, 8, 7, 7, 10, 12, 7, 7});
  pl::store(tile, {0, 0}, y, pld::AtomicType::Add);
  CHECK(values_of(memory.data(), 12) == Values{3, 6, 7, 7, 9, 12, 7, 7, 15, 18, 7, 7});
}

TEST_CASE_TEMPLATE("read and write move one element", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  CHECK(static_cast<double>(pl::read(o.x, {1, 0}).value()) == 4);
  std::vector<T> memory = elements<T>({0, 0, 0, 0});
  pl::write(pl::Out<pl::Tensor<T>>(memory.data(), 2, 2), {1, 0}, static_cast<T>(5.0F));
  CHECK(values_of(memory.data(), 4) == Values{0, 0, 5, 0});
}

TEST_CASE_TEMPLATE("own slice of a window: load, store, read, write", T, SYMRACE_ALL_DTYPES) {
  Operands<T> o;
  const symrace::Window window{4096, 12 * sizeof(T), 0, "data"};
  const pld::DistributedTensor<T> data(&window, 3, 4);
  pl::store(o.a, {1, 1}, data);
  pl::store(o.b, {1, 1}, data, pld::AtomicType::Add);
  pl::write(data, {0, 0}, static_cast<T>(3.0F));
  CHECK(values_of(o.rank.template slice<T>(0, window), 12) ==
        Values{3, 0, 0, 0, 0, 7, 7, 7, 0, 7, 7, 7});
  CHECK(values_of(pl::load(data, {1, 0}, {2, 2})) == Values{0, 7, 0, 7});
  CHECK(static_cast<double>(pl::read(data, {2, 3}).value()) == 7);
  CHECK(values_of(o.rank.template slice<T>(1, window), 12) == Values(12, 0));
  CHECK(o.rank.fabric.calls ==
        std::vector<std::string>{"store", "store add", "store", "load", "load"});
}

TEST_CASE_TEMPLATE("tile with tile", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  CHECK(values_of(pl::add(o.a, o.b)) == Values{7, 7, 7, 7, 7, 7});
  CHECK(values_of(pl::sub(o.a, o.b)) == Values{-5, -3, -1, 1, 3, 5});
  CHECK(values_of(pl::mul(o.a, o.b)) == Values{6, 10, 12, 12, 10, 6});
  CHECK(values_of(pl::max(o.a, o.b)) == Values{6, 5, 4, 4, 5, 6});
  CHECK(values_of(pl::min(o.a, o.b)) == Values{1, 2, 3, 3, 2, 1});
  CHECK(values_of(o.a) == Values{1, 2, 3, 4, 5, 6});  // operands are left alone
}

TEST_CASE_TEMPLATE("tile with number, of any kind", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  CHECK(values_of(pl::add(o.a, 10)) == Values{11, 12, 13, 14, 15, 16});
  CHECK(values_of(pl::sub(o.a, std::int64_t{3})) == Values{-2, -1, 0, 1, 2, 3});
  CHECK(values_of(pl::mul(o.a, 2.0)) == Values{2, 4, 6, 8, 10, 12});
  CHECK(values_of(pl::mul(o.a, static_cast<T>(2.0F))) == Values{2, 4, 6, 8, 10, 12});
  CHECK(values_of(pl::max(o.a, pl::Scalar<Int32>(4))) == Values{4, 4, 4, 4, 5, 6});
  CHECK(values_of(pl::min(o.a, pl::Scalar<float>(4.0F))) == Values{1, 2, 3, 4, 4, 4});
}

TEST_CASE("arithmetic has the dtype's own limits") {
  const fake::Rank rank;
  CHECK(values_of(pl::add(pl::full<Int8>({1, 2}, 100), 100)) == Values{-56, -56});
  CHECK(values_of(pl::mul(pl::full<Int16>({1, 1}, 300), 300)) == Values{24464});
  CHECK(values_of(pl::add(pl::full<pl::fp16>({1, 1}, 2048), 1)) == Values{2048});
  CHECK(values_of(pl::add(pl::full<pl::bf16>({1, 1}, 256), 1)) == Values{256});
  CHECK(values_of(pl::mul(pl::full<float>({1, 1}, 0.1F), 3)) ==
        Values{static_cast<double>(0.1F * 3.0F)});
  // The number takes the tile's dtype first: 2.5 is 2 to an integer tile.
  CHECK(values_of(pl::mul(pl::full<Int32>({1, 1}, 10), 2.5)) == Values{20});
  CHECK(values_of(pl::mul(pl::full<float>({1, 1}, 10), 2.5)) == Values{25});
}

TEST_CASE_TEMPLATE("full: every element, any shape", T, SYMRACE_ALL_DTYPES) {
  const fake::Rank rank;
  const auto tile = pl::full<T>({3, 5}, -7);
  CHECK(tile.rows() == 3);
  CHECK(tile.cols() == 5);
  CHECK(values_of(tile) == Values(15, -7));
  CHECK(pl::full<T>({0, 5}, 1).size() == 0);
}

TEST_CASE_TEMPLATE("slice of a tile, of a tensor, of a window", T, SYMRACE_ALL_DTYPES) {
  Operands<T> o;
  const auto part = pl::slice(o.a, {0, 1}, {2, 2});
  CHECK(values_of(part) == Values{2, 3, 5, 6});
  CHECK(values_of(pl::slice(part, {1, 0}, {1, 2})) == Values{5, 6});

  const auto columns = pl::slice(o.x, {0, 1}, {2, 2});
  CHECK(values_of(columns) == Values{2, 3, 5, 6});
  CHECK(values_of(pl::slice(columns, {0, 1}, {2, 1})) == Values{3, 6});

  const pl::Out<pl::Tensor<T>> y(o.rising.data(), 2, 3);
  pl::store(pl::full<T>({2, 1}, 9), {0, 0}, pl::slice(y, {0, 1}, {2, 1}));
  CHECK(values_of(o.x) == Values{1, 9, 3, 4, 9, 6});

  const symrace::Window window{0, 6 * sizeof(T), 0, "data"};
  const pld::DistributedTensor<T> data(&window, 2, 3);
  pl::store(o.a, {0, 0}, data);
  const auto view = pl::slice(pl::slice(data, {0, 1}, {2, 2}), {1, 0}, {1, 2});
  CHECK(values_of(pl::load(view, {0, 0}, {1, 2})) == Values{5, 6});
}

TEST_CASE_TEMPLATE("cast to every dtype keeps small integers", T, SYMRACE_ALL_DTYPES) {
  const Operands<T> o;
  const Values expected{-3, -2, -1, 0, 1, 2};
  const auto tile = pl::sub(o.a, 4);
  CHECK(values_of(pl::cast<float>(tile)) == expected);
  CHECK(values_of(pl::cast<pl::fp16>(tile)) == expected);
  CHECK(values_of(pl::cast<pl::bf16>(tile)) == expected);
  CHECK(values_of(pl::cast<Int32>(tile)) == expected);
  CHECK(values_of(pl::cast<Int16>(tile)) == expected);
  CHECK(values_of(pl::cast<Int8>(tile)) == expected);
}

TEST_CASE("cast of a tile rounds to even and saturates") {
  const fake::Rank rank;
  std::vector<float> memory{0.5F, 1.5F, -2.5F, 300.0F, -300.0F, 126.5F};
  const auto tile = pl::load(pl::Tensor<float>(memory.data(), 1, 6), {0, 0}, {1, 6});
  CHECK(values_of(pl::cast<Int8>(tile)) == Values{0, 2, -2, 127, -128, 126});
  CHECK(values_of(pl::cast<Int16>(tile)) == Values{0, 2, -2, 300, -300, 126});
}

TEST_CASE_TEMPLATE("pl::at: tensor-level values", T, SYMRACE_ALL_DTYPES) {
  Operands<T> o;
  Values sum;
  Values twice;
  Values narrow;
  pl::at(pl::Level::CORE_GROUP, [&] {
    CHECK(o.rank.context.in_core_group);
    const pl::Tensor<T> y(o.falling.data(), 2, 3);
    sum = values_of(pl::add(o.x, y));
    const pl::Tensor<T> result = pl::mul(pl::max(pl::min(o.x, 5), 2), 2);
    twice = values_of(result);
    narrow = values_of(pl::cast<Int8>(pl::sub(result, y)));
  });
  CHECK_FALSE(o.rank.context.in_core_group);
  CHECK(sum == Values{7, 7, 7, 7, 7, 7});
  CHECK(twice == Values{4, 4, 6, 8, 10, 10});
  CHECK(narrow == Values{-2, -1, 2, 5, 8, 9});
  CHECK(values_of(o.x) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE("pl::at is left by an exception too") {
  fake::Rank rank;
  const auto body = [] { throw std::runtime_error("kernel"); };
  CHECK_THROWS_AS(pl::at(pl::Level::CORE_GROUP, body), std::runtime_error);
  CHECK_FALSE(rank.context.in_core_group);
}

TEST_CASE("copies of a tile share it, and its block returns to the pool with the last") {
  const fake::Rank rank;
  const symrace::TileBlock* block = nullptr;
  {
    const auto tile = pl::full<float>({4, 4}, 1);
    const auto copy = tile;  // NOLINT(performance-unnecessary-copy-initialization)
    block = &*tile.block();
    CHECK(&*copy.block() == block);
    CHECK(block->references == 2);
    CHECK(&*pl::full<float>({4, 4}, 2).block() != block);
  }
  CHECK(&*pl::full<float>({4, 4}, 3).block() == block);
}

TEST_CASE("a deferred tile is fetched on its first use, once") {
  fake::Rank rank;
  const auto tile = pl::full<float>({1, 2}, 4);
  tile.block()->state = symrace::TileBlock::State::kInFlight;
  CHECK(values_of(pl::add(tile, tile)) == Values{8, 8});
  CHECK(rank.fabric.calls == std::vector<std::string>{"use"});
}
