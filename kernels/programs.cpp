#include "kernels/programs.h"

namespace kernels {

std::span<const symrace::ProgramInfo* const> programs() {
  static constexpr const symrace::ProgramInfo* kPrograms[] = {
      &kRemoteLoadStore,
  };
  return kPrograms;
}

const symrace::ProgramInfo* find_program(std::string_view name) {
  for (const symrace::ProgramInfo* program : programs()) {
    if (program->name == name) return program;
  }
  return nullptr;
}

}  // namespace kernels
