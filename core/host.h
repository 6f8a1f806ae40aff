// Host orchestration: allocates windows and dispatches one kernel a rank.
#ifndef SYMRACE_CORE_HOST_H_
#define SYMRACE_CORE_HOST_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/heap.h"
#include "core/tensor.h"

namespace symrace {

namespace internal {

// Whether an argument, or a kernel itself, may lead a kernel to memory of the host that it can
// change, as far as its type tells.
template <class T>
inline constexpr bool kLeadsToHost =
    std::is_pointer_v<T> && !std::is_const_v<std::remove_pointer_t<T>> &&
    !std::is_function_v<std::remove_pointer_t<T>>;
template <class T>
inline constexpr bool kLeadsToHost<std::reference_wrapper<T>> = !std::is_const_v<T>;
template <class Kernel>
inline constexpr bool kCaptures =
    std::is_pointer_v<Kernel> ? kLeadsToHost<Kernel> : !std::is_empty_v<Kernel>;

template <class T>
void add_output(const T&, std::vector<PrivateRegion>&) {}
template <pl::Element T>
void add_output(const pl::Out<pl::Tensor<T>>& out, std::vector<PrivateRegion>& outputs) {
  if (!out.storage()) outputs.push_back(out.region(0, 0, out.rows(), out.cols()));
}

}  // namespace internal

// A kernel with its arguments, stored in place: dispatching allocates nothing.
class Task {
 public:
  static constexpr std::size_t kCapacity = 1024;

  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { clear(); }

  // Keeps `kernel` and its arguments; each run() gives the kernel copies.
  template <class Kernel, class... Args>
  void assign(Kernel kernel, const Args&... args) {
    struct Closure {
      Kernel kernel;
      std::tuple<Args...> arguments;
    };
    static_assert(sizeof(Closure) <= kCapacity && alignof(Closure) <= alignof(std::max_align_t),
                  "kernel arguments are too large: pass big values by pointer");
    clear();
    new (storage_) Closure{std::move(kernel), std::tuple<Args...>(args...)};
    run_ = [](void* object) {
      auto* closure = static_cast<Closure*>(object);
      std::apply(closure->kernel, std::as_const(closure->arguments));
    };
    outputs_ = [](const void* object) {
      std::vector<PrivateRegion> outputs;
      std::apply([&](const auto&... argument) { (internal::add_output(argument, outputs), ...); },
                 static_cast<const Closure*>(object)->arguments);
      return outputs;
    };
    writes_outputs_only_ =
        !internal::kCaptures<Kernel> && !(internal::kLeadsToHost<Args> || ... || false);
    destroy_ = [](void* object) { static_cast<Closure*>(object)->~Closure(); };
    move_ = [](void* from, void* to) { new (to) Closure(std::move(*static_cast<Closure*>(from))); };
  }
  // Takes over what `other` was assigned, and clears it.
  void take(Task& other) {
    clear();
    if (other.move_ != nullptr) other.move_(other.storage_, storage_);
    run_ = other.run_;
    outputs_ = other.outputs_;
    writes_outputs_only_ = other.writes_outputs_only_;
    destroy_ = other.destroy_;
    move_ = other.move_;
    other.clear();
  }
  void run() { run_(storage_); }
  // The memory of its pl::Out arguments.
  std::vector<PrivateRegion> outputs() const { return outputs_(storage_); }
  // Whether they are all memory of the host that the kernel can write: it captures nothing, and no
  // argument points to something that is not const. (What a struct holds, types do not tell.)
  bool writes_outputs_only() const { return writes_outputs_only_; }
  void clear() {
    if (destroy_ != nullptr) destroy_(storage_);
    destroy_ = nullptr;
    run_ = nullptr;
    move_ = nullptr;
  }
  explicit operator bool() const { return run_ != nullptr; }

 private:
  alignas(std::max_align_t) std::byte storage_[kCapacity];
  void (*run_)(void*) = nullptr;
  std::vector<PrivateRegion> (*outputs_)(const void*) = nullptr;
  bool writes_outputs_only_ = false;
  void (*destroy_)(void*) = nullptr;
  void (*move_)(void* from, void* to) = nullptr;
};

}  // namespace symrace

namespace pld {

// device(r): which rank a dispatch is for, as `device=r` in the documents.
struct Device {
  pl::Index rank;
};
inline Device device(pl::Index rank) { return {rank}; }

// A window buffer on every rank, not yet given a shape.
struct WindowBuffer {
  const symrace::Window* window = nullptr;
};

class Host {
 public:
  using Location = std::source_location;

  explicit Host(symrace::SymmetricHeap& heap);

  std::int32_t world_size() const { return heap_.ranks(); }

  // The same offset on every rank, zero-filled, at least 4 KiB. `name` (a literal) appears in
  // reports. Throws KernelError for sizes <= 0 and when the heap is full.
  WindowBuffer alloc_window_buffer(std::int64_t bytes, const char* name = nullptr,
                                   Location where = Location::current());
  WindowBuffer alloc_window_buffer(pl::Shape shape, pl::DType dtype, const char* name = nullptr,
                                   Location where = Location::current());

  // The buffer seen as a tensor. Throws KernelError when the shape does not fit its bytes.
  template <pl::Element T>
  DistributedTensor<T> window(const WindowBuffer& buffer, pl::Shape shape,
                              Location where = Location::current()) {
    check_window(buffer, shape, pl::dtype_of<T>(), where);
    return {buffer.window, shape.rows.value(), shape.cols.value()};
  }

  // Runs `kernel(args...)` on a rank once orchestration is over. Every rank needs exactly one.
  template <class Kernel, class... Args>
  void dispatch(Device device, Kernel kernel, const Args&... args) {
    task_for(device).template assign<Kernel, std::decay_t<const Args&>...>(std::move(kernel),
                                                                           args...);
  }

  // --- For engines ---
  // Forgets windows and dispatches of the previous schedule; the heap must be zero again.
  void begin_schedule();
  // FailedPrecondition unless every rank was dispatched exactly once.
  absl::Status check_dispatches() const;
  symrace::Task& task(std::int32_t rank) { return tasks_[static_cast<std::size_t>(rank)]; }
  const std::deque<symrace::Window>& windows() const { return windows_; }
  std::size_t window_count() const { return window_count_; }

 private:
  symrace::Task& task_for(Device device);
  void check_window(const WindowBuffer& buffer, pl::Shape shape, pl::DType dtype, Location where);
  // The first one counts.
  void set_shape(const WindowBuffer& buffer, pl::Shape shape, pl::DType dtype);

  symrace::SymmetricHeap& heap_;
  std::deque<symrace::Window> windows_;  // deque: views point at its elements
  std::deque<std::string> default_names_;
  std::size_t window_count_ = 0;
  std::vector<symrace::Task> tasks_;
  std::int32_t dispatched_ = 0;
  std::optional<std::int64_t> surplus_device_;  // first dispatched twice, or that does not exist
};

}  // namespace pld

#endif  // SYMRACE_CORE_HOST_H_
