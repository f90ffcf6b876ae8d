// Entries of a level as places of accesses: which of their translations, and under which inner
// ones.
#include "jobs/tlb/evictors.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace sonde {

std::uint64_t any_translation(const TlbUnderTest& tlb, std::uint64_t number) {
  const std::uint64_t whole_bytes = std::min(tlb.entry_bytes, tlb.inner.step_bytes);
  const std::uint64_t translations =
      std::max<std::uint64_t>(1, whole_bytes / tlb.granularity_bytes);
  return mix_bits(number) % translations * tlb.granularity_bytes;
}

PassEvictors entries_in_a_row(const TlbUnderTest& tlb, std::uint64_t first_bytes,
                              std::uint64_t count) {
  const std::uint64_t step_bytes = tlb.inner.step_bytes;
  const std::uint64_t small_entries = std::max<std::uint64_t>(1, step_bytes / tlb.entry_bytes);
  PassEvictors evictors;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t inner = first_bytes + i * step_bytes;
    // Small entries: another place of each inner one, so that they do not meet in few sets.
    const std::uint64_t entry =
        (inner + i % small_entries * tlb.entry_bytes) / tlb.entry_bytes * tlb.entry_bytes;
    evictors.accessed.push_back(inner + i % small_entries * tlb.entry_bytes +
                                any_translation(tlb, i));
    if (evictors.co_resident.empty() || evictors.co_resident.back() != entry) {
      evictors.co_resident.push_back(entry);
    }
    for (std::uint64_t other = 0; small_entries > 1 && other < small_entries; ++other) {
      const std::uint64_t neighbour = inner + other * tlb.entry_bytes;
      if (neighbour != entry) evictors.excluded.push_back(neighbour);
    }
  }
  return evictors;
}

Lines draw_entries(const TlbUnderTest& tlb, const LinePool& pool, std::set<std::uint64_t> taken,
                   std::size_t draws) {
  Lines entries;
  Random random(derive_seed(pool.seed, "rinse"));
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const std::uint64_t entry = random.below(pool.span_bytes / pool.line_bytes) * pool.line_bytes;
    if (taken.insert(inner_entry(tlb, entry)).second) entries.push_back(entry);
  }
  return entries;
}

}  // namespace sonde
