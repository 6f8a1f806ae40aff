// What each primitive costs on the direct engine, two ranks on two cores: latency of small ones,
// bandwidth of large ones, with plain memcpy between the same slices measured in the same run as
// the limit.
//
// A benchmark's loop runs inside rank 0's kernel, so that what is timed is the op and nothing else.
// Names are Op/bytes, or Op/bytes/chunk for chunked transfers. tools/sweep draws the results.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "bench/direct_run.h"
#include "core/function_program.h"
#include "core/pl.h"
#include "core/pld.h"
#include "core/posix_heap.h"

namespace {

using Data = pld::DistributedTensor<float>;
using Signal = pld::DistributedTensor<std::int32_t>;
using pld::AtomicType;

constexpr std::int64_t kLargest = 16 << 20;
constexpr std::int64_t kLargestTile = 128 << 10;  // a power of two that fits the on-core buffer
constexpr std::int64_t kChunk = 64 << 10;

struct Windows {
  Data src, dst;
  Signal signal;
};

// Runs `kernel(rank, windows)` on two ranks that are really parallel, with windows of `bytes`.
void run(benchmark::State& state, std::int64_t bytes,
         const std::function<void(std::int32_t, const Windows&)>& kernel,
         symrace::SymmetricHeap** heap = nullptr) {
  const std::int64_t elements = std::max<std::int64_t>(bytes / 4, 1);
  symrace::FunctionProgram program([&](pld::Host& host) {
    const pl::Shape row{1, elements};
    const pl::Shape cells{16, 32};  // rows of cells are lines of their own
    const auto src = host.alloc_window_buffer(row, pl::DType::FP32, "src");
    const auto dst = host.alloc_window_buffer(row, pl::DType::FP32, "dst");
    const auto signal = host.alloc_window_buffer(cells, pl::DType::INT32, "signal");
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const Windows windows{host.window<float>(src, row), host.window<float>(dst, row),
                            host.window<std::int32_t>(signal, cells)};
      host.dispatch(
          pld::device(rank), [&kernel, rank](const Windows& w) { kernel(rank, w); }, windows);
    }
  });
  run_directly(state, program, 2, true, heap);
}

// An op of rank 0 on rank 1's slice, while rank 1 is done.
void one_sided(benchmark::State& state, const std::function<void(const Windows&)>& prepare,
               const std::function<void(const Windows&, benchmark::State&)>& loop) {
  const std::int64_t bytes = state.range(0);
  run(state, bytes, [&](std::int32_t rank, const Windows& windows) {
    if (rank != 0) return;
    prepare(windows);
    loop(windows, state);
  });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}

pld::TransferOptions chunks(const benchmark::State& state) {
  const std::int64_t chunk = state.range(1);
  if (chunk == 0) return {};
  return {.chunk_rows = 1, .chunk_cols = chunk / 4, .pipeline = true};
}

void Memcpy(benchmark::State& state) {
  const std::int64_t bytes = state.range(0);
  auto heap = symrace::PosixHeap::create(2);
  if (!heap.ok() || !(*heap)->allocate(bytes).ok() || !(*heap)->allocate(bytes).ok()) {
    state.SkipWithError("no heap");
    return;
  }
  const auto slot = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 4096));
  std::byte* to = (*heap)->address(1, slot);
  const std::byte* from = (*heap)->address(0, 0);
  std::memset((*heap)->address(0, 0), 1, static_cast<std::size_t>(bytes));
  std::memset(to, 1, static_cast<std::size_t>(bytes));
  for (auto _ : state) {
    auto count = static_cast<std::size_t>(bytes);
    benchmark::DoNotOptimize(count);  // a size that is known only at run time, as in an op
    std::memcpy(to, from, count);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}

