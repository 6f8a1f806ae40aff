#include "core/unnamed_object.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/interprocess/exceptions.hpp>

namespace symrace {

namespace ipc = boost::interprocess;

UnnamedObject::UnnamedObject(const char* folder, std::uint64_t bytes)
    : descriptor_(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) throw ipc::interprocess_exception(ipc::system_error_code());
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    const int error = ipc::system_error_code();
    close(descriptor_);
    throw ipc::interprocess_exception(error);
  }
}

UnnamedObject::~UnnamedObject() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace symrace
