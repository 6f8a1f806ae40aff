// Memory for what there are millions of: asked for in large pages, of which the machine needs fewer
// faults and fewer translations. Where it has none, or gives none, the memory is as any other.
#ifndef SYMRACE_EMU_HUGE_PAGES_H_
#define SYMRACE_EMU_HUGE_PAGES_H_

#include <cstddef>
#include <vector>

namespace emu {

// Only grows; all goes at once.
class HugePages {
 public:
  HugePages() = default;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  ~HugePages();

  // Memory aligned to a cache line, zero. Throws std::bad_alloc.
  std::byte* allocate(std::size_t bytes);

 private:
  struct Span {
    std::byte* begin;
    std::size_t bytes;
  };

  std::vector<Span> spans_;
  std::size_t used_ = 0;  // of the last span
};

}  // namespace emu

#endif  // SYMRACE_EMU_HUGE_PAGES_H_
