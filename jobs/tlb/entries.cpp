// Which line of an entry is accessed, and entries sorted into rounds of different inner entries;
// the chases of jobs/sets/tlb_probe and jobs/tlb/scope are made of them.
#include "jobs/tlb/entries.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <map>

namespace sonde {

std::uint64_t line_under(const TlbUnderTest& tlb, std::uint64_t entry, std::uint64_t shift) {
  const std::uint64_t spread_bytes = std::min(tlb.granularity_bytes, widest_spread_bytes);
  // Lines of different pages lie in different lines of every cache. Offsets up to 256 GiB then fit
  // 32-bit numbers of them.
  const std::uint64_t places = std::max<std::uint64_t>(1, spread_bytes / common_line_bytes);
  return entry + (mix_bits(entry / tlb.granularity_bytes) + shift) % places * common_line_bytes;
}

std::uint64_t inner_entry(const TlbUnderTest& tlb, std::uint64_t entry) {
  return entry / tlb.step_bytes();
}

std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbUnderTest& tlb,
                                                         const Lines& entries) {
  std::vector<std::vector<std::size_t>> rounds;
  std::map<std::uint64_t, std::size_t> accesses;  // of inner entries
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t round = accesses[inner_entry(tlb, entries[i])]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  return rounds;
}

}  // namespace sonde
