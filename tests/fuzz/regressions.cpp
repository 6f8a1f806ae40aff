// Runs the inputs of a target that are kept, without libFuzzer: fuzz_regressions TARGET FOLDER. An
// input that fails aborts, after its name.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

extern "C" {
int fuzz_command_line(const std::uint8_t* data, std::size_t size);
int fuzz_cost_table(const std::uint8_t* data, std::size_t size);
int fuzz_heap_header(const std::uint8_t* data, std::size_t size);
int fuzz_kernel(const std::uint8_t* data, std::size_t size);
int fuzz_replay_token(const std::uint8_t* data, std::size_t size);
}

int main(int argc, char** argv) {
  const std::map<std::string_view, int (*)(const std::uint8_t*, std::size_t)> targets = {
      {"command_line", fuzz_command_line},
      {"cost_table", fuzz_cost_table},
      {"heap_header", fuzz_heap_header},
      {"kernel", fuzz_kernel},
      {"replay_token", fuzz_replay_token}};
  const auto target = argc == 3 ? targets.find(argv[1]) : targets.end();
  if (target == targets.end() || !std::filesystem::is_directory(argv[2])) {
    std::fprintf(stderr, "expected a target of tests/fuzz, and the folder of its inputs\n");
    return 2;
  }
  std::set<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2]))
    inputs.insert(entry.path());
  for (const std::filesystem::path& input : inputs) {
    std::printf("%s\n", input.filename().c_str());
    std::fflush(stdout);  // before what may abort
    std::ifstream file(input, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    target->second(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
