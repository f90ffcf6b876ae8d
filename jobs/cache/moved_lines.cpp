// Whether what a search for the sets of a cache found are pages of a TLB: a part of CacheProbe.
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/cache/cache_probe.hpp"

#include <algorithm>

namespace sonde {

/// Lines of one set lie in several once those of each page are moved within it, each page's by
/// another number of lines, unless sets are few or go by other bits; pages stay the same.
bool CacheProbe::overflow_as_pages(const Lines& conflict, const PassEvictors& pass_evictors) {
  constexpr std::size_t fewest_sets = 64;    // of which lines moved fill hardly any
  constexpr std::uint64_t least_places = 8;  // or two lines would meet again by chance
  constexpr std::uint64_t tried = 3;
  const std::uint64_t places = smallest_page_bytes / pool().line_bytes;
  if (cache_.inner || places < least_places ||
      pool().cached_lines < fewest_sets * (conflict.size() - 1))
    return false;
  std::vector<Lines> lists(tried, conflict);
  for (std::uint64_t number = 0; number < tried; ++number) {
    for (std::uint64_t& line : lists[number]) {
      const std::uint64_t page = line / smallest_page_bytes * smallest_page_bytes;
      const std::uint64_t moved = mix_bits(page + number) % places * pool().line_bytes;
      line = page + (line - page + moved) % smallest_page_bytes;
    }
  }
  const std::vector<bool> overflowing = overflow_once(lists, ask_behind(*this, pass_evictors));
  return std::ranges::find(overflowing, false) == overflowing.end();
}

}  // namespace sonde