void Put(benchmark::State& state) {
  const pld::TransferOptions options = chunks(state);
  const auto put = [&](const Windows& w) {
    pld::tensor::put(w.dst, 1, w.src, AtomicType::None_, options);
  };
  one_sided(state, put, [&](const Windows& w, benchmark::State& s) {
    for (auto _ : s) put(w);
  });
}

void PutAdd(benchmark::State& state) {
  const pld::TransferOptions options = chunks(state);
  const auto put = [&](const Windows& w) {
    pld::tensor::put(w.dst, 1, w.src, AtomicType::Add, options);
  };
  one_sided(state, put, [&](const Windows& w, benchmark::State& s) {
    for (auto _ : s) put(w);
  });
}

void Get(benchmark::State& state) {
  const pld::TransferOptions options = chunks(state);
  const auto get = [&](const Windows& w) { pld::tensor::get(w.dst, 1, w.src, options); };
  one_sided(state, get, [&](const Windows& w, benchmark::State& s) {
    for (auto _ : s) get(w);
  });
}

// An op and plain memcpy by turns of 1 MiB, between the same slices: their ratio, whatever the
// machine's speed does meanwhile, and wherever the slices lie in memory.
void beside_memcpy(benchmark::State& state, const std::function<void(const Windows&)>& op,
                   std::int32_t from, std::int32_t to) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t bytes = state.range(0);
  const std::int64_t times = std::max<std::int64_t>(1, (1 << 20) / bytes);
  Clock::duration of_memcpy{};
  Clock::duration of_op{};
  symrace::SymmetricHeap* heap = nullptr;
  const auto kernel = [&](std::int32_t rank, const Windows& w) {
    if (rank != 0) return;
    std::byte* dst = heap->address(to, w.dst.window()->offset);
    const std::byte* src = heap->address(from, w.src.window()->offset);
    op(w);
    for (auto _ : state) {
      const Clock::time_point begin = Clock::now();
      for (std::int64_t i = 0; i < times; ++i) {
        std::memcpy(dst, src, static_cast<std::size_t>(bytes));
        benchmark::ClobberMemory();
      }
      const Clock::time_point between = Clock::now();
      for (std::int64_t i = 0; i < times; ++i) op(w);
      const Clock::time_point end = Clock::now();
      of_memcpy += between - begin;
      of_op += end - between;
      state.SetIterationTime(std::chrono::duration<double>(end - between).count());
    }
  };
  run(state, bytes, kernel, &heap);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * times * bytes);
  state.counters["of_memcpy"] =
      static_cast<double>(of_memcpy.count()) / static_cast<double>(of_op.count());
}

void PutBesideMemcpy(benchmark::State& state) {
  const pld::TransferOptions options = chunks(state);
  const auto put = [&](const Windows& w) {
    pld::tensor::put(w.dst, 1, w.src, AtomicType::None_, options);
  };
  beside_memcpy(state, put, 0, 1);
}

void GetBesideMemcpy(benchmark::State& state) {
  const pld::TransferOptions options = chunks(state);
  const auto get = [&](const Windows& w) { pld::tensor::get(w.dst, 1, w.src, options); };
  beside_memcpy(state, get, 1, 0);
}

// In tiles, where it does not fit the on-core buffer.
void RemoteLoad(benchmark::State& state) {
  const std::int64_t elements = std::min(state.range(0), kLargestTile) / 4;
  const auto load = [&](const Windows& w) {
    for (std::int64_t col = 0; col < w.src.cols(); col += elements) {
      auto tile = pld::tile::remote_load(w.src, 1, {0, col}, {1, elements});
      benchmark::DoNotOptimize(tile);
    }
  };
  one_sided(state, load, [&](const Windows& w, benchmark::State& s) {
    for (auto _ : s) load(w);
  });
}

