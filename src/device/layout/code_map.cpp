// Finds the blocks of code among the functions' addresses; the instruction chase calls them there.
#include "device/layout/code_map.hpp"

#include "base/error.hpp"
#include "device/device_error.hpp"
#include "device/probe.hpp"

#include <algorithm>

namespace sonde::layout {

CodeMap map_code(std::vector<std::uint64_t> addresses, std::uint64_t instruction_bytes) {
  std::ranges::sort(addresses);
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    if (addresses[i] - addresses[i - 1] == code_block_bytes) continue;
    throw_device_error(
        "the blocks of code lie {} bytes apart instead of {} (the compiler for this GPU made "
        "something else of them). Build sonde for this GPU's own architecture",
        addresses[i] - addresses[i - 1], code_block_bytes);
  }
  require(addresses.size() > 2, "a map of code needs blocks");
  const std::uint64_t into_line = addresses.front() % code_block_bytes;
  // A line that begins within a function is left by that function's return, its last instruction.
  const std::uint64_t executed_bytes = into_line == 0 ? code_block_bytes : into_line;
  CodeMap map;
  map.first_address = addresses.front() + (code_block_bytes - into_line) % code_block_bytes;
  map.additions_per_access = executed_bytes / instruction_bytes - 1;
  map.blocks = addresses.size() - 1;
  map.rehearsal_address = map.first_address + map.blocks * code_block_bytes;
  return map;
}

std::uint64_t counted_additions(const CodeMap& map, std::uint64_t accesses) {
  return std::min(map.additions_per_access * accesses, std::uint64_t{1} << 24);
}

}  // namespace sonde::layout
