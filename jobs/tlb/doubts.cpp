// Confidence that other readings of the same chases take away.
#include "jobs/tlb/doubts.hpp"

#include <fmt/format.h>

#include <string>

namespace sonde {
namespace {

constexpr double doubtful = 0.5;  // one reading of two

}  // namespace

void doubt_wide_entries(const TlbUnderTest& tlb) {
  constexpr std::uint64_t most_pages_of_tlb = 16;
  const std::uint64_t page_bytes = tlb.inner.page_bytes;
  if (page_bytes == 0 || tlb.entry_bytes <= most_pages_of_tlb * page_bytes) return;
  tlb.run.doubt(tlb.name + ".", doubtful,
                fmt::format("an entry covers {} times what is translated at once: it may be that "
                            "of a cache of page tables",
                            tlb.entry_bytes / page_bytes));
}

void doubt_levels_behind(const PageChaseSetup& setup, const std::vector<PageChaseCosts>& chases,
                         std::span<const char* const> names, const std::vector<TlbLevel>& levels) {
  const auto hides = level_that_may_hide_another(chases, levels, setup.least_step_cycles);
  if (!hides) return;
  for (std::size_t i = *hides + 1; i < levels.size(); ++i) {
    setup.run.doubt(std::string(names[i]) + ".", doubtful,
                    fmt::format("misses of {} cost more in longer chases, by less than a third: a "
                                "level may lie before this one",
                                names[*hides]));
  }
}

}  // namespace sonde
