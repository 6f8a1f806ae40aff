// Named heaps as other processes see them. Each case has names of its own.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/direct_engine.h"
#include "core/function_program.h"
#include "core/heap_owner.h"
#include "core/heap_reader.h"
#include "core/named_heap.h"
#include "core/pl.h"
#include "core/pld.h"
#include "core/posix_heap.h"

namespace symrace {
namespace {

using State = HeapReader::State;

// A name that nobody else has, and whose object is gone at the end.
class Name {
 public:
  explicit Name(const std::string& of) : text_("test-" + of + "-" + std::to_string(getpid())) {}
  ~Name() { unlink(path().c_str()); }
  const std::string& text() const { return text_; }
  std::string path() const { return "/dev/shm/symrace." + text_; }
  bool exists() const { return std::filesystem::exists(std::filesystem::symlink_status(path())); }
  HeapLabel label(bool replaces = false) const { return {text_, "a program", replaces}; }

 private:
  std::string text_;
};

std::string refusal(const absl::Status& status) {
  REQUIRE_FALSE(status.ok());
  return std::string(status.message());
}
std::string refusal(const Name& name) { return refusal(HeapReader::open(name.text()).status()); }

// A heap of two ranks with one window of `bytes`.
std::unique_ptr<PosixHeap> heap_of(const Name& name, std::int64_t bytes, bool replaces = false) {
  auto heap = PosixHeap::create(2, name.label(replaces), "direct");
  REQUIRE_MESSAGE(heap.ok(), heap.status().ToString());
  REQUIRE((*heap)->allocate(bytes).ok());
  std::deque<Window> windows(1);
  windows[0] = {.offset = 0, .bytes = static_cast<std::uint64_t>(bytes), .index = 0, .name = "w"};
  (*heap)->list_windows(windows, 1);
  return *std::move(heap);
}

// What a child did before it was killed, or left.
template <class Body>
void in_child(int expected_signal, const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) ? WTERMSIG(status) : 0) == expected_signal);
}

}  // namespace

TEST_CASE("names have no path tricks") {
  for (const std::string& name : {std::string("a"), std::string("A-z_0.9"), std::string("_-"),
                                  std::string("_x.."), std::string(64, 'n')}) {
    CHECK_MESSAGE(check_heap_name(name).ok(), name);
  }
  for (const std::string& name :
       {std::string(), std::string(65, 'n'), std::string("."), std::string(".."),
        std::string(".hidden"), std::string("a/b"), std::string("../x"), std::string("/x"),
        std::string("a b"), std::string("a\nb"), std::string("a\0b", 3), std::string("\xc3\xa9"),
        std::string("a*"), std::string("-"), std::string("-x")}) {
    CHECK(absl::IsInvalidArgument(check_heap_name(name)));
    CHECK(absl::IsInvalidArgument(HeapReader::open(name).status()));
    CHECK(absl::IsInvalidArgument(remove_heap(name)));
    if (name.empty()) continue;  // which asks for none
    CHECK(absl::IsInvalidArgument(PosixHeap::create(2, {.name = name}, "direct").status()));
  }
  CHECK(
      refusal(check_heap_name("..")) ==
      "not a name for a heap; expected 1 to 64 letters, digits, '.', '_' and '-', and neither '.' "
      "nor '-' to begin with");
}

