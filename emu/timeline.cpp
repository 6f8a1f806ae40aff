#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <string_view>

#include "core/error.h"
#include "emu/event_log.h"

namespace emu {
namespace {

// "signal[1]": a cell by its index.
std::string cell_text(const EventLog& log, const Event& event) {
  return absl::StrCat(log.window_names[static_cast<std::size_t>(event.window)], "[",
                      event.offset / sizeof(std::int32_t), "]");
}

// A collective is told by what it did: "barrier: notify".
std::string op_text(const Event& event) {
  std::string op(symrace::op_name(event.op));
  if (!symrace::is_collective(event.op)) return op;
  return absl::StrCat(op, ": ",
                      event.clears() ? "clear" : std::string(symrace::op_name(event.primitive)));
}

std::string what(const EventLog& log, const Event& event) {
  if (event.kind == Event::Kind::kFinish) return "done";
  std::string op = op_text(event);
  if (event.window < 0) return op;
  const bool signal = event.primitive == symrace::OpKind::kNotify ||
                      event.primitive == symrace::OpKind::kWait ||
                      event.primitive == symrace::OpKind::kTest;
  const std::string place = signal ? cell_text(log, event) : region_text(log, event);
  const std::string value = signal ? absl::StrFormat(" (%d)", event.value) : "";
  const std::string at = event.target == event.rank ? "" : absl::StrCat(" of rank ", event.target);
  switch (event.kind) {
    case Event::Kind::kIssue:
      return absl::StrCat(op, " #", event.piece, " ", place, at, value);
    case Event::Kind::kLand:
      return absl::StrCat("lands: ", op, " #", event.piece, " ", place, at, value);
    case Event::Kind::kTake:
      return absl::StrCat("takes: ", op, " #", event.piece, " ", place, at);
    case Event::Kind::kAct:
    case Event::Kind::kFinish:
      break;
  }
  return absl::StrCat(op, " ", place, at, value);
}

std::string region_text(std::string_view window, std::uint64_t offset,
                        const symrace::Extent& extent, pl::DType dtype) {
  const std::int64_t element = pl::dtype_bytes(dtype);
  const std::int64_t stride = extent.stride > 0 ? extent.stride : 1;
  const std::int64_t row = static_cast<std::int64_t>(offset) / stride;
  const std::int64_t col = static_cast<std::int64_t>(offset) % stride / element;
  return absl::StrFormat("%s[%d:%d, %d:%d]", window, row, row + extent.rows, col,
                         col + extent.row_bytes / element);
}

}  // namespace

std::string region_text(const EventLog& log, const Event& event) {
  return region_text(log.window_names[static_cast<std::size_t>(event.window)], event.offset,
                     {event.rows, event.row_bytes, event.stride}, event.dtype);
}

std::string region_text(const symrace::WindowRegion& region) {
  return region_text(region.window->name, region.offset - region.window->offset, region.extent,
                     region.dtype);
}

std::string timeline(const EventLog& log) {
  std::string text;
  std::size_t number = 0;
  for (const Event& event : log.events) {
    const bool by_fabric = event.kind == Event::Kind::kLand || event.kind == Event::Kind::kTake;
    const std::string who = absl::StrCat(by_fabric ? "  fabric " : "rank ", event.rank);
    const std::string where = event.where.line() == 0 ? "" : symrace::short_location(event.where);
    std::string line = absl::StrFormat("%4d %-11s %s", ++number, who, what(log, event));
    // The place goes right of the text, or the text is cut: a line is 80 columns at most.
    const std::size_t room = where.size() >= 60 ? 20 : 79 - where.size();
    if (line.size() > room) line = line.substr(0, room - 2) + "..";
    if (!where.empty()) line.append(room + 1 - line.size(), ' ');
    absl::StrAppend(&text, line, where, "\n");
  }
  return text;
}

}  // namespace emu
