// RankOutputs: brings what ranks that are processes wrote to their outputs, the memory of pl::Out
// arguments, back to the process that forked them.
#ifndef SYMRACE_CORE_RANK_OUTPUTS_H_
#define SYMRACE_CORE_RANK_OUTPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/region.h"
#include "core/shared_array.h"

namespace symrace {

class RankOutputs {
 public:
  // Of rank r: the regions of `outputs[r]`. Made before the fork, and with the contents of then.
  // Throws boost::interprocess::interprocess_exception when there is no memory.
  explicit RankOutputs(const std::vector<std::vector<PrivateRegion>>& outputs);

  // In the rank's process, when its kernel has ended.
  void send(std::int32_t rank);
  // In the other, after that. Writes the bytes that the rank changed: regions of several ranks may
  // overlap.
  void receive(std::int32_t rank) const;

 private:
  struct Output {
    PrivateRegion region;
    std::size_t at = 0;  // of its packed bytes
  };
  std::vector<std::vector<Output>> outputs_;
  SharedArray<std::byte> sent_;
  std::vector<std::byte> before_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_RANK_OUTPUTS_H_
