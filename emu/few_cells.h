// Pages of the slices of which only a few cells were ever written: their values are kept here, and
// the page itself stays untouched, so that a signal window with a cell here and there costs no page
// of shared memory for each. Not for small windows, whose pages cost nothing to speak of.
#ifndef SYMRACE_EMU_FEW_CELLS_H_
#define SYMRACE_EMU_FEW_CELLS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/heap.h"

namespace emu {

class FewCells {
 public:
  static constexpr std::uint64_t kPageBytes = symrace::kWindowFloorBytes;

  // Of slices of `slice_bytes`; all is zero, and nothing in use.
  void begin(std::int32_t ranks, std::uint64_t slice_bytes) {
    constexpr std::uint64_t kManyPages = 8192;
    pages_a_slice_ = slice_bytes / kPageBytes;
    const std::uint64_t pages = static_cast<std::uint64_t>(ranks) * pages_a_slice_;
    is_used_ = pages >= kManyPages;
    if (is_used_ && page_state_.size() < pages) page_state_.resize(pages, kUntouched);
  }
  bool is_used() const { return is_used_; }
  // Forgets all cells, and that pages are in use.
  void clear() {
    for (const std::uint64_t page : touched_) page_state_[page] = kUntouched;
    touched_.clear();
    used_ = 0;
  }

  // The value of a cell, where its page is not in use.
  std::optional<std::int32_t> value(std::int32_t rank, std::uint64_t offset) const {
    const std::uint32_t state = page_state_[page_of(rank, offset)];
    if (state == kInUse) return std::nullopt;
    if (state == kUntouched) return 0;
    const Record& record = records_[state];
    for (std::uint32_t i = 0; i < record.count; ++i) {
      if (record.offsets[i] == offset % kPageBytes) return record.values[i];
    }
    return 0;
  }
  // Whether a new value of a cell could be kept here.
  bool keep(std::int32_t rank, std::uint64_t offset, std::int32_t value) {
    const std::uint64_t page = page_of(rank, offset);
    std::uint32_t& state = page_state_[page];
    if (state == kInUse) return false;
    if (state == kUntouched) {
      touched_.push_back(page);
      state = used_++;
      if (state == records_.size()) records_.emplace_back();
      records_[state].count = 0;
    }
    Record& record = records_[state];
    std::uint32_t i = 0;
    while (i < record.count && record.offsets[i] != offset % kPageBytes) ++i;
    if (i == kCells) return false;
    record.offsets[i] = static_cast<std::uint16_t>(offset % kPageBytes);
    record.values[i] = value;
    if (i == record.count) ++record.count;
    return true;
  }
  // Pages of [offset, end) are in use from now on: calls write(offset, value) for each cell that
  // was kept of them.
  template <class Write>
  void use(std::int32_t rank, std::uint64_t offset, std::uint64_t end, Write&& write) {
    if (offset >= end) return;
    const std::uint64_t last = page_of(rank, end - 1);
    for (std::uint64_t page = page_of(rank, offset); page <= last; ++page) {
      if (page_state_[page] == kUntouched) touched_.push_back(page);
      use_page(page, write);
    }
  }
  // The same of every page with kept cells: calls write(rank, offset, value).
  template <class Write>
  void use_all(Write&& write) {
    for (const std::uint64_t page : touched_) {
      const auto rank = static_cast<std::int32_t>(page / pages_a_slice_);
      use_page(page, [&](std::uint64_t offset, std::int32_t value) { write(rank, offset, value); });
    }
  }

 private:
  static constexpr std::uint32_t kUntouched = ~std::uint32_t{0};
  static constexpr std::uint32_t kInUse = kUntouched - 1;
  static constexpr std::size_t kCells = 4;

  struct Record {
    std::uint32_t count = 0;
    std::array<std::uint16_t, kCells> offsets{};
    std::array<std::int32_t, kCells> values{};
  };

  template <class Write>
  void use_page(std::uint64_t page, Write&& write) {
    const std::uint32_t state = page_state_[page];
    page_state_[page] = kInUse;
    if (state == kInUse || state == kUntouched) return;
    const Record& record = records_[state];
    for (std::uint32_t i = 0; i < record.count; ++i) {
      write(page % pages_a_slice_ * kPageBytes + record.offsets[i], record.values[i]);
    }
  }
  std::uint64_t page_of(std::int32_t rank, std::uint64_t offset) const {
    return static_cast<std::uint64_t>(rank) * pages_a_slice_ + offset / kPageBytes;
  }

  bool is_used_ = false;
  std::uint64_t pages_a_slice_ = 0;
  std::vector<std::uint32_t> page_state_;  // or the page's record
  std::vector<std::uint64_t> touched_;     // pages whose state is not kUntouched
  std::vector<Record> records_;
  std::uint32_t used_ = 0;  // records
};

}  // namespace emu

#endif  // SYMRACE_EMU_FEW_CELLS_H_
