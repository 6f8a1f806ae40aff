#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/heap.h"
#include "core/posix_heap.h"

using symrace::PosixHeap;

namespace {

std::unique_ptr<PosixHeap> heap_of(std::int32_t ranks) {
  auto heap = PosixHeap::create(ranks);
  REQUIRE_MESSAGE(heap.ok(), heap.status().ToString());
  return *std::move(heap);
}

// The heaps' open objects, found among this process's descriptors.
std::vector<struct stat> open_objects() {
  std::vector<struct stat> objects;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || !target.starts_with("/dev/shm/")) continue;
    struct stat info {};
    if (fstat(std::stoi(entry.path().filename().string()), &info) == 0) objects.push_back(info);
  }
  return objects;
}

bool all_zero(const PosixHeap& heap, std::int32_t rank, std::uint64_t offset, std::size_t bytes) {
  std::vector<std::uint8_t> copy(bytes, 1);
  heap.copy_out(rank, offset, std::span(copy));
  return std::all_of(copy.begin(), copy.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

TEST_CASE("a window costs at least 4 KiB, and multiples of it") {
  const auto heap = heap_of(2);
  CHECK(*heap->allocate(1) == 0);
  CHECK(heap->used_bytes() == 4096);
  CHECK(*heap->allocate(4096) == 4096);
  CHECK(heap->used_bytes() == 8192);
  CHECK(*heap->allocate(4097) == 8192);
  CHECK(heap->used_bytes() == 16384);
}

TEST_CASE("an allocation has the same offset in every rank's slice, and slices are apart") {
  const auto heap = heap_of(3);
  REQUIRE(heap->allocate(100).ok());
  const std::uint64_t offset = *heap->allocate(8);
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    CHECK(heap->address(rank, offset) - heap->address(rank, 0) ==
          static_cast<std::ptrdiff_t>(offset));
    const std::vector<std::int32_t> values{10 * rank, 10 * rank + 1};
    heap->copy_in(rank, offset, std::span<const std::int32_t>(values));
  }
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    std::vector<std::int32_t> values(2);
    heap->copy_out(rank, offset, std::span(values));
    CHECK(values == std::vector<std::int32_t>{10 * rank, 10 * rank + 1});
  }
}

TEST_CASE("windows are zero-filled, beyond the bytes asked for too") {
  const auto heap = heap_of(2);
  for (const std::int64_t bytes : {1, 5000, 100'000}) {
    const std::uint64_t offset = *heap->allocate(bytes);
    const std::size_t reserved = heap->used_bytes() - offset;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      CHECK(all_zero(*heap, rank, offset, reserved));
      const std::vector<std::uint8_t> ones(reserved, 0xff);
      heap->copy_in(rank, offset, std::span<const std::uint8_t>(ones));
    }
  }
}

TEST_CASE("bad sizes are named") {
  const auto heap = heap_of(2);
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    const auto offset = heap->allocate(bytes);
    REQUIRE_FALSE(offset.ok());
    CHECK(absl::IsInvalidArgument(offset.status()));
    CHECK(std::string(offset.status().message()) ==
          "window of " + std::to_string(bytes) + " bytes; expected a positive size");
  }
  CHECK(heap->used_bytes() == 0);
}

TEST_CASE("out of space is an error that names the numbers, and harms nothing") {
  const auto heap = heap_of(2);
  REQUIRE(heap->allocate(4096).ok());
  // 8 EiB a rank; the second size, rounded up to 4 KiB, is the largest there is.
  for (const std::int64_t bytes :
       {std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
    const auto offset = heap->allocate(bytes);
    REQUIRE_FALSE(offset.ok());
    CHECK(absl::IsResourceExhausted(offset.status()));
    const std::string text(offset.status().message());
    const std::uint64_t slice = (static_cast<std::uint64_t>(bytes) + 4095) / 4096 * 4096 + 4096;
    CHECK(text.starts_with("windows of " + std::to_string(slice) +
                           " bytes on each of 2 ranks do not fit /dev/shm, which has "));
    CHECK(text.ends_with(
        " bytes free beside the 8192 in use; make the windows smaller, use fewer ranks, or mount "
        "it larger"));
  }
  CHECK(heap->used_bytes() == 4096);
  CHECK(*heap->allocate(1) == 4096);
}

TEST_CASE("a heap needs a rank") {
  for (const std::int32_t ranks : {0, -1}) {
    const auto heap = PosixHeap::create(ranks);
    REQUIRE_FALSE(heap.ok());
    CHECK(absl::IsInvalidArgument(heap.status()));
    CHECK(std::string(heap.status().message()) ==
          "a heap for " + std::to_string(ranks) + " ranks; expected at least 1");
  }
  const auto heap = heap_of(1);
  CHECK(heap->ranks() == 1);
  CHECK(heap->allocate(4096).ok());
}

TEST_CASE("384 ranks have a heap") {
  const auto heap = heap_of(384);
  REQUIRE(heap->allocate(4096).ok());
  CHECK(all_zero(*heap, 383, 0, 4096));
}

TEST_CASE("nothing is left of a heap") {
  {
    const auto heap = heap_of(2);
    REQUIRE(heap->allocate(4096).ok());
    CHECK(open_objects().size() == 1);
  }
  CHECK(open_objects().empty());
}

TEST_CASE("the object belongs to its owner alone and has no name") {
  const auto heap = heap_of(2);
  const auto objects = open_objects();
  REQUIRE(objects.size() == 1);
  const struct stat& info = objects.front();
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(info.st_nlink == 0);
}

TEST_CASE("memory is taken window by window, not for all that is reserved") {
  const auto heap = heap_of(2);
  CHECK(open_objects().at(0).st_blocks == 0);
  REQUIRE(heap->allocate(8192).ok());
  CHECK(open_objects().at(0).st_blocks * 512 == 2 * 8192);
}

TEST_CASE("forgotten allocations are handed out again, at the same offsets") {
  const auto heap = heap_of(2);
  const std::uint64_t first = *heap->allocate(1);
  const std::uint64_t second = *heap->allocate(1);
  heap->forget_allocations();
  CHECK(heap->used_bytes() == 0);
  CHECK(*heap->allocate(1) == first);
  CHECK(*heap->allocate(1) == second);
}
