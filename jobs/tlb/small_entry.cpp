// An eviction set of places in different inner entries, then others at smaller distances: the first
// that takes an entry of its own tells where one ends.
#include "jobs/tlb/small_entry.hpp"

#include "analysis/structure/sets/line_search.hpp"
#include "base/random.hpp"
#include "jobs/sets/tlb_probe.hpp"

namespace sonde {

std::optional<std::uint64_t> find_small_entry(const TlbUnderTest& tlb) {
  constexpr double least_agreement = 0.75;
  TlbProbe probe(tlb);
  const LinePool& space = probe.pool();
  const auto evictors = probe.find_pass_evictors(space.span_bytes);
  if (!evictors) return std::nullopt;
  Lines pool;
  for (std::uint64_t at = 0; at < evictors->accessed.front(); at += space.line_bytes) {
    pool.push_back(at);
  }
  Random random(derive_seed(space.seed, "small entries"));
  shuffle(pool, random);
  pool.resize(std::min<std::size_t>(pool.size(), 4 * tlb.entries));
  const MissOracle ask = ask_behind(probe, *evictors);
  std::string reason;
  const auto conflict = find_eviction_set(pool, ask, reason);
  if (!conflict) return std::nullopt;
  const LineByConflicts entry = find_line(*conflict, tlb.granularity_bytes, tlb.entry_bytes, ask);
  if (entry.agreement < least_agreement) return std::nullopt;
  return entry.bytes;
}

}  // namespace sonde