TEST_CASE("a run is seen from outside, live, and stays") {
  const Name name("run");
  using Data = pld::DistributedTensor<std::int32_t>;
  std::vector<std::int32_t> seen(2);
  FunctionProgram program([&](pld::Host& host) {
    const auto data = host.alloc_window_buffer({1, 8}, pl::DType::INT32, "data");
    const auto signal = host.alloc_window_buffer(100, "signal");
    host.alloc_window_buffer(5000, "bytes");
    for (std::int32_t r = 0; r < 2; ++r) {
      host.dispatch(
          pld::device(r),
          [&](Data d, Data s) {
            const std::int32_t me = pld::rank(pld::get_comm_ctx(d));
            pl::write(d, {0, 3}, 100 + me);
            pld::system::notify(s, 1 - me, {0, 1}, 7 + me, pld::NotifyOp::Set);
            pld::system::wait(s, {0, 1}, 0, pld::WaitCmp::Ne);
            const auto heap = HeapReader::open(name.text());
            if (!heap.ok() || heap->state() != State::kRunning) return;
            const auto offset = heap->layout().windows.at(1).offset + 4;
            const absl::Status read = heap->read(
                me, offset,
                std::as_writable_bytes(std::span(&seen[static_cast<std::size_t>(me)], 1)));
            if (!read.ok()) seen[static_cast<std::size_t>(me)] = -1;
          },
          host.window<std::int32_t>(data, {1, 8}), host.window<std::int32_t>(signal, {1, 25}));
    }
  });
  {
    auto engine = DirectEngine::create(program, 2, {.heap = name.label()});
    REQUIRE_MESSAGE(engine.ok(), engine.status().ToString());
    CHECK((*engine)->run().outcome == DirectResult::Outcome::kOk);
    CHECK(seen == std::vector<std::int32_t>{8, 7});
  }
  const auto heap = HeapReader::open(name.text());
  REQUIRE_MESSAGE(heap.ok(), heap.status().ToString());
  CHECK(heap->state() == State::kEnded);
  const HeapLayout& layout = heap->layout();
  CHECK(layout.ranks == 2);
  CHECK(layout.used_bytes == 4096 + 4096 + 8192);
  CHECK(layout.owner == getpid());
  CHECK(layout.engine == "direct");
  CHECK(layout.program == "a program");
  CHECK(layout.windows ==
        std::vector<HeapWindow>{{"data", 0, 32, pl::DType::INT32, 1, 8, false},
                                {"signal", 4096, 100, pl::DType::INT32, 1, 25, true},
                                {"bytes", 8192, 5000, std::nullopt, 0, 0, false}});
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    std::vector<std::int32_t> row(8);
    REQUIRE(heap->read(rank, 0, std::as_writable_bytes(std::span(row))).ok());
    CHECK(row == std::vector<std::int32_t>{0, 0, 0, 100 + rank, 0, 0, 0, 0});
  }
  // Only what is in use can be read.
  std::vector<std::byte> two(2);
  CHECK(heap->read(1, 16382, two).ok());
  for (const auto& [rank, offset] : std::vector<std::pair<std::int32_t, std::uint64_t>>{
           {0, 16383}, {0, 16385}, {0, ~std::uint64_t{0}}, {2, 0}, {-1, 0}}) {
    CHECK(absl::IsOutOfRange(heap->read(rank, offset, two)));
  }
  struct stat info {};
  REQUIRE(stat(name.path().c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);
}

TEST_CASE("a heap that never had a window does not stay") {
  const Name name("none");
  {
    const auto heap = PosixHeap::create(2, name.label(), "direct");
    REQUIRE(heap.ok());
    CHECK(name.exists());
    CHECK((*heap)->allocate(1).ok());
  }
  CHECK_FALSE(name.exists());
  FunctionProgram nothing([](pld::Host&) {});
  CHECK((*DirectEngine::create(nothing, 2, {.heap = name.label()}))->run().outcome ==
        DirectResult::Outcome::kError);
  CHECK_FALSE(name.exists());
}

TEST_CASE("a name is taken while its run lives, and after it unless it is to be replaced") {
  const Name name("taken");
  auto heap = heap_of(name, 4096);
  const std::string taken = "heap '" + name.text() + "': there is one already";
  for (const bool replaces : {false, true}) {
    const auto second = PosixHeap::create(2, name.label(replaces), "direct");
    CHECK(absl::IsAlreadyExists(second.status()));
    CHECK(refusal(second.status()) == taken + ": process " + std::to_string(getpid()) +
                                          ", which owns it, still runs; expected another name");
  }
  CHECK(refusal(remove_heap(name.text())) == "process " + std::to_string(getpid()) +
                                                 ", which owns it, still runs; expected its run to "
                                                 "have ended");
  heap.reset();
  CHECK(refusal(PosixHeap::create(2, name.label(), "direct").status()) ==
        taken + ", of a run that has ended; expected another name, or --replace-heap");
  heap = heap_of(name, 8192, true);
  CHECK(HeapReader::open(name.text())->layout().windows.at(0).bytes == 8192);
  heap.reset();
  CHECK(remove_heap(name.text()).ok());
  CHECK_FALSE(name.exists());
  CHECK(absl::IsNotFound(remove_heap(name.text())));
  CHECK(absl::IsNotFound(HeapReader::open(name.text()).status()));
}

TEST_CASE("the heap of a run that was killed stays, and is shown as stale") {
  const Name name("stale");
  in_child(SIGKILL, [&] {
    const auto heap = heap_of(name, 4096);
    const std::vector<std::int32_t> values{42};
    heap->copy_in(1, 8, std::span<const std::int32_t>(values));
    std::raise(SIGKILL);
  });
  const auto heap = HeapReader::open(name.text());
  REQUIRE_MESSAGE(heap.ok(), heap.status().ToString());
  CHECK(heap->state() == State::kStale);
  std::int32_t value = 0;
  CHECK(heap->read(1, 8, std::as_writable_bytes(std::span(&value, 1))).ok());
  CHECK(value == 42);
  CHECK(refusal(PosixHeap::create(2, name.label(), "direct").status()) ==
        "heap '" + name.text() +
            "': there is one already, of a run that died; expected another name, or "
            "--replace-heap");
  CHECK(heap_of(name, 4096, true)->is_named());
}

