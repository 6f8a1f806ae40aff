// Any bytes as the file of --costs: a table, or one line that says why not.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/expect.h"
#include "tools/cost_table.h"
#include "tools/usage_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("costs", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  const bool is_written =
      ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size);
  fuzz::expect(is_written, "a file in memory");
  try {
    emu::CostModel model = tools::read_cost_table("--costs", path);
    fuzz::expect(!model.name.empty() && model.name.size() <= 40, "a short name", model.name);
    for (const tools::CostParameter& parameter : tools::cost_parameters()) {
      fuzz::expect(parameter.of(model) <= parameter.largest, "a cost in its range",
                   parameter.name());
    }
  } catch (const tools::UsageError& error) {
    fuzz::expect_one_line(std::string(error.what()));
  }
  return 0;
}
