// HeapReader: a look at a named heap from another process, that trusts nothing it finds there.
#ifndef SYMRACE_CORE_HEAP_READER_H_
#define SYMRACE_CORE_HEAP_READER_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/heap_header.h"

namespace symrace {

// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  int get() const { return number_; }

 private:
  int number_;
};

class HeapReader {
 public:
  enum class State : std::uint8_t {
    kRunning,
    kEnded,
    kStale,  // the owner has died without a word
  };

  // Opens the object without following links or waiting for anyone, and checks it: a regular file
  // of this user's which others may not open, with a header that adds up and the size that it
  // tells. InvalidArgument for what is no name, NotFound, or FailedPrecondition with what is wrong.
  static absl::StatusOr<HeapReader> open(std::string_view name);

  // As the header was when the heap was opened.
  const HeapLayout& layout() const { return layout_; }
  State state() const { return state_; }

  // Copies bytes of a slice as they are at this moment; of a heap whose owner runs, the next ones
  // may be newer. OutOfRange for what is not in the used part of a slice; DataLoss when the object
  // no longer has its size. It is never mapped, so that no truncation can raise a SIGBUS.
  absl::Status read(std::int32_t rank, std::uint64_t offset, std::span<std::byte> to) const;

 private:
  HeapReader(Descriptor object, HeapLayout layout, State state);

  Descriptor object_;
  HeapLayout layout_;
  State state_;
};

// The checks of HeapReader::open() but for what the object holds.
absl::StatusOr<Descriptor> open_heap_object(std::string_view name);

}  // namespace symrace

#endif  // SYMRACE_CORE_HEAP_READER_H_