TEST_CASE("an owner is a process and its start") {
  const HeapOwner me = this_process();
  CHECK(me.process == getpid());
  CHECK(is_alive(me));
  CHECK_FALSE(is_alive({me.process, me.start + 1}));  // the id of another process by now
  // A process that has ended, but whose parent has not asked for its status.
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
  std::string field;
  for (int i = 0; i < 22; ++i) stat >> field;  // our name has no space
  CHECK_FALSE(is_alive({child, std::stoull(field)}));
  waitpid(child, nullptr, 0);
  CHECK_FALSE(is_alive({child, std::stoull(field)}));
}

TEST_CASE("what has a heap's name and is none is refused with its reason") {
  const Name name("refused");
  SUBCASE("a symbolic link") {
    const Name other("target");
    heap_of(other, 4096);
    REQUIRE(symlink(other.path().c_str(), name.path().c_str()) == 0);
    CHECK(refusal(name) == "a symbolic link; expected a shared-memory object");
    CHECK(refusal(remove_heap(name.text())) == "a symbolic link; expected a shared-memory object");
    CHECK(refusal(PosixHeap::create(2, name.label(true), "direct").status()) ==
          "heap '" + name.text() +
              "': there is something else of this name: a symbolic link; expected a shared-memory "
              "object");
    CHECK(HeapReader::open(other.text()).ok());
  }
  SUBCASE("a FIFO") {
    REQUIRE(mkfifo(name.path().c_str(), 0600) == 0);
    CHECK(refusal(name) == "no regular file; expected a shared-memory object");
    CHECK(refusal(remove_heap(name.text())) == "no regular file; expected a shared-memory object");
  }
  SUBCASE("another user's") {
    if (geteuid() != 0) return;
    heap_of(name, 4096);
    REQUIRE(chown(name.path().c_str(), 12345, 12345) == 0);
    CHECK(refusal(name) == "it belongs to user 12345; expected one of user 0");
    CHECK(refusal(remove_heap(name.text())) == "it belongs to user 12345; expected one of user 0");
    in_child(0, [&] {
      if (setuid(12346) != 0) _exit(3);
      if (refusal(name) != "it belongs to user 12345; expected one of user 12346") abort();
    });
  }
  SUBCASE("one that others may open") {
    heap_of(name, 4096);
    REQUIRE(chmod(name.path().c_str(), 0644) == 0);
    CHECK(refusal(name) == "others may open it; expected an object of mode 0600");
  }
  SUBCASE("no heap at all, which can be removed") {
    std::ofstream(name.path()) << "hello";
    REQUIRE(chmod(name.path().c_str(), 0600) == 0);
    CHECK(refusal(name) ==
          "truncated: it has 5 bytes; expected at least the 65536 of a heap's header");
    REQUIRE(truncate(name.path().c_str(), 1 << 20) == 0);
    CHECK(refusal(name) == "wrong magic; expected a heap of symrace");
    CHECK(absl::IsAlreadyExists(PosixHeap::create(2, name.label(true), "direct").status()));
    CHECK(remove_heap(name.text()).ok());
    CHECK_FALSE(name.exists());
  }
}

TEST_CASE("an object that changes its size is refused, before and while it is read") {
  const Name name("size");
  heap_of(name, 4096);
  struct stat info {};
  REQUIRE(stat(name.path().c_str(), &info) == 0);
  const std::string size = std::to_string(info.st_size);
  const auto heap = HeapReader::open(name.text());
  REQUIRE(heap.ok());
  std::vector<std::byte> bytes(4096);
  CHECK(heap->read(1, 0, bytes).ok());

  REQUIRE(truncate(name.path().c_str(), info.st_size + 1) == 0);
  const std::string larger = "it has " + std::to_string(info.st_size + 1) + " bytes; expected " +
                             size + ", as its header tells";
  CHECK(refusal(name) == "it has grown: " + larger);
  CHECK(absl::IsDataLoss(heap->read(1, 0, bytes)));
  CHECK(refusal(heap->read(1, 0, bytes)) == "it has grown while it was read: " + larger);

  REQUIRE(truncate(name.path().c_str(), 70000) == 0);
  const std::string shorter = "it has 70000 bytes; expected " + size + ", as its header tells";
  CHECK(refusal(name) == "truncated: " + shorter);
  CHECK(refusal(heap->read(1, 0, bytes)) == "truncated while it was read: " + shorter);
  CHECK(refusal(heap->read(0, 0, bytes)) == "truncated while it was read: " + shorter);
}

TEST_CASE("heaps are listed by name") {
  const Name a("list-a");
  const Name b("list-b");
  const Name hidden("list-c");
  heap_of(b, 4096);
  heap_of(a, 4096);
  std::ofstream("/dev/shm/symrace..odd-" + std::to_string(getpid())) << "x";
  std::vector<std::string> ours;
  for (const std::string& name : heap_names()) {
    if (name.ends_with("-" + std::to_string(getpid()))) ours.push_back(name);
  }
  unlink(("/dev/shm/symrace..odd-" + std::to_string(getpid())).c_str());
  CHECK(ours == std::vector<std::string>{a.text(), b.text()});
}

}  // namespace symrace
