#include "core/error.h"

#include <absl/strings/str_cat.h>

#include <string_view>

#include "core/rank_context.h"
#include "core/scalar.h"

namespace symrace {

std::string short_location(const std::source_location& where) {
  const std::string_view path = where.file_name();
  const std::size_t slash = path.rfind('/');
  return absl::StrCat(std::string(slash == path.npos ? path : path.substr(slash + 1)), ":",
                      where.line());
}

}  // namespace symrace

namespace pl::scalar_detail {

// An operator knows no place of its use, but the rank.
void throw_division_by_zero() {
  const symrace::RankContext* context = symrace::internal::current_rank_pointer;
  throw symrace::KernelError(
      absl::StrCat(context != nullptr ? absl::StrCat("rank ", context->rank, ": ") : "",
                   "scalar division by zero in index math; check the divisor first"),
      std::source_location::current());
}

}  // namespace pl::scalar_detail
