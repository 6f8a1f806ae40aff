// Memory models: what may be late, and what an ordering point waits for. A model is a value; the
// four names are presets. docs/memory-model.md says which hardware bug each answer stands for.
#ifndef SYMRACE_EMU_MODEL_H_
#define SYMRACE_EMU_MODEL_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace emu {

// What a notify may or may not release. A transfer belongs to exactly one class.
enum class ReleaseClass : std::uint8_t {
  kLocalStore,
  kRemoteStore,
  kPut,      // an unchunked put, and every chunk but the last of a chunked one
  kPutTail,  // the last chunk of a chunked put
  kSignal,   // an earlier notify
  kRead,     // a deferred remote_load or get
};

struct Model {
  std::string_view name = "documented";
  // False: the op acts at its target in the same step. True: it becomes an in-flight transfer.
  bool posts_local_stores = true;
  bool posts_remote_stores = true;
  bool posts_puts = true;
  bool posts_notifies = true;
  // A put reads its source when it lands, not on issue.
  bool put_reads_source_late = false;
  // remote_load and get take their value any time before its first use.
  bool reads_are_deferred = false;
  // Bit i: a notify lands no earlier than this rank's earlier transfers of ReleaseClass i.
  std::uint8_t releases = 0xff;

  static constexpr std::uint8_t bit(ReleaseClass c) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(c));
  }
  bool releases_class(ReleaseClass c) const { return (releases & bit(c)) != 0; }

  // Sequentially consistent: what a plain simulator does. Never shows a late delivery.
  static Model sc();
  // What the documents promise: a notify releases everything issued before it by this rank.
  static Model documented();
  // What the hardware does: a notify does not release remote_stores, nor a chunked put's last
  // chunk.
  static Model a2a3();
  // Nothing is promised without a fence.
  static Model weak();
  static std::optional<Model> parse(std::string_view name);
};

}  // namespace emu

#endif  // SYMRACE_EMU_MODEL_H_
