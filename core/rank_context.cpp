#include "core/rank_context.h"

#include <cstdio>

namespace symrace {

std::array<char, 512> between_ops(const RankContext& rank, std::string_view what) {
  std::array<char, 512> text;
  const int what_size = static_cast<int>(what.size());
  if (rank.ops == 0) {
    std::snprintf(text.data(), text.size(), "rank %d: the kernel %.*s before its first op",
                  rank.rank, what_size, what.data());
    return text;
  }
  std::string_view file = rank.latest.where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  // Asking for one's rank is no op to speak of.
  const bool is_named = rank.latest.op != OpKind::kUse;
  const std::string_view op = is_named ? op_name(rank.latest.op) : "what it did";
  std::snprintf(text.data(), text.size(), "%.*s:%u: rank %d: the kernel %.*s %s %.*s here",
                static_cast<int>(file.size()), file.data(),
                static_cast<unsigned>(rank.latest.where.line()), rank.rank, what_size, what.data(),
                is_named ? "after its" : "after", static_cast<int>(op.size()), op.data());
  return text;
}

std::string endless(const RankContext& rank) {
  return std::string(between_ops(rank, "goes on without any op").data()) +
         ", and the run is over; expected one that ends";
}

}  // namespace symrace
