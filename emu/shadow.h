// Shadow state of every slice: for each interval of bytes, the accesses that a later one may race
// with, and the clock of a signal cell. Intervals are split at the edges of what is accessed, so
// that a strided sub-tile is not its bounding box; they live in pages, so that an access costs what
// it touches and a reset costs what was touched. A page of nothing but cells, as a signal window
// has it, keeps them side by side in the order of their offsets, so that nothing is searched, and
// whoever waits for one after the other goes through memory in its order.
#ifndef SYMRACE_EMU_SHADOW_H_
#define SYMRACE_EMU_SHADOW_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/region.h"
#include "emu/chunked_pool.h"
#include "emu/clock.h"

namespace emu {

// The clock of a signal cell: what a wait that sees its value comes after. While all signals came
// from one rank it is that rank's snapshot, how many pieces the last signal released, and that
// signal itself.
struct CellClock {
  std::uint32_t snapshot = ClockTable::kNone;
  std::int32_t rank = -1;  // -1: of several ranks, all in `snapshot`
  std::uint32_t released = 0;
  std::uint32_t unreleased_signal = 0;  // its time, where later signals do not release it; 0: none
};

// One access that a later one may race with. Thirty-two bytes: at a thousand ranks there are
// millions.
struct ShadowEntry {
  Instant instant;               // when it happened, and whose it is
  std::uint32_t site = 0;        // of AccessSites: what it has in common with others
  std::uint32_t number = 0;      // of a transfer its piece; else of the schedule's accesses
  std::uint32_t event = 0;       // as in Access
  std::int32_t value = 0;        // likewise
  std::uint32_t offset_low = 0;  // of its region
};
static_assert(sizeof(ShadowEntry) == 32);

// The entries of an interval. Two are at hand, since most intervals are cells with their last
// signal and their last wait; memory for more is kept for the schedules to come.
class ShadowEntries {
 public:
  std::uint32_t size() const { return size_; }
  ShadowEntry* data() { return more_ == nullptr ? few_.data() : more_.get(); }
  const ShadowEntry* data() const { return more_ == nullptr ? few_.data() : more_.get(); }
  void truncate(std::uint32_t size) { size_ = size; }
  void push_back(const ShadowEntry& entry) {
    if (size_ == capacity_) grow();
    data()[size_++] = entry;
  }
  void assign(const ShadowEntries& other);

 private:
  void grow();

  std::array<ShadowEntry, 2> few_;
  std::unique_ptr<ShadowEntry[]> more_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 2;
};

struct ShadowState {
  ShadowEntries entries;
  CellClock cell;

  void forget() {
    entries.truncate(0);
    cell = {};
  }
};

class Shadow {
 public:
  explicit Shadow(ClockTable& clocks) : clocks_(clocks) {}

  // Forgets everything; slices have `bytes` bytes now.
  void begin(std::int32_t ranks, std::uint64_t bytes);

  // Calls visit(state) for each interval of `region` in `rank`'s slice, making those that are new.
  template <class Visit>
  void for_each(std::int32_t rank, const symrace::WindowRegion& region, Visit&& visit) {
    const symrace::Extent& extent = region.extent;
    if (extent.contiguous()) {
      run(rank, region.offset, region.offset + static_cast<std::uint64_t>(extent.bytes()), visit);
      return;
    }
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      const std::uint64_t begin = region.offset + static_cast<std::uint64_t>(row * extent.stride);
      run(rank, begin, begin + static_cast<std::uint64_t>(extent.row_bytes), visit);
    }
  }

  // The state of the four bytes of a cell.
  ShadowState& cell(std::int32_t rank, std::uint64_t offset);

