// Finds the blocks of code among the functions' addresses; the instruction chase calls them there.
#include "device/layout/code_map.hpp"

#include "base/error.hpp"
#include "device/device_error.hpp"
#include "device/probe/probe.hpp"

#include <algorithm>

namespace sonde::layout {

CodeMap map_code(std::vector<std::uint64_t> addresses, std::uint64_t instruction_bytes) {
  std::ranges::sort(addresses);
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    if (addresses[i] - addresses[i - 1] == code_block_bytes) continue;
    throw_device_error(
        "the blocks of code lie {} bytes apart instead of {} (the compiler laid them out "
        "differently for this GPU). Build sonde for this GPU's own architecture",
        addresses[i] - addresses[i - 1], code_block_bytes);
  }
  require(addresses.size() > 2, "a map of code needs blocks");
  const std::uint64_t into_line = addresses.front() % code_block_bytes;
  // A line that begins within a function ends with that function's return.
  const std::uint64_t executed_bytes = into_line == 0 ? code_block_bytes : into_line;
  CodeMap map;
  map.first_address = addresses.front() + (code_block_bytes - into_line) % code_block_bytes;
  map.return_offset_bytes = executed_bytes - instruction_bytes;
  map.additions_per_access = map.return_offset_bytes / instruction_bytes;
  map.blocks = addresses.size() - 1;
  map.rehearsal_address = map.first_address + map.blocks * code_block_bytes;
  return map;
}

std::uint64_t counted_additions(const CodeMap& map, std::span<const std::uint64_t> offsets_bytes,
                                std::uint64_t accesses) {
  const std::uint64_t rounds = accesses / offsets_bytes.size();
  const std::uint64_t beyond = accesses % offsets_bytes.size();
  const std::uint64_t instruction_bytes =
      map.additions_per_access == 0 ? 1 : map.return_offset_bytes / map.additions_per_access;
  std::uint64_t bytes = 0;  // of additions
  for (std::size_t i = 0; i < offsets_bytes.size(); ++i) {
    const std::uint64_t entry = offsets_bytes[i] % code_block_bytes;
    if (entry > map.return_offset_bytes) {
      throw_device_error(
          "a block of code cannot be entered {} bytes behind its start (its return lies at {}). "
          "Build sonde for this GPU's own architecture",
          entry, map.return_offset_bytes);
    }
    bytes += (map.return_offset_bytes - entry) * (rounds + (i < beyond ? 1 : 0));
  }
  return std::min(bytes / instruction_bytes, std::uint64_t{1} << 24);
}

}  // namespace sonde::layout
