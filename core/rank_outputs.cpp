#include "core/rank_outputs.h"

#include <cstring>

namespace symrace {
namespace {

void pack(const PrivateRegion& from, std::byte* to) {
  copy_rows(to, from.extent.row_bytes, from.data, from.extent.stride, from.extent.rows,
            from.extent.row_bytes);
}

}  // namespace

RankOutputs::RankOutputs(const std::vector<std::vector<PrivateRegion>>& outputs) {
  std::size_t bytes = 0;
  for (const std::vector<PrivateRegion>& of_rank : outputs) {
    std::vector<Output>& placed = outputs_.emplace_back();
    for (const PrivateRegion& region : of_rank) {
      placed.push_back({region, bytes});
      bytes += static_cast<std::size_t>(region.extent.bytes());
    }
  }
  sent_ = SharedArray<std::byte>(bytes);
  before_.resize(bytes);
  for (const std::vector<Output>& of_rank : outputs_) {
    for (const Output& output : of_rank) pack(output.region, before_.data() + output.at);
  }
}

void RankOutputs::send(std::int32_t rank) {
  for (const Output& output : outputs_[static_cast<std::size_t>(rank)]) {
    pack(output.region, sent_.data() + output.at);
  }
}

void RankOutputs::receive(std::int32_t rank) const {
  for (const Output& output : outputs_[static_cast<std::size_t>(rank)]) {
    const Extent& extent = output.region.extent;
    const auto row_bytes = static_cast<std::size_t>(extent.row_bytes);
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      const std::size_t at = output.at + static_cast<std::size_t>(row) * row_bytes;
      std::byte* to = output.region.data + row * extent.stride;
      for (std::size_t i = 0; i < row_bytes; ++i) {
        if (sent_[at + i] != before_[at + i]) to[i] = sent_[at + i];
      }
    }
  }
}

}  // namespace symrace