  // Accesses that are kept at most, counted once an interval; for what memory is asked to be.
  std::size_t entries() const;

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Interval {
    std::uint16_t begin = 0, end = 0;  // in the page
    std::uint32_t state = 0;
  };
  // States of neighbouring cells: not of a whole page, of which often only some are touched.
  static constexpr std::uint32_t kCellBytes = 4;
  static constexpr std::uint32_t kBlockCells = 16;
  using CellBlock = std::array<ShadowState, kBlockCells>;
  struct CellPage {
    struct Block {
      std::uint32_t at = 0;       // of cell_blocks_, where any is used
      std::uint32_t is_used = 0;  // a bit a cell
    };
    std::array<Block, kPageBytes / (kCellBytes * kBlockCells)> blocks;
  };
  struct Page {
    enum class Form : std::uint8_t {
      kFew,        // intervals, and few of them
      kCells,      // many, all of them cells: `cells` has them
      kIntervals,  // for good
    };
    Form form = Form::kFew;
    std::uint32_t cells = 0;          // of cell_pages_
    std::uint32_t latest = 0;         // where the last one asked for was: mostly it is asked again
    std::vector<Interval> intervals;  // sorted, disjoint
  };

  Page& page(std::int32_t rank, std::uint64_t number);
  // The state of [begin, end), where the page is one of cells and this is a cell; else null, and
  // intervals have all there is.
  ShadowState* cell_of(Page& page, std::uint32_t begin, std::uint32_t end) {
    if (page.form == Page::Form::kFew && page.intervals.size() >= kBlockCells) gather(page);
    if (page.form != Page::Form::kCells) return nullptr;
    if (end - begin == kCellBytes && begin % kCellBytes == 0) {
      return &cell_state(cell_pages_[page.cells], begin / kCellBytes);
    }
    spread(page);
    return nullptr;
  }
  ShadowState& cell_state(CellPage& cells, std::uint32_t cell) {
    CellPage::Block& block = cells.blocks[cell / kBlockCells];
    const std::uint32_t bit = std::uint32_t{1} << cell % kBlockCells;
    if ((block.is_used & bit) == 0) use_cell(block, bit);
    return cell_blocks_[block.at][cell % kBlockCells];
  }
  void use_cell(CellPage::Block& block, std::uint32_t bit);
  // Makes cells of a page's intervals where they are; and intervals of cells.
  void gather(Page& page);
  void spread(Page& page);
  std::uint32_t new_state();
  std::uint32_t copy_state(std::uint32_t from);
  // Makes intervals that cover exactly [begin, end); returns the index of the first.
  std::size_t carve(Page& page, std::uint32_t begin, std::uint32_t end) {
    if (page.latest < page.intervals.size()) {
      const Interval& latest = page.intervals[page.latest];
      if (latest.begin == begin && latest.end == end) return page.latest;
    }
    const std::size_t first = carve_anew(page.intervals, begin, end);
    page.latest = static_cast<std::uint32_t>(first);
    return first;
  }
  std::size_t carve_anew(std::vector<Interval>& intervals, std::uint32_t begin, std::uint32_t end);

  template <class Visit>
  void run(std::int32_t rank, std::uint64_t begin, std::uint64_t end, Visit& visit) {
    while (begin < end) {
      const std::uint64_t number = begin / kPageBytes;
      const std::uint64_t page_begin = number * kPageBytes;
      const std::uint64_t page_end = std::min(end, page_begin + kPageBytes);
      Page& of_bytes = page(rank, number);
      const std::vector<Interval>& intervals = of_bytes.intervals;
      const auto from = static_cast<std::uint32_t>(begin - page_begin);
      const auto to = static_cast<std::uint32_t>(page_end - page_begin);
      begin = page_end;
      if (ShadowState* const cell = cell_of(of_bytes, from, to)) {
        visit(*cell);
        continue;
      }
      for (std::size_t i = carve(of_bytes, from, to); i < intervals.size(); ++i) {
        if (intervals[i].begin >= to) break;
        visit(states_[intervals[i].state]);
      }
    }
  }

  ClockTable& clocks_;
  std::uint64_t pages_a_slice_ = 0;
  std::vector<std::uint32_t> page_of_;  // by slice and page number; kNone: untouched
  std::vector<std::size_t> touched_;    // indices into page_of_
  std::vector<Page> pages_;
  std::size_t used_pages_ = 0;
  ChunkedPool<ShadowState> states_;
  std::size_t used_states_ = 0;
  ChunkedPool<CellPage> cell_pages_;
  std::size_t used_cell_pages_ = 0;
  ChunkedPool<CellBlock> cell_blocks_;
  std::size_t used_cell_blocks_ = 0;
};

}  // namespace emu

#endif  // SYMRACE_EMU_SHADOW_H_