void RemoteStore(benchmark::State& state) {
  const std::int64_t elements = std::min(state.range(0), kLargestTile) / 4;
  pl::Tile<float> tile;
  const auto store = [&](const Windows& w) {
    for (std::int64_t col = 0; col < w.dst.cols(); col += elements) {
      pld::tile::remote_store(tile, w.dst, 1, {0, col});
    }
  };
  const auto prepare = [&](const Windows& w) {
    tile = pl::full<float>({1, elements}, 1.0F);
    store(w);
  };
  one_sided(state, prepare, [&](const Windows& w, benchmark::State& s) {
    for (auto _ : s) store(w);
    tile = {};  // back to the pool of this rank
  });
}

// A notify that a wait sees, and back: half of it is the time of one way.
void ping_pong(benchmark::State& state, pld::NotifyOp op) {
  run(state, 4, [&](std::int32_t rank, const Windows& w) {
    std::int32_t count = 0;
    const auto ping = [&] {
      pld::system::notify(w.signal, 1 - rank, {0, 0},
                          op == pld::NotifyOp::Set ? count + 1 - rank : 1, op);
    };
    const auto pong = [&] { pld::system::wait(w.signal, {0, 0}, ++count, pld::WaitCmp::Ge); };
    if (rank == 0) {
      ping();  // warm
      pong();
      for (auto _ : state) {
        ping();
        pong();
      }
      return;
    }
    const std::int64_t trips = 1 + static_cast<std::int64_t>(state.max_iterations);
    for (std::int64_t i = 0; i < trips; ++i) {
      pong();
      ping();
    }
  });
  state.counters["one_way"] =
      benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
// By Set, which is what the peer's ping-pong does, and by AtomicAdd.
void PingPong(benchmark::State& state) { ping_pong(state, pld::NotifyOp::Set); }
void PingPongAdd(benchmark::State& state) { ping_pong(state, pld::NotifyOp::AtomicAdd); }

void Barrier(benchmark::State& state) {
  run(state, 4, [&](std::int32_t rank, const Windows& w) {
    pld::tensor::barrier(w.signal);
    if (rank == 0) {
      for (auto _ : state) pld::tensor::barrier(w.signal);
      return;
    }
    const auto times = static_cast<std::int64_t>(state.max_iterations);
    for (std::int64_t i = 0; i < times; ++i) pld::tensor::barrier(w.signal);
  });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (std::int64_t bytes = 4; bytes <= kLargest; bytes *= 4) benchmark->Arg(bytes);
  benchmark->UseRealTime();
}
// Of a transfer: unchunked while it fits the on-core buffer; else in chunks of 64 KiB.
void transfers(benchmark::internal::Benchmark* benchmark, std::int64_t smallest) {
  for (std::int64_t bytes = smallest; bytes <= kLargest; bytes *= 4) {
    benchmark->Args({bytes, bytes <= kLargestTile ? 0 : kChunk});
  }
}
// And other chunk sizes.
void sizes_and_chunks(benchmark::internal::Benchmark* benchmark) {
  transfers(benchmark, 4);
  for (const std::int64_t chunk : {1 << 10, 4 << 10, 16 << 10}) benchmark->Args({1 << 20, chunk});
  benchmark->UseRealTime();
}

// From 64 KiB up.
void large_sizes(benchmark::internal::Benchmark* benchmark) {
  transfers(benchmark, 64 << 10);
  benchmark->UseManualTime();
}

BENCHMARK(Memcpy)->Apply(sizes);
BENCHMARK(RemoteLoad)->Apply(sizes);
BENCHMARK(RemoteStore)->Apply(sizes);
BENCHMARK(Put)->Apply(sizes_and_chunks);
BENCHMARK(PutAdd)->Apply(sizes_and_chunks);
BENCHMARK(Get)->Apply(sizes_and_chunks);
BENCHMARK(PutBesideMemcpy)->Apply(large_sizes);
BENCHMARK(GetBesideMemcpy)->Apply(large_sizes);
BENCHMARK(PingPong)->UseRealTime();
BENCHMARK(PingPongAdd)->UseRealTime();
BENCHMARK(Barrier)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
