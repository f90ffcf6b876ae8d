// Upper bounds of what CacheArray, ReplacementState, LineMap and PageTables allocate.
#include "device/sim/model/memory_budget.hpp"

#include "base/units.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

// A slot has its tag and mark (9 bytes), its place in an order of use (8), two bits of a tree (2),
// a place in the map of a set of many ways (32), and the number of its fill and that in the queue
// of fills (32), of which no policy needs all.
constexpr double bytes_per_slot = 64;
// A set has the words before its tags and up to a line of the host after them (16 + 64), its ends
// of the order of use, its guard and its hand (20), and a copy of its number of ways (4).
constexpr double bytes_per_set = 104;
// The number of ways of a set in the model itself, for each geometry.
constexpr double declared_bytes_per_set = 4;

double arrays_of(const ChipModel& chip, int partitions, Scope scope) {
  switch (scope) {
    case Scope::sm: return static_cast<double>(chip.enabled_tpcs) * chip.sms_per_tpc;
    case Scope::tpc: return chip.enabled_tpcs;
    case Scope::gpc: return chip.gpcs;
    case Scope::partition: return partitions;
    case Scope::device: return 1;
  }
  return 1;
}

}  // namespace

void MemoryBudget::spend_arrays(const Fields& fields, const std::string& key, Scope scope,
                                std::uint64_t sets, std::uint64_t ways) {
  const auto set_count = static_cast<double>(sets);
  const double array_bytes =
      set_count * (bytes_per_set + bytes_per_slot * static_cast<double>(ways));
  const double cache_bytes =
      std::max(cache_bytes_, array_bytes * arrays_of(chip_, partitions_, scope));
  spend(fields, key, set_count * declared_bytes_per_set + cache_bytes - cache_bytes_);
  cache_bytes_ = cache_bytes;
}

void MemoryBudget::spend_page_tables(const Fields& fields, const PageModel& pages,
                                     std::uint64_t memory_bytes) {
  constexpr double bits_per_byte = 8;
  const auto memory = static_cast<double>(memory_bytes);
  double size_bytes = memory / static_cast<double>(pages.page_bytes) / bits_per_byte;
  if (pages.mapping == PageMapping::random) {
    size_bytes += memory / static_cast<double>(pages.block_bytes) * sizeof(std::uint64_t);
  }
  spend(fields, "page_bytes", size_bytes);
}

void MemoryBudget::spend(const Fields& fields, const std::string& key, double size_bytes) {
  spent_bytes_ += size_bytes;
  if (spent_bytes_ <= limits::host_bytes) return;
  fields.fail(key, "brings what the simulated GPU may take of the host's memory to " +
                       format_bytes(spent_bytes_) + " (at most " +
                       format_bytes(limits::host_bytes) +
                       " are allowed) declare fewer or smaller sets, fewer SMs or larger pages");
}

}  // namespace sonde::sim
