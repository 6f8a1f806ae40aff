#include "emu/event_list.h"

#include <cstring>

#include "emu/access.h"

namespace emu {
namespace {

std::uint8_t* put(std::uint8_t* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::uint8_t>(value | 0x80);
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}

std::uint64_t take(const std::uint8_t*& from) {
  std::uint64_t value = *from & 0x7fU;
  for (int shift = 7; (*from++ & 0x80U) != 0; shift += 7) {
    value |= std::uint64_t{*from & 0x7fU} << shift;
  }
  return value;
}

// Small numbers of either sign become small ones without.
std::uint64_t folded(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfolded(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t field) {
  hash = (hash ^ field) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

// Reads the event at `from`, and moves there past it.
void read(const std::uint8_t*& from, const std::vector<Event>& kinds, Event& event) {
  const std::uint64_t head = take(from);
  event = kinds[head >> 1];
  event.rank = static_cast<std::int32_t>(unfolded(take(from)));
  event.target = static_cast<std::int32_t>(unfolded(take(from)));
  event.piece = static_cast<std::uint32_t>(take(from));
  event.offset = take(from);
  event.value = unfolded(take(from));
  if ((head & 1) == 0) return;
  std::memcpy(&event.data_hash, from, sizeof(event.data_hash));
  from += sizeof(event.data_hash);
}

}  // namespace

bool EventList::same_kind(const Kind& kind, const Event& event) {
  return same_record(kind.where, event.where) && kind.kind == event.kind && kind.op == event.op &&
         kind.window == event.window && kind.dtype == event.dtype && kind.rows == event.rows &&
         kind.row_bytes == event.row_bytes && kind.stride == event.stride &&
         kind.primitive == event.primitive && kind.sets == event.sets;
}

std::uint32_t EventList::kind_of(const Event& event) {
  std::uint64_t hash = event.where.line();
  hash =
      mix(hash, static_cast<std::uint64_t>(event.kind) << 8 | static_cast<std::uint64_t>(event.op));
  hash = mix(hash, static_cast<std::uint64_t>(event.rows));
  hash = mix(hash, static_cast<std::uint64_t>(event.row_bytes));
  std::uint32_t& cached = cache_[hash % kCached];
  if (cached < kinds_.size() && same_kind(kinds_[cached], event)) return cached;
  const auto [first, last] = kinds_by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (same_kind(kinds_[known->second], event)) return cached = known->second;
  }
  cached = static_cast<std::uint32_t>(kinds_.size());
  Kind& kind = kinds_.emplace_back(event);
  kind.rank = kind.target = 0;
  kind.piece = 0;
  kind.offset = 0;
  kind.value = 0;
  kind.data_hash = 0;
  kinds_by_hash_.emplace(hash, cached);
  return cached;
}

void EventList::push_back(const Event& event) {
  if (size_ % kStretch == 0) {
    if (pages_.empty() || pages_.back().size() + kStretch * kMostBytes > kPageBytes) {
      pages_.emplace_back();
      if (pages_.size() > 1) pages_.back().reserve(kPageBytes);  // a long run
    }
    stretches_.push_back({static_cast<std::uint32_t>(pages_.size() - 1),
                          static_cast<std::uint32_t>(pages_.back().size())});
  }
  ++size_;
  std::array<std::uint8_t, kMostBytes> bytes;
  std::uint8_t* to =
      put(bytes.data(), std::uint64_t{kind_of(event)} << 1 | std::uint64_t{event.data_hash != 0});
  to = put(to, folded(event.rank));
  to = put(to, folded(event.target));
  to = put(to, event.piece);
  to = put(to, event.offset);
  to = put(to, folded(event.value));
  if (event.data_hash != 0) {
    std::memcpy(to, &event.data_hash, sizeof(event.data_hash));
    to += sizeof(event.data_hash);
  }
  pages_.back().insert(pages_.back().end(), bytes.data(), to);
}

const std::uint8_t* EventList::stretch(std::size_t number) const {
  const Place place = stretches_[number];
  return pages_[place.page].data() + place.byte;
}

EventList::Iterator EventList::at(std::size_t index) const {
  if (index >= size_) return end();
  const std::size_t first = index / kStretch * kStretch;
  Iterator found(*this, first, stretch(index / kStretch));
  while (found.index_ < index) ++found;
  return found;
}

Event EventList::Iterator::operator*() const {
  const std::uint8_t* from = at_;
  Event event;
  read(from, list_->kinds_, event);
  return event;
}

EventList::Iterator& EventList::Iterator::operator++() {
  ++index_;
  if (index_ % kStretch == 0) {
    at_ = index_ < list_->size_ ? list_->stretch(index_ / kStretch) : nullptr;
    return *this;
  }
  const bool has_hash = (take(at_) & 1) != 0;
  for (int field = 0; field < 5; ++field) take(at_);
  if (has_hash) at_ += sizeof(Event::data_hash);
  return *this;
}

}  // namespace emu
