#include "core/signal_record.h"

#include <algorithm>

namespace symrace {

void SignalRecord::add(const Entry& entry) {
  // At most half full, so that a look-up is short.
  if (2 * (used_ + std::size_t{1}) > entries_.size()) {
    if (entries_.size() == kMost) {
      is_complete_ = false;
      return;
    }
    const std::vector<Entry> old = entries();
    entries_.assign(entries_.size() * 2, {});
    used_ = 0;
    for (const Entry& again : old) add(again);
  }
  std::size_t at = hash(entry.target, entry.offset, entry.where.line()) & (entries_.size() - 1);
  while (entries_[at].run == run_) at = (at + 1) & (entries_.size() - 1);
  entries_[at] = entry;
  entries_[at].order = used_++;
}

std::vector<SignalRecord::Entry> SignalRecord::entries() const {
  std::vector<Entry> used;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(used),
               [this](const Entry& entry) { return entry.run == run_; });
  std::sort(used.begin(), used.end(),
            [](const Entry& a, const Entry& b) { return a.order < b.order; });
  return used;
}

}  // namespace symrace
