// Runs a fuzz target over kept inputs, where there is no libFuzzer: replay_<target> <file or
// folder>... The name of each file stands on stdout before it runs, so that a crash names its
// cause.
#include "fuzz/fuzz_input.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace {

std::size_t replay(const std::filesystem::path& path) {
  std::size_t replayed = 0;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      replayed += replay(entry.path());
    }
    return replayed;
  }
  std::cout << path.string() << std::endl;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t replayed = 0;
  for (int i = 1; i < argc; ++i) replayed += replay(argv[i]);
  std::cout << replayed << " inputs\n";
  return replayed > 0 ? 0 : 1;
}
