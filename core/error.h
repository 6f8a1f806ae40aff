// The one exception of the kernel language: a kernel asked for something the hardware cannot do.
#ifndef SYMRACE_CORE_ERROR_H_
#define SYMRACE_CORE_ERROR_H_

#include <exception>
#include <source_location>
#include <string>

namespace symrace {

// Thrown by an op before it moves anything; unwinds the kernel and fails its rank. what() is one
// line: "file:line: op: what was wrong; what was expected or how to fix it".
class KernelError : public std::exception {
 public:
  KernelError(std::string message, std::source_location where)
      : message_(std::move(message)), where_(where) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::source_location& where() const { return where_; }

 private:
  std::string message_;
  std::source_location where_;
};

// "05_remote_load_store.cpp:41": the file's name without its folder, so that text does not depend
// on where a build was made.
std::string short_location(const std::source_location& where);

}  // namespace symrace

#endif  // SYMRACE_CORE_ERROR_H_
