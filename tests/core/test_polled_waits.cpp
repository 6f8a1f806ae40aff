// When ranks that poll their cells are known to wait for ever: every interleaving here is by hand.
#include <doctest/doctest.h>

#include "core/polled_waits.h"

namespace symrace {
namespace {

// All ranks that have not finished end; returns how the run ended.
RunWatch::End finish(PolledWaits& waits, std::initializer_list<std::int32_t> ranks) {
  for (const std::int32_t rank : ranks) waits.finish(rank, false);
  return waits.await_all(RunWatch::kNever, nullptr);
}

TEST_CASE("polled waits: all must have looked in vain since the last rank began to wait") {
  PolledWaits waits(2);
  waits.begin();
  waits.begin_wait(0);
  const std::uint64_t early = waits.change();
  waits.looked(0, early, 3);
  CHECK_FALSE(waits.is_over());
  waits.begin_wait(1);
  waits.looked(1, waits.change(), 7);
  waits.looked(0, early, 3);  // rank 1 may have signalled after that look had begun
  CHECK_FALSE(waits.is_over());
  waits.looked(0, waits.change(), 4);
  CHECK(waits.is_over());
  CHECK(finish(waits, {0, 1}) == RunWatch::End::kDeadlock);
  CHECK(waits.cell(0, {}) == 4);
  CHECK(waits.cell(1, {}) == 7);
}

TEST_CASE("polled waits: a rank that goes on may signal") {
  PolledWaits waits(2);
  waits.begin();
  waits.begin_wait(0);
  waits.begin_wait(1);
  const std::uint64_t both_wait = waits.change();
  waits.looked(0, both_wait, 0);
  waits.end_wait(1);
  waits.looked(0, both_wait, 0);
  waits.begin_wait(1);
  waits.looked(1, waits.change(), 0);
  CHECK_FALSE(waits.is_over());  // rank 0's look was before what rank 1 did meanwhile
  waits.end_wait(1);
  waits.end_wait(0);
  CHECK(finish(waits, {0, 1}) == RunWatch::End::kFinished);
}

TEST_CASE("polled waits: a rank that has finished signals no more, and a running one may") {
  PolledWaits waits(3);
  waits.begin();
  waits.begin_wait(2);
  waits.finish(0, false);
  waits.looked(2, waits.change(), 0);
  CHECK_FALSE(waits.is_over());  // rank 1 runs
  const std::uint64_t before = waits.change();
  waits.finish(1, false);
  waits.looked(2, before, 0);
  CHECK_FALSE(waits.is_over());
  waits.looked(2, waits.change(), 0);
  CHECK(waits.is_over());
  CHECK(finish(waits, {2}) == RunWatch::End::kDeadlock);
}

TEST_CASE("polled waits: an error ends the run for those who wait, and the next run is fresh") {
  PolledWaits waits(2);
  waits.begin();
  waits.begin_wait(0);
  waits.finish(1, true);
  CHECK(waits.is_over());
  CHECK_THROWS_AS(waits.leave(0, {.site = {}, .on_cell = true, .expected = 5}), DirectCancelled);
  CHECK(finish(waits, {0}) == RunWatch::End::kError);
  REQUIRE(waits.left_in(0));
  CHECK(waits.left_in(0)->expected == 5);
  CHECK_FALSE(waits.left_in(1));

  waits.begin();
  CHECK_FALSE(waits.is_over());
  CHECK_FALSE(waits.left_in(0));
  waits.begin_wait(1);
  waits.looked(1, waits.change(), 0);
  CHECK_FALSE(waits.is_over());  // rank 0 waits no longer
  CHECK(finish(waits, {0, 1}) == RunWatch::End::kFinished);
}

}  // namespace
}  // namespace symrace
