#include "emu/shadow.h"

#include <bit>
#include <utility>

namespace emu {
namespace {

// An offset in a page.
std::uint16_t narrow(std::uint32_t offset) { return static_cast<std::uint16_t>(offset); }

}  // namespace

void ShadowEntries::grow() {
  auto more = std::make_unique<ShadowEntry[]>(capacity_ * 2U);
  std::copy_n(data(), size_, more.get());
  more_ = std::move(more);
  capacity_ *= 2;
}

void ShadowEntries::assign(const ShadowEntries& other) {
  size_ = 0;
  for (std::uint32_t i = 0; i < other.size_; ++i) push_back(other.data()[i]);
}

void Shadow::begin(std::int32_t ranks, std::uint64_t bytes) {
  for (const std::size_t index : touched_) page_of_[index] = kNone;
  touched_.clear();
  used_pages_ = 0;
  used_states_ = 0;
  used_cell_pages_ = 0;
  used_cell_blocks_ = 0;
  pages_a_slice_ = (bytes + kPageBytes - 1) / kPageBytes;
  const std::size_t wanted = static_cast<std::size_t>(ranks) * pages_a_slice_;
  if (page_of_.size() < wanted) page_of_.resize(wanted, kNone);
}

Shadow::Page& Shadow::page(std::int32_t rank, std::uint64_t number) {
  const std::size_t index =
      static_cast<std::size_t>(rank) * pages_a_slice_ + static_cast<std::size_t>(number);
  if (page_of_[index] == kNone) {
    page_of_[index] = static_cast<std::uint32_t>(used_pages_);
    touched_.push_back(index);
    if (used_pages_ == pages_.size()) pages_.emplace_back();
    Page& fresh = pages_[used_pages_++];
    fresh.form = Page::Form::kFew;
    fresh.latest = 0;
    fresh.intervals.clear();
  }
  return pages_[page_of_[index]];
}

std::uint32_t Shadow::new_state() {
  states_.grow_to(used_states_ + 1);
  states_[used_states_].forget();
  return static_cast<std::uint32_t>(used_states_++);
}

void Shadow::use_cell(CellPage::Block& block, std::uint32_t bit) {
  if (block.is_used == 0) {
    cell_blocks_.grow_to(used_cell_blocks_ + 1);
    block.at = static_cast<std::uint32_t>(used_cell_blocks_++);
  }
  block.is_used |= bit;
  cell_blocks_[block.at][static_cast<std::size_t>(std::countr_zero(bit))].forget();
}

void Shadow::gather(Page& page) {
  const bool are_cells =
      std::all_of(page.intervals.begin(), page.intervals.end(), [](const Interval& interval) {
        return interval.end - interval.begin == kCellBytes && interval.begin % kCellBytes == 0;
      });
  page.form = are_cells ? Page::Form::kCells : Page::Form::kIntervals;
  if (!are_cells) return;
  cell_pages_.grow_to(used_cell_pages_ + 1);
  page.cells = static_cast<std::uint32_t>(used_cell_pages_++);
  CellPage& cells = cell_pages_[page.cells];
  cells = {};
  for (const Interval& interval : page.intervals) {
    std::swap(cell_state(cells, interval.begin / kCellBytes), states_[interval.state]);
  }
  page.intervals.clear();
}

void Shadow::spread(Page& page) {
  page.form = Page::Form::kIntervals;
  page.latest = 0;
  CellPage& cells = cell_pages_[page.cells];
  for (std::uint32_t cell = 0; cell < kPageBytes / kCellBytes; ++cell) {
    if ((cells.blocks[cell / kBlockCells].is_used >> cell % kBlockCells & 1) == 0) continue;
    const std::uint32_t state = new_state();
    std::swap(cell_state(cells, cell), states_[state]);
    page.intervals.push_back({narrow(cell * kCellBytes), narrow((cell + 1) * kCellBytes), state});
  }
}

std::uint32_t Shadow::copy_state(std::uint32_t from) {
  const std::uint32_t to = new_state();
  states_[to].entries.assign(states_[from].entries);
  states_[to].cell = states_[from].cell;
  if (states_[to].cell.snapshot != ClockTable::kNone) clocks_.hold(states_[to].cell.snapshot);
  return to;
}

std::size_t Shadow::carve_anew(std::vector<Interval>& page, std::uint32_t begin,
                               std::uint32_t end) {
  // Cells are mostly spread evenly: the search begins near where it should end.
  std::size_t low = page.size() * begin / kPageBytes;
  std::size_t high = low;
  for (std::size_t step = 1; low > 0 && page[low - 1].end > begin; step *= 2) {
    high = low;
    low -= std::min(low, step);
  }
  for (std::size_t step = 1; high < page.size() && page[high].end <= begin; step *= 2) {
    low = high + 1;
    high = std::min(page.size(), high + step);
  }
  auto at = std::lower_bound(page.begin() + static_cast<std::ptrdiff_t>(low),
                             page.begin() + static_cast<std::ptrdiff_t>(high), begin,
                             [](const Interval& i, std::uint32_t b) { return i.end <= b; });
  if (at != page.end() && at->begin == begin && at->end == end) {
    return static_cast<std::size_t>(at - page.begin());
  }
  if (at != page.end() && at->begin < begin) {  // split off what lies before
    const Interval before{at->begin, narrow(begin), at->state};
    at->begin = narrow(begin);
    at->state = copy_state(before.state);
    at = page.insert(at, before) + 1;
  }
  const auto first = at - page.begin();
  for (std::uint32_t from = begin; from < end; ++at) {
    if (at == page.end() || at->begin > from) {  // a gap
      const std::uint32_t to = at == page.end() ? end : std::min<std::uint32_t>(end, at->begin);
      at = page.insert(at, Interval{narrow(from), narrow(to), new_state()});
    } else if (at->end > end) {  // split off what lies behind
      const Interval behind{narrow(end), at->end, copy_state(at->state)};
      at->end = narrow(end);
      at = page.insert(at + 1, behind) - 1;
    }
    from = at->end;
  }
  return static_cast<std::size_t>(first);
}

ShadowState& Shadow::cell(std::int32_t rank, std::uint64_t offset) {
  Page& of_bytes = page(rank, offset / kPageBytes);
  const auto begin = static_cast<std::uint32_t>(offset % kPageBytes);
  if (ShadowState* const state = cell_of(of_bytes, begin, begin + kCellBytes)) return *state;
  const std::size_t at = carve(of_bytes, begin, begin + kCellBytes);
  return states_[of_bytes.intervals[at].state];
}

std::size_t Shadow::entries() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < used_states_; ++i) count += states_[i].entries.size();
  for (std::size_t i = 0; i < used_cell_pages_; ++i) {
    for (const CellPage::Block& block : cell_pages_[i].blocks) {
      for (std::uint32_t cell = 0; cell < kBlockCells; ++cell) {
        if ((block.is_used >> cell & 1) != 0) count += cell_blocks_[block.at][cell].entries.size();
      }
    }
  }
  return count;
}

}  // namespace emu
