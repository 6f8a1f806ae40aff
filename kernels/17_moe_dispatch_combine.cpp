// Step 17: the exchange of a mixture of experts. A seeded gate routes every token to two experts on
// any ranks; they compute, and their results are added up where the token came from. Several epochs
// use the same windows, by two counters a pair of ranks that only ever grow:
//   ready[src]     on the expert: src's tokens of epoch e are here, once it is >= e;
//   consumed[peer] on the source: expert `peer` has read them, and added its results, likewise.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "kernels/programs.h"
#include "kernels/reduction.h"

namespace kernels {
namespace {

constexpr std::int64_t kExpertsOfToken = 2;

// What the gate decided, for the kernel and for the golden: the experts of each token.
class Gate {
 public:
  Gate(std::int64_t ranks, std::int64_t tokens, std::int64_t epochs, std::uint64_t seed)
      : ranks_(ranks), tokens_(tokens) {
    symrace::SplitMix64 generator(seed ^ 0x6d6f65);  // apart from the input of that seed
    for (std::int64_t i = 0; i < epochs * ranks * tokens; ++i) {
      const auto first =
          static_cast<std::int32_t>(generator.next() % static_cast<std::uint64_t>(ranks));
      std::int32_t second = first;
      if (ranks > 1) {
        const std::uint64_t step = 1 + generator.next() % static_cast<std::uint64_t>(ranks - 1);
        second = static_cast<std::int32_t>((first + static_cast<std::int64_t>(step)) % ranks);
      }
      experts_.push_back(first);
      experts_.push_back(second);
    }
  }

  std::int32_t expert(std::int64_t epoch, std::int64_t rank, std::int64_t token,
                      std::int64_t k) const {
    const std::int64_t index = ((epoch * ranks_ + rank) * tokens_ + token) * kExpertsOfToken + k;
    return experts_[static_cast<std::size_t>(index)];
  }

