// Litmus tests: for each model, exactly the outcomes that the table of docs/memory-model.md allows.
// The expected sets are derived by hand from that table.
#include <map>

#include "tests/emu/kernel_program.h"

namespace emu::testing {
namespace {

using Seen = std::set<std::vector<std::int32_t>>;
using pld::AtomicType;
using pld::NotifyOp;
using pld::WaitCmp;

const Model kSc = Model::sc();
const Model kDocumented = Model::documented();
const Model kA2a3 = Model::a2a3();
const Model kWeak = Model::weak();

void signal_and_wait(const Data& signal) {
  if (my_rank() == 0) {
    pld::system::notify(signal, 1, {0, 0}, 1, NotifyOp::AtomicAdd);
  } else {
    pld::system::wait(signal, {0, 0}, 1, WaitCmp::Ge);
  }
}

std::int32_t value_at(const Data& data, std::int64_t col) {
  return pl::read(data, {0, col}).value();
}

// Rank 0 moves data into rank 1 with `move`, notifies; rank 1 waits and reads two cells.
Seen message_passing(const Model& model, const std::function<void(const Data&)>& move) {
  std::vector<std::int32_t> observed;
  return outcomes(model, 2, observed, [&](Data data, Data signal) {
    if (my_rank() == 0) move(data);
    signal_and_wait(signal);
    if (my_rank() == 1) {
      const auto got = pl::load(data, {0, 0}, {1, 2});
      observed = {got.data({})[0], got.data({})[1]};
    }
  });
}

TEST_CASE("a notify after remote_store: released under documented, not under a2a3 or weak") {
  const auto move = [](const Data& data) { pld::remote_store(tile_of(7, 2), data, 1, {0, 0}); };
  CHECK(message_passing(kSc, move) == Seen{{7, 7}});
  CHECK(message_passing(kDocumented, move) == Seen{{7, 7}});
  CHECK(message_passing(kA2a3, move) == Seen{{7, 7}, {0, 0}});
  CHECK(message_passing(kWeak, move) == Seen{{7, 7}, {0, 0}});
}

TEST_CASE("a notify after a fence releases everything under every model") {
  const auto move = [](const Data& data) {
    pld::remote_store(tile_of(7, 2), data, 1, {0, 0});
    pld::system::fence();
  };
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    CHECK(message_passing(model, move) == Seen{{7, 7}});
  }
}

TEST_CASE("a notify after put: the last chunk of a chunked put is not released under a2a3") {
  const auto put = [](std::int64_t chunk_cols) {
    return [chunk_cols](const Data& data) {
      pl::write(data, {1, 0}, 7);
      pl::write(data, {1, 1}, 8);
      pld::tensor::put(data, 1, data, AtomicType::None_,
                       {.dst_offsets = pl::Offsets{0, 0},
                        .src_offsets = pl::Offsets{1, 0},
                        .shape = pl::Shape{1, 2},
                        .chunk_cols = chunk_cols});
    };
  };
  for (const Model& model : {kSc, kDocumented}) {
    CHECK(message_passing(model, put(0)) == Seen{{7, 8}});
    CHECK(message_passing(model, put(1)) == Seen{{7, 8}});
  }
  CHECK(message_passing(kA2a3, put(0)) == Seen{{7, 8}});
  CHECK(message_passing(kA2a3, put(2)) == Seen{{7, 8}});  // one chunk: a single-chunk put
  CHECK(message_passing(kA2a3, put(1)) == Seen{{7, 8}, {7, 0}});
  CHECK(message_passing(kWeak, put(0)) == Seen{{7, 8}, {0, 0}});
  CHECK(message_passing(kWeak, put(1)) == Seen{{7, 8}, {7, 0}, {0, 8}, {0, 0}});
}

TEST_CASE("a notify after a local store: released under a2a3, not under weak") {
  const auto staged = [](const Model& model) {
    std::vector<std::int32_t> observed;
    return outcomes(model, 2, observed, [&](Data data, Data signal) {
      if (my_rank() == 0) pl::write(data, {0, 0}, 7);
      signal_and_wait(signal);
      if (my_rank() == 1) {
        const auto got = pld::tile::remote_load(data, 0, {0, 0}, {1, 1});
        observed = {*got.data({})};
      }
    });
  };
  CHECK(staged(kSc) == Seen{{7}});
  CHECK(staged(kDocumented) == Seen{{7}});
  CHECK(staged(kA2a3) == Seen{{7}});
  CHECK(staged(kWeak) == Seen{{7}, {0}});
}

TEST_CASE("store buffering: both ranks read old data only where stores are late") {
  const auto store_buffering = [](const Model& model) {
    std::vector<std::int32_t> observed(2);
    return outcomes(model, 2, observed, [&](Data data, Data) {
      const std::int32_t me = my_rank();
      pl::write(data, {0, 0}, 1);
      const auto got = pld::tile::remote_load(data, 1 - me, {0, 0}, {1, 1});
      observed[static_cast<std::size_t>(me)] = *got.data({});
    });
  };
  CHECK(store_buffering(kSc) == Seen{{0, 1}, {1, 0}, {1, 1}});
  CHECK(store_buffering(kDocumented) == Seen{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
}

TEST_CASE("a rank always sees its own local writes, late or not, and adds to them") {
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    std::vector<std::int32_t> observed;
    const Seen seen = outcomes(model, 1, observed, [&](Data data, Data) {
      pl::store(tile_of(1, 4), {0, 0}, data);
      pl::store(tile_of(5, 2), {0, 1}, data);
      pl::store(tile_of(10, 2), {0, 2}, data, AtomicType::Add);
      const auto got = pl::load(data, {0, 0}, {1, 5});
      observed.assign(got.data({}), got.data({}) + 5);
    });
    CHECK(seen == Seen{{1, 5, 15, 11, 0}});
  }
}

TEST_CASE("own view of a strided sub-tile, not of its bounding box") {
  std::vector<std::int32_t> observed;
  const Seen seen = outcomes(kDocumented, 1, observed, [&](Data data, Data) {
    pl::store(pl::full<std::int32_t>({2, 2}, 3), {1, 2}, data);
    const auto got = pl::load(data, {0, 1}, {3, 3});
    observed.assign(got.data({}), got.data({}) + 9);
  });
  CHECK(seen == Seen{{0, 0, 0, 0, 3, 3, 0, 3, 3}});
}

TEST_CASE("two writes of one rank to the same bytes of one target land in program order") {
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    const Seen seen = message_passing(model, [](const Data& data) {
      pld::remote_store(tile_of(1, 2), data, 1, {0, 0});
      pld::remote_store(tile_of(2, 1), data, 1, {0, 1});
      pld::remote_store(tile_of(3, 1), data, 1, {0, 0});
      pld::system::fence();
    });
    CHECK(seen == Seen{{3, 2}});
  }
}

TEST_CASE("writes of one rank to different bytes land in any order") {
  std::vector<std::int32_t> observed;
  const auto seen = outcomes(kDocumented, 2, observed, [&](Data data, Data) {
    if (my_rank() == 0) {
      pld::remote_store(tile_of(1), data, 1, {0, 0});
      pld::remote_store(tile_of(1), data, 1, {0, 1});
    } else {
      const auto got = pl::load(data, {0, 0}, {1, 2});
      observed = {got.data({})[0], got.data({})[1]};
    }
  });
  CHECK(seen == Seen{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
}

TEST_CASE("--burst makes torn data observable; without it a store is one piece") {
  const auto torn = [](std::int64_t burst) {
    std::vector<std::int32_t> observed;
    return outcomes(
        kDocumented, 2, observed,
        [&](Data data, Data) {
          if (my_rank() == 0) {
            pld::remote_store(tile_of(1, 2), data, 1, {0, 0});
          } else {
            const auto got = pl::load(data, {0, 0}, {1, 2});
            observed = {got.data({})[0], got.data({})[1]};
          }
        },
        burst);
  };
  CHECK(torn(0) == Seen{{0, 0}, {1, 1}});
  CHECK(torn(8) == Seen{{0, 0}, {1, 1}});
  CHECK(torn(4) == Seen{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  CHECK(torn(1) == torn(4));  // never less than an element
}

TEST_CASE("a put reads its source on issue, under weak any time before it lands") {
  const auto overwritten = [](const Model& model) {
    std::vector<std::int32_t> observed;
    return outcomes(model, 2, observed, [&](Data data, Data signal) {
      if (my_rank() == 0) {
        pl::write(data, {1, 0}, 1);
        pld::tensor::put(data, 1, data, AtomicType::None_,
                         {.dst_offsets = pl::Offsets{0, 0},
                          .src_offsets = pl::Offsets{1, 0},
                          .shape = pl::Shape{1, 1}});
        pl::write(data, {1, 0}, 2);
        pld::system::fence();
      }
      signal_and_wait(signal);
      if (my_rank() == 1) observed = {value_at(data, 0)};
    });
  };
  CHECK(overwritten(kSc) == Seen{{1}});
  CHECK(overwritten(kDocumented) == Seen{{1}});
  CHECK(overwritten(kA2a3) == Seen{{1}});
  CHECK(overwritten(kWeak) == Seen{{1}, {2}});
}

TEST_CASE("remote_load and get are complete on return, under weak only at first use") {
  const auto consumed = [](const Model& model, bool by_get, bool fenced) {
    std::vector<std::int32_t> observed;
    return outcomes(model, 2, observed, [&](Data data, Data signal) {
      if (my_rank() == 1) {
        pl::Tile<std::int32_t> got;
        if (by_get) {
          pld::tensor::get(data, 0, data,
                           {.dst_offsets = pl::Offsets{1, 0},
                            .src_offsets = pl::Offsets{0, 0},
                            .shape = pl::Shape{1, 1}});
        } else {
          got = pld::tile::remote_load(data, 0, {0, 0}, {1, 1});
        }
        if (fenced) pld::system::fence();
        pld::system::notify(signal, 0, {0, 0}, 1, NotifyOp::Set);  // "consumed"
        observed = {by_get ? pl::read(data, {1, 0}).value() : *got.data({})};
      } else {
        pld::system::wait(signal, {0, 0}, 1, WaitCmp::Eq);
        pl::write(data, {0, 0}, 9);
      }
    });
  };
  for (const bool by_get : {false, true}) {
    CHECK(consumed(kSc, by_get, false) == Seen{{0}});
    CHECK(consumed(kDocumented, by_get, false) == Seen{{0}});
    CHECK(consumed(kA2a3, by_get, false) == Seen{{0}});
    CHECK(consumed(kWeak, by_get, false) == Seen{{0}, {9}});
    CHECK(consumed(kWeak, by_get, true) == Seen{{0}});
  }
}

TEST_CASE("a get into private memory is settled before the kernel reads it, under weak too") {
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    std::vector<std::int32_t> observed;
    std::int32_t memory[2] = {0, 0};
    const auto seen = outcomes(model, 2, observed, [&](Data data, Data signal) {
      if (my_rank() == 0) {
        pl::write(data, {0, 1}, 5);
        pld::system::fence();
      }
      signal_and_wait(signal);
      if (my_rank() == 1) {
        memory[0] = memory[1] = -1;
        const pl::Out<pl::Tensor<std::int32_t>> out(memory, 1, 2);
        pld::tensor::get(out, 0, pl::slice(data, {0, 0}, {1, 2}));
        const auto got = pl::load(out, {0, 0}, {1, 2});
        observed.assign(got.data({}), got.data({}) + 2);
      }
    });
    CHECK(seen == Seen{{0, 5}});
  }
}

TEST_CASE("atomic adds of several ranks never lose an update") {
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    std::vector<std::int32_t> observed;
    const auto seen = outcomes(
        model, 3, observed,
        [&](Data data, Data signal) {
          const std::int32_t me = my_rank();
          pld::remote_store(tile_of(1 << me), data, 0, {0, 0}, AtomicType::Add);
          pl::write(data, {1, 0}, 8 << me);
          pld::tensor::put(data, 0, data, AtomicType::Add,
                           {.dst_offsets = pl::Offsets{0, 0},
                            .src_offsets = pl::Offsets{1, 0},
                            .shape = pl::Shape{1, 1}});
          pld::tensor::barrier(signal);
          if (me == 0) observed = {value_at(data, 0)};
        },
        0, 500);
    CHECK(seen == Seen{{63}});
  }
}

TEST_CASE("an earlier notify is released by a later one under documented only") {
  const auto two_signals = [](const Model& model) {
    std::vector<std::int32_t> observed;
    return outcomes(model, 2, observed, [&](Data, Data signal) {
      if (my_rank() == 0) {
        pld::system::notify(signal, 1, {0, 0}, 1, NotifyOp::Set);
        pld::system::notify(signal, 1, {1, 0}, 1, NotifyOp::Set);
      } else {
        pld::system::wait(signal, {1, 0}, 1, WaitCmp::Eq);
        observed = {pld::system::test(signal, {0, 0}, 1, WaitCmp::Eq) ? 1 : 0};
      }
    });
  };
  CHECK(two_signals(kSc) == Seen{{1}});
  CHECK(two_signals(kDocumented) == Seen{{1}});
  CHECK(two_signals(kA2a3) == Seen{{0}, {1}});
  CHECK(two_signals(kWeak) == Seen{{0}, {1}});
}

TEST_CASE("barrier orders stores and loads under every model, any number of times, at any ranks") {
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    for (const std::int32_t ranks : {1, 2, 3, 5}) {
      std::vector<std::int32_t> observed(static_cast<std::size_t>(ranks));
      const auto seen = outcomes(
          model, ranks, observed,
          [&](Data data, Data signal) {
            const std::int32_t me = my_rank();
            std::int32_t sum = 0;
            for (std::int32_t round = 1; round <= 3; ++round) {
              pld::remote_store(tile_of(round * 10 + me), data, (me + 1) % ranks, {0, 0});
              pld::tensor::barrier(signal);
              sum = sum * 100 + value_at(data, 0);
              pld::tensor::barrier(signal);
            }
            for (std::int64_t row = 0; row < ranks; ++row) {
              sum += 1000000 * pl::read(signal, {row, 0}).value();  // self-clearing: all zero
            }
            observed[static_cast<std::size_t>(me)] = sum;
          },
          0, 300);
      std::vector<std::int32_t> expected;
      for (std::int32_t me = 0; me < ranks; ++me) {
        const std::int32_t from = (me + ranks - 1) % ranks;
        expected.push_back((10 + from) * 10000 + (20 + from) * 100 + 30 + from);
      }
      CHECK(seen == Seen{expected});
    }
  }
}

TEST_CASE("barrier orders a rank's own stores to a peer before its own later loads from there") {
  for (const Model& model : {kSc, kDocumented, kA2a3, kWeak}) {
    std::vector<std::int32_t> observed(2);
    const auto seen = outcomes(model, 2, observed, [&](Data data, Data signal) {
      const std::int32_t me = my_rank();
      pld::remote_store(tile_of(me + 1), data, 1 - me, {0, 0});
      pld::tensor::barrier(signal);
      const auto got = pld::remote_load(data, 1 - me, {0, 0}, {1, 1});
      observed[static_cast<std::size_t>(me)] = *got.data({});
    });
    CHECK(seen == Seen{{1, 2}});
  }
}

TEST_CASE("a wait sees each comparison as written") {
  const std::map<WaitCmp, std::int32_t> satisfied_by = {{WaitCmp::Eq, 3}, {WaitCmp::Ne, 1},
                                                        {WaitCmp::Ge, 3}, {WaitCmp::Gt, 4},
                                                        {WaitCmp::Le, 3}, {WaitCmp::Lt, 2}};
  for (const auto& [cmp, value] : satisfied_by) {
    std::vector<std::int32_t> observed;
    const auto seen = outcomes(
        kDocumented, 2, observed,
        [&, c = cmp, v = value](Data, Data signal) {
          if (my_rank() == 0) {
            pld::system::notify(signal, 1, {2, 3}, v, NotifyOp::Set);
          } else {
            // From a value that does not compare true, except Le and Lt, which zero satisfies.
            pld::system::wait(signal, {2, 3}, 3, c);
            observed = {1};
          }
        },
        0, 50);
    CHECK(seen == Seen{{1}});
  }
}

}  // namespace
}  // namespace emu::testing
