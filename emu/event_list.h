// The events of a run, in order, in some fifteen bytes each: a run of a thousand ranks has
// millions.
//
// What events have in common (op, line, shape, window) is kept once, and each event as the number
// of that and what is its own, in bytes of seven bits. Events are made again when they are read: in
// order at little cost, one by its index within a short walk.
#ifndef SYMRACE_EMU_EVENT_LIST_H_
#define SYMRACE_EMU_EVENT_LIST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <source_location>
#include <unordered_map>
#include <vector>

#include "core/fabric.h"

namespace emu {

struct Event {
  // The values are part of the trace hash: append, never renumber.
  enum class Kind : std::uint8_t {
    kIssue,   // a rank posted a transfer; `piece` is its first piece
    kLand,    // a piece took effect at its target
    kAct,     // an op took effect in the rank's own step (read, wait, fence, SC write)
    kTake,    // a deferred read took its value
    kFinish,  // a rank's kernel returned
  };
  Kind kind = Kind::kAct;
  symrace::OpKind op = symrace::OpKind::kLoad;
  std::int32_t rank = 0;     // who issued it
  std::int32_t target = 0;   // whose slice
  std::int32_t window = -1;  // index, or none
  pl::DType dtype = pl::DType::INT32;
  std::uint32_t piece = 0;   // as in Decision; 0: none
  std::uint64_t offset = 0;  // in the window, bytes
  std::int64_t rows = 0, row_bytes = 0, stride = 0;
  std::int64_t value = 0;       // of a signal: what was added, set, expected or seen
  std::uint64_t data_hash = 0;  // XXH3 of the bytes moved; 0: none
  // Not part of the hash.
  std::source_location where;
  symrace::OpKind primitive = symrace::OpKind::kLoad;  // `op`, or what a collective did
  bool sets = false;                                   // a signal by NotifyOp::Set

  // A collective takes back what its own cell has counted.
  bool clears() const {
    return symrace::is_collective(op) && primitive == symrace::OpKind::kNotify &&
           kind == Kind::kAct && target == rank;
  }
};

class EventList {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using pointer = const Event*;
    using reference = Event;

    Iterator() = default;
    Event operator*() const;
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    friend class EventList;
    Iterator(const EventList& list, std::size_t index, const std::uint8_t* at)
        : list_(&list), index_(index), at_(at) {}

    const EventList* list_ = nullptr;
    std::size_t index_ = 0;
    const std::uint8_t* at_ = nullptr;
  };

  void push_back(const Event& event);
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Event operator[](std::size_t index) const { return *at(index); }
  Iterator begin() const { return at(0); }
  Iterator end() const { return {*this, size_, nullptr}; }

 private:
  static constexpr std::size_t kStretch = 32;  // events that are walked over at most
  static constexpr std::size_t kPageBytes = 64 * 1024;
  static constexpr std::size_t kMostBytes = 80;  // of one event
  static constexpr std::size_t kCached = 64;

  // What an event shares with others: those fields of it that stay when the rest is cleared.
  using Kind = Event;
  static bool same_kind(const Kind& kind, const Event& event);
  std::uint32_t kind_of(const Event& event);
  // The event of a non-empty list from which an index is reached.
  Iterator at(std::size_t index) const;
  const std::uint8_t* stretch(std::size_t number) const;

  // Each stretch lies in one page.
  struct Place {
    std::uint32_t page;
    std::uint32_t byte;
  };

  std::size_t size_ = 0;
  std::vector<std::vector<std::uint8_t>> pages_;
  std::vector<Place> stretches_;
  std::vector<Kind> kinds_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> kinds_by_hash_;
  std::array<std::uint32_t, kCached> cache_{};
};

}  // namespace emu

#endif  // SYMRACE_EMU_EVENT_LIST_H_
