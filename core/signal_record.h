// The distinct signals that one rank has sent, counted: what a deadlock report needs, cheap enough
// for every notify.
#ifndef SYMRACE_CORE_SIGNAL_RECORD_H_
#define SYMRACE_CORE_SIGNAL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <vector>

#include "core/fabric.h"

namespace symrace {

// A hash table, open addressing, that a new run empties by its number. Its owner alone writes it.
class SignalRecord {
 public:
  static constexpr std::size_t kMostEntries = 4096;

  struct Entry {
    std::uint32_t run = 0;  // in use when it is the record's
    std::uint32_t order = 0;
    std::source_location where;
    const Window* window = nullptr;
    std::uint64_t offset = 0;  // of the cell, in the slice
    std::uint64_t count = 0;
    std::int32_t target = 0;
    pld::NotifyOp op = pld::NotifyOp::AtomicAdd;
  };

  void begin() {
    ++run_;
    used_ = 0;
    is_complete_ = true;
  }

  void sent(std::int32_t target, const Cell& cell, pld::NotifyOp op,
            const std::source_location& where) {
    std::size_t at = hash(target, cell.offset, where.line()) & (entries_.size() - 1);
    while (entries_[at].run == run_) {
      Entry& entry = entries_[at];
      if (entry.offset == cell.offset && entry.target == target && entry.op == op &&
          entry.where.line() == where.line() && entry.where.file_name() == where.file_name()) {
        ++entry.count;
        return;
      }
      at = (at + 1) & (entries_.size() - 1);
    }
    add({run_, used_, where, cell.window, cell.offset, 1, target, op});
  }

  // Takes over the entries of another record that has begun as often.
  void restore(const std::vector<Entry>& entries, bool is_complete) {
    for (const Entry& entry : entries) add(entry);
    is_complete_ = is_complete;
  }

  // In the order of their first use; at most kMostEntries.
  std::vector<Entry> entries() const;
  // Whether entries() are all; a kernel that signals ever new cells is recorded so far only.
  bool is_complete() const { return is_complete_; }

 private:
  static constexpr std::size_t kFewest = 32;
  static constexpr std::size_t kMost = 2 * kMostEntries;

  static std::size_t hash(std::int32_t target, std::uint64_t offset, std::uint32_t line) {
    const std::uint64_t key = offset / sizeof(std::int32_t) + static_cast<std::uint64_t>(line) * 31;
    return (key + static_cast<std::uint64_t>(target) * 0x9e3779b1) * 0x9e3779b97f4a7c15 >> 32;
  }
  void add(const Entry& entry);

  std::vector<Entry> entries_ = std::vector<Entry>(kFewest);  // a power of two, never full
  std::uint32_t run_ = 0;
  std::uint32_t used_ = 0;
  bool is_complete_ = true;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_SIGNAL_RECORD_H_