 private:
  std::int64_t ranks_;
  std::int64_t tokens_;
  std::vector<std::int32_t> experts_;
};

// Expert e multiplies by e + 2, and the tokens of epoch i are the input times i + 1.
std::int32_t factor_of_expert(std::int64_t expert) {
  return 2 + static_cast<std::int32_t>(expert % 5);
}
std::int32_t factor_of_epoch(std::int64_t epoch) {
  return 1 + static_cast<std::int32_t>(epoch % 3);
}

template <class T>
struct MoeWindows {
  pld::DistributedTensor<T> staged;               // [experts * slots, H]: own tokens by expert
  pld::DistributedTensor<T> received;             // the same from every source
  pld::DistributedTensor<T> computed;             // results on the expert
  pld::DistributedTensor<T> combined;             // [tokens, H]: where experts add
  pld::DistributedTensor<std::int32_t> origins;   // [experts, slots]: token of each staged row
  pld::DistributedTensor<std::int32_t> homes;     // [sources, slots]: the same on the expert
  pld::DistributedTensor<std::int32_t> counts;    // [sources, 1]: rows from each source
  pld::DistributedTensor<std::int32_t> ready;     // [sources, 1]
  pld::DistributedTensor<std::int32_t> consumed;  // [experts, 1]
};

// Sends this rank's tokens of one epoch to their experts. Peers have consumed the last epoch's.
template <class T>
void dispatch_tokens(const pl::Tensor<T>& x, const MoeWindows<T>& w, const Gate& gate,
                     std::int32_t my_rank, std::int32_t nranks, std::int32_t epoch) {
  const std::int64_t tokens = x.rows();
  const std::int64_t hidden = x.cols();
  const std::int64_t slots = tokens * kExpertsOfToken;
  std::vector<std::int32_t> filled(static_cast<std::size_t>(nranks), 0);
  for (std::int64_t token = 0; token < tokens; ++token) {
    pl::store(pl::full<T>({1, hidden}, 0), {token, 0}, w.combined);
    for (std::int64_t k = 0; k < kExpertsOfToken; ++k) {
      const std::int32_t expert = gate.expert(epoch, my_rank, token, k);
      const std::int32_t slot = filled[static_cast<std::size_t>(expert)]++;
      pl::store(pl::mul(pl::load(x, {token, 0}, {1, hidden}), factor_of_epoch(epoch)),
                {expert * slots + slot, 0}, w.staged);
      pl::write(w.origins, {expert, slot}, static_cast<std::int32_t>(token));
    }
  }
  for (std::int32_t step = 0; step < nranks; ++step) {
    const std::int32_t expert = (my_rank + step) % nranks;
    const std::int32_t count = filled[static_cast<std::size_t>(expert)];
    pld::tensor::put(w.received, expert, w.staged, pld::AtomicType::None_,
                     {.dst_offsets = pl::Offsets{my_rank * slots, 0},
                      .src_offsets = pl::Offsets{expert * slots, 0},
                      .shape = pl::Shape{count, hidden}});
    pld::tensor::put(w.homes, expert, w.origins, pld::AtomicType::None_,
                     {.dst_offsets = pl::Offsets{my_rank, 0},
                      .src_offsets = pl::Offsets{expert, 0},
                      .shape = pl::Shape{1, count}});
    pld::system::notify(w.counts, expert, {my_rank, 0}, count, pld::NotifyOp::Set);
  }
  // On hardware a notify does not wait for an earlier one: the counts come first by this.
  pld::system::fence();
  for (std::int32_t step = 0; step < nranks; ++step) {
    const std::int32_t expert = (my_rank + step) % nranks;
    pld::system::notify(w.ready, expert, {my_rank, 0}, 1, pld::NotifyOp::AtomicAdd);
  }
}

// Serves every source's tokens of one epoch, and adds the results where they came from.
template <class T>
void serve_tokens(const MoeWindows<T>& w, std::int32_t my_rank, std::int32_t nranks,
                  std::int32_t epoch) {
  const std::int64_t hidden = w.received.cols();
  const std::int64_t slots = w.homes.cols();
  for (std::int32_t step = 0; step < nranks; ++step) {
    const std::int32_t src = (my_rank + nranks - step) % nranks;
    pld::system::wait(w.ready, {src, 0}, epoch + 1, pld::WaitCmp::Ge);
    const std::int32_t count = pl::read(w.counts, {src, 0});
    for (std::int64_t slot = 0; slot < count; ++slot) {
      const std::int64_t row = src * slots + slot;
      const auto token = pl::load(w.received, {row, 0}, {1, hidden});
      pl::store(pl::mul(token, factor_of_expert(my_rank)), {row, 0}, w.computed);
      const std::int32_t home = pl::read(w.homes, {src, slot});
      pld::tensor::put(w.combined, src, w.computed, pld::AtomicType::Add,
                       {.dst_offsets = pl::Offsets{home, 0},
                        .src_offsets = pl::Offsets{row, 0},
                        .shape = pl::Shape{1, hidden}});
    }
    pld::system::notify(w.consumed, src, {my_rank, 0}, 1, pld::NotifyOp::AtomicAdd);
  }
}

// Row `token` of x is a token; row epoch * tokens + token of y its result in that epoch.
template <class T>
void moe(pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, MoeWindows<T> w, const Gate* gate,
         std::int32_t epochs) {
  const auto ctx = pld::get_comm_ctx(w.staged);
  const std::int32_t my_rank = pld::rank(ctx);
  const std::int32_t nranks = pld::nranks(ctx);
  const std::int64_t tokens = x.rows();
  const std::int64_t hidden = x.cols();

  for (std::int32_t epoch = 0; epoch < epochs; ++epoch) {
    dispatch_tokens(x, w, *gate, my_rank, nranks, epoch);
    serve_tokens(w, my_rank, nranks, epoch);
    for (std::int32_t expert = 0; expert < nranks; ++expert) {
      pld::system::wait(w.consumed, {expert, 0}, epoch + 1, pld::WaitCmp::Ge);
    }
    for (std::int64_t token = 0; token < tokens; ++token) {
      y = pl::store(pl::load(w.combined, {token, 0}, {1, hidden}), {epoch * tokens + token, 0}, y);
    }
  }
}

template <class T>
class MoeDispatchCombine final : public RowProgram<T> {
 public:
  explicit MoeDispatchCombine(const symrace::Arguments& arguments)
      : MoeDispatchCombine(arguments, arguments.integer("tokens"), arguments.integer("epochs")) {}

