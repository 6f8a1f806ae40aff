// UnnamedObject: an object of a shared-memory file system that has no name at any moment, so that
// nothing of it outlives the processes that have it open.
#ifndef SYMRACE_CORE_UNNAMED_OBJECT_H_
#define SYMRACE_CORE_UNNAMED_OBJECT_H_

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <boost/interprocess/interprocess_fwd.hpp>
#include <cstdint>
#include <utility>

namespace symrace {

// What Boost.Interprocess can map. Mode 0600, open for reading and writing; closed by exec().
class UnnamedObject {
 public:
  // In the file system at `folder`, of `bytes` bytes without memory behind them yet. Throws
  // boost::interprocess::interprocess_exception.
  UnnamedObject(const char* folder, std::uint64_t bytes);
  UnnamedObject(UnnamedObject&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  UnnamedObject& operator=(UnnamedObject&&) = delete;
  ~UnnamedObject();

  boost::interprocess::mapping_handle_t get_mapping_handle() const {
    return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(descriptor_);
  }
  static boost::interprocess::mode_t get_mode() { return boost::interprocess::read_write; }

 private:
  int descriptor_;
};

}  // namespace symrace

#endif  // SYMRACE_CORE_UNNAMED_OBJECT_H_
