// Ways are sorted, the smaller sets last.
#include "analysis/structure/sets/even_out.hpp"

#include <algorithm>

namespace sonde {

void even_out(SetLayout& layout) {
  constexpr std::size_t very_many = 64;
  constexpr std::size_t few = 2;
  std::vector<std::uint32_t>& ways = layout.ways_per_set;
  if (ways.size() < very_many) return;
  const std::uint32_t usual = ways.front();
  const auto smaller = std::ranges::find(ways, usual - 1);
  const auto count = static_cast<std::size_t>(ways.end() - smaller);
  if (count == 0 || count > few || ways.back() != usual - 1 || *(smaller - 1) != usual) return;
  std::fill(smaller, ways.end(), usual);
  layout.smaller_sets = static_cast<std::uint32_t>(count);
}

}  // namespace sonde
