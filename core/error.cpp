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

// An operator knows no place of its use; the op before it does.
void throw_division_by_zero() {
  constexpr std::string_view kWhat = "divided a scalar by zero in index math";
  const symrace::RankContext* rank = symrace::internal::current_rank_pointer;
  const std::string told = rank == nullptr ? absl::StrCat("the kernel ", std::string(kWhat))
                                           : std::string(between_ops(*rank, kWhat).data());
  throw symrace::KernelError(
      absl::StrCat(told, "; check the divisor first"),
      rank == nullptr ? std::source_location::current() : rank->latest.where);
}

}  // namespace pl::scalar_detail
