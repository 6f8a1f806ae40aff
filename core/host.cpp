#include "core/host.h"

#include <absl/strings/str_cat.h>

#include <limits>

#include "core/error.h"

namespace pld {
namespace {

[[noreturn]] void fail(const std::source_location& where, const std::string& message) {
  throw symrace::KernelError(absl::StrCat(symrace::short_location(where), ": host: ", message),
                             where);
}

// rows * cols * element_bytes, or -1 when that, or a row of no rows, is no int64.
std::int64_t shape_bytes(pl::Shape shape, std::int64_t element_bytes) {
  std::int64_t row_bytes = 0;
  std::int64_t bytes = 0;
  if (shape.rows.value() < 0 || shape.cols.value() < 0 ||
      __builtin_mul_overflow(shape.cols.value(), element_bytes, &row_bytes) ||
      __builtin_mul_overflow(shape.rows.value(), row_bytes, &bytes)) {
    return -1;
  }
  return bytes;
}

}  // namespace

Host::Host(symrace::SymmetricHeap& heap)
    : heap_(heap), tasks_(static_cast<std::size_t>(heap.ranks())) {}

WindowBuffer Host::alloc_window_buffer(std::int64_t bytes, const char* name, Location where) {
  absl::StatusOr<std::uint64_t> offset = heap_.allocate(bytes);
  if (!offset.ok()) {
    fail(where, absl::StrCat("alloc_window_buffer: ", offset.status().message()));
  }
  if (window_count_ == windows_.size()) {
    windows_.emplace_back();
    default_names_.push_back(absl::StrCat("window", window_count_));
  }
  symrace::Window& window = windows_[window_count_];
  window = {*offset, static_cast<std::uint64_t>(bytes), static_cast<std::int32_t>(window_count_),
            name != nullptr ? name : default_names_[window_count_].c_str()};
  ++window_count_;
  return {&window};
}

WindowBuffer Host::alloc_window_buffer(pl::Shape shape, pl::DType dtype, const char* name,
                                       Location where) {
  const std::int64_t bytes = shape_bytes(shape, pl::dtype_bytes(dtype));
  if (bytes <= 0) {
    fail(where,
         absl::StrCat("alloc_window_buffer: shape [", shape.rows.value(), ", ", shape.cols.value(),
                      "]; expected positive extents whose bytes fit "
                      "64 bits"));
  }
  const WindowBuffer buffer = alloc_window_buffer(bytes, name, where);
  set_shape(buffer, shape, dtype);
  return buffer;
}

void Host::check_window(const WindowBuffer& buffer, pl::Shape shape, pl::DType dtype,
                        Location where) {
  if (buffer.window == nullptr) {
    fail(where, "window of no buffer; call alloc_window_buffer first");
  }
  const std::int64_t element_bytes = pl::dtype_bytes(dtype);
  const std::int64_t bytes = shape_bytes(shape, element_bytes);
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) > buffer.window->bytes) {
    fail(where, absl::StrCat("window '", buffer.window->name, "': shape [", shape.rows.value(),
                             ", ", shape.cols.value(), "] of ", element_bytes,
                             "-byte elements does not fit its ", buffer.window->bytes,
                             " bytes; allocate more, or view less"));
  }
  set_shape(buffer, shape, dtype);
}

void Host::set_shape(const WindowBuffer& buffer, pl::Shape shape, pl::DType dtype) {
  symrace::Window& window = windows_[static_cast<std::size_t>(buffer.window->index)];
  if (window.rows != 0) return;
  window.rows = shape.rows.value();
  window.cols = shape.cols.value();
  window.dtype = dtype;
}

symrace::Task& Host::task_for(Device device) {
  ++dispatched_;
  const std::int64_t rank = device.rank.value();
  const bool exists = rank >= 0 && rank < world_size();
  if (!surplus_device_ && (!exists || tasks_[static_cast<std::size_t>(rank)])) {
    surplus_device_ = rank;
  }
  // A surplus dispatch overwrites; check_dispatches() then fails the run before anything starts.
  return tasks_[exists ? static_cast<std::size_t>(rank) : 0];
}

void Host::begin_schedule() {
  heap_.forget_allocations();
  window_count_ = 0;
  for (symrace::Task& task : tasks_) task.clear();
  dispatched_ = 0;
  surplus_device_.reset();
}

absl::Status Host::check_dispatches() const {
  if (surplus_device_) {
    const bool exists = *surplus_device_ >= 0 && *surplus_device_ < world_size();
    return absl::FailedPreconditionError(absl::StrCat(
        "host: ", dispatched_, " dispatches for ", world_size(), " ranks: device ",
        *surplus_device_, exists ? " was dispatched more than once" : " does not exist",
        "; dispatch each device in [0, ", world_size(), ") exactly once"));
  }
  for (std::int32_t rank = 0; rank < world_size(); ++rank) {
    if (!tasks_[static_cast<std::size_t>(rank)]) {
      return absl::FailedPreconditionError(absl::StrCat(
          "host: ", dispatched_, " dispatches for ", world_size(), " ranks: device ", rank,
          " has none; dispatch each device in [0, ", world_size(), ") exactly once"));
    }
  }
  return absl::OkStatus();
}

}  // namespace pld
