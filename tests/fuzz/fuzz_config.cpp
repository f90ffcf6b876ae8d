// Any text as the TOML file of --config: refused, or options that write themselves down as a file
// that gives the same options.
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "fuzz/fuzz_input.hpp"

#include <cstdlib>

namespace {

sonde::RunOptions read_options(const sonde::test::InputFile& file) {
  const std::string path = file.path();
  const char* arguments[] = {"sonde", "run", "--config", path.c_str()};
  return std::get<sonde::RunOptions>(sonde::parse_command_line(4, arguments).value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static const test::InputFile file;
  file.replace({data, size});
  std::string text;
  try {
    text = to_toml(read_options(file));
  } catch (const ConfigError&) {
    return 0;  // refused
  }
  file.replace({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (to_toml(read_options(file)) != text) std::abort();
  return 0;
}
