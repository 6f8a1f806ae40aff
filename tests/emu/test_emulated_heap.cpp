// A named heap under the emulator: what others see of it, while a schedule runs and afterwards.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/function_program.h"
#include "core/heap_reader.h"
#include "core/named_heap.h"
#include "core/pl.h"
#include "core/pld.h"
#include "emu/explore.h"
#include "emu/strategies.h"

namespace {

using Data = pld::DistributedTensor<std::int32_t>;
using State = symrace::HeapReader::State;

std::int32_t cell(const symrace::HeapReader& heap, std::int32_t rank, std::uint64_t offset) {
  std::int32_t value = -1;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  return heap.read(rank, offset, bytes).ok() ? value : -1;
}

}  // namespace

TEST_CASE("cells of a named heap are there at once, however large its windows are") {
  const std::string name = "test-emulated-" + std::to_string(getpid());
  constexpr std::int64_t kCols = 5'000'000;  // as many pages as cells are else kept beside them
  std::vector<std::int32_t> seen(2);
  symrace::FunctionProgram program([&](pld::Host& host) {
    const auto signal = host.alloc_window_buffer({1, kCols}, pl::DType::INT32, "signal");
    for (std::int32_t r = 0; r < 2; ++r) {
      host.dispatch(
          pld::device(r),
          [&](Data s) {
            const std::int32_t me = pld::rank(pld::get_comm_ctx(s));
            pld::system::notify(s, 1 - me, {0, 4'000'000 + me}, 5 + me, pld::NotifyOp::AtomicAdd);
            pld::system::wait(s, {0, 4'000'001 - me}, 1, pld::WaitCmp::Ge);
            const auto heap = symrace::HeapReader::open(name);
            if (!heap.ok() || heap->state() != State::kRunning) return;
            seen[static_cast<std::size_t>(me)] =
                cell(*heap, me, (4'000'001 - static_cast<std::uint64_t>(me)) * 4);
          },
          host.window<std::int32_t>(signal, {1, kCols}));
    }
  });
  for (const bool replaces : {false, true}) {
    auto explorer = emu::Explorer::create(program, 2, {.heap = {name, "a program", replaces}});
    REQUIRE_MESSAGE(explorer.ok(), explorer.status().ToString());
    const auto strategy = emu::make_random_strategy();
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      seen.assign(2, 0);
      CHECK((*explorer)->run(*strategy, seed).outcome == emu::Outcome::kOk);
      CHECK(seen == std::vector<std::int32_t>{6, 5});
    }
    // The name is taken: not even another explorer of this process has it.
    CHECK(absl::IsAlreadyExists(
        emu::Explorer::create(program, 2, {.heap = {name, "", true}}).status()));
    explorer->reset();
    const auto heap = symrace::HeapReader::open(name);
    REQUIRE_MESSAGE(heap.ok(), heap.status().ToString());
    CHECK(heap->state() == State::kEnded);
    CHECK(heap->layout().engine == "emulator");
    CHECK(heap->layout().windows ==
          std::vector<symrace::HeapWindow>{
              {"signal", 0, 4 * kCols, pl::DType::INT32, 1, kCols, true}});
    CHECK(cell(*heap, 0, 4'000'001 * 4) == 6);
    CHECK(cell(*heap, 1, 4'000'000 * 4) == 5);
    CHECK(cell(*heap, 0, 4'000'000 * 4) == 0);
  }
  CHECK(symrace::remove_heap(name).ok());
}