 private:
  MoeDispatchCombine(const symrace::Arguments& arguments, std::int64_t tokens, std::int64_t epochs)
      : RowProgram<T>(arguments, epochs * tokens * arguments.size, tokens * arguments.size),
        tokens_(tokens),
        epochs_(epochs),
        gate_(arguments.ranks, tokens, epochs, arguments.data_seed) {
    Matrix<T> golden(this->ranks(), epochs * tokens * this->size());
    for (std::int64_t r = 0; r < this->ranks(); ++r) {
      T* out = golden.row(r);
      for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
        for (std::int64_t token = 0; token < tokens; ++token) {
          for (std::int64_t i = 0; i < this->size(); ++i) {
            *out++ = result(epoch, r, token, this->input().row(r)[token * this->size() + i]);
          }
        }
      }
    }
    this->expect(std::move(golden));
  }

  // The sum of two is the same in either order, also of floats.
  T result(std::int64_t epoch, std::int64_t rank, std::int64_t token, T x) const {
    const auto times = [](T value, std::int32_t factor) {
      return pl::arithmetic::mul(value, pl::arithmetic::cast<T>(factor));
    };
    const T staged = times(x, factor_of_epoch(epoch));
    T sum{};
    for (std::int64_t k = 0; k < kExpertsOfToken; ++k) {
      const std::int32_t expert = gate_.expert(epoch, rank, token, k);
      sum = pl::arithmetic::add(sum, times(staged, factor_of_expert(expert)));
    }
    return sum;
  }

  void host(pld::Host& host) override {
    const std::int64_t n = this->ranks();
    const std::int64_t slots = tokens_ * kExpertsOfToken;
    const auto rows = [&](std::int64_t count, const char* name) {
      const pl::Shape shape{count, this->size()};
      return host.window<T>(host.alloc_window_buffer(shape, pl::dtype_of<T>(), name), shape);
    };
    const auto cells = [&](std::int64_t cols, const char* name) {
      const pl::Shape shape{n, cols};
      const auto buffer = host.alloc_window_buffer(shape, pl::DType::INT32, name);
      return host.window<std::int32_t>(buffer, shape);
    };
    const MoeWindows<T> windows{.staged = rows(n * slots, "staged"),
                                .received = rows(n * slots, "received"),
                                .computed = rows(n * slots, "computed"),
                                .combined = rows(tokens_, "combined"),
                                .origins = cells(slots, "origins"),
                                .homes = cells(slots, "homes"),
                                .counts = cells(1, "counts"),
                                .ready = cells(1, "ready"),
                                .consumed = cells(1, "consumed")};
    const Gate* gate = &gate_;
    for (std::int64_t r = 0; r < n; ++r) {
      host.dispatch(pld::device(r), moe<T>, this->x(r, tokens_), this->y(r, epochs_ * tokens_),
                    windows, gate, static_cast<std::int32_t>(epochs_));
    }
  }

  std::int64_t tokens_;
  std::int64_t epochs_;
  Gate gate_;
};

}  // namespace

const symrace::ProgramInfo kMoeDispatchCombine = {
    .name = "17_moe_dispatch_combine",
    .summary = "tokens go to experts on other ranks, and their results are added up at home",
    .default_size = 16,
    .flags = {{.name = "tokens",
               .kind = symrace::Flag::Kind::kInteger,
               .default_value = "4",
               .smallest = 1,
               .help = "tokens a rank, of --size elements each"},
              {.name = "epochs",
               .kind = symrace::Flag::Kind::kInteger,
               .default_value = "3",
               .smallest = 1,
               .help = "rounds over the same windows"}},
    .make = make_program<MoeDispatchCombine>,
    .sizes_a_row = [](const symrace::Arguments& a) -> std::int64_t {
      // Of a token: its input, its sum, an output and a golden an epoch, and in three windows a row
      // for each of two experts of each rank. Two cells go with each such row, and two choices of
      // the gate with each epoch; a cell may be as large as several rows.
      const std::int64_t cell =
          1 + 3 / symrace::saturating_product(a.size, pl::dtype_bytes(a.dtype));
      const std::int64_t epochs = std::min(a.integer("epochs"), std::int64_t{1} << 40);
      const std::int64_t rows = 2 + 2 * epochs + 6 * a.ranks + cell * (4 * a.ranks + 2 * epochs);
      return symrace::saturating_product(a.integer("tokens"), rows / 5 + 1);
    },
};

}  // namespace kernels
