// The commonest distance between neighbouring misses.
#include "analysis/structure/capacity/miss_blocks.hpp"

#include <algorithm>
#include <map>

namespace sonde {

std::optional<BlockSize> miss_distance(const std::vector<bool>& missing, std::uint64_t step_bytes) {
  std::map<std::uint64_t, std::uint64_t> counts;
  std::uint64_t distances = 0;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!missing[i]) continue;
    if (last) {
      ++counts[(i - *last) * step_bytes];
      ++distances;
    }
    last = i;
  }
  if (counts.empty()) return std::nullopt;
  const auto commonest =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return BlockSize{
      .bytes = commonest->first,
      .agreement = static_cast<double>(commonest->second) / static_cast<double>(distances),
      .observations = distances};
}

}  // namespace sonde
