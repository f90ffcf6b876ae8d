// Turns lists of entries into chases over pairs of accesses (jobs/tlb/page_chase), and their costs
// into counts of misses.
#include "jobs/tlb/tlb_probe.hpp"

#include "analysis/statistics.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace sonde {
namespace {

// The median of this many passes is an outcome; `outcomes` of them are an answer.
constexpr std::array<std::uint64_t, 6> possible_repeats{1, 3, 5, 9, 15, 25};
constexpr std::uint64_t outcomes = 4;
constexpr std::uint64_t outcomes_that_fit = 2;  // an overflow misses in three of four
constexpr std::uint64_t warmup_passes = 3;
// One and a half times the entries of an inner level evict all others under any policy, if its sets
// are equal.
constexpr double overfill = 1.5;

/// Entries to search with: enough to vary all address bits of a usual index, or the whole memory.
LinePool choose_pool(const TlbUnderTest& tlb) {
  constexpr std::uint64_t spans_of_level = 16;  // address bits beyond those of the index
  const std::uint64_t level_bytes = tlb.entries * tlb.entry_bytes;
  const std::uint64_t span_bytes = std::min(std::bit_ceil(level_bytes * spans_of_level),
                                            tlb.limit_bytes / tlb.entry_bytes * tlb.entry_bytes);
  ChaseSetup chase = tlb.chase;
  chase.buffer_bytes = span_bytes;
  return {.line_bytes = tlb.entry_bytes,
          .span_bytes = span_bytes,
          .cached_lines = tlb.entries,
          .seed = derive_seed(tlb.run.seed(), tlb.name + " sets"),
          .buffer_address = address_of_buffer(tlb.run, chase)};
}

/// Chases are short, because each access costs two loads and is repeated if costs are noisy.
SetsProbe::Traits describe(const TlbUnderTest& tlb) {
  constexpr std::uint64_t large_level = 256;  // in a smaller one busy entries leave too few
  return {.name = tlb.name,
          .pool = choose_pool(tlb),
          .most_accesses = 1000,
          .compared_sets = 1,
          .may_have_room = tlb.entries >= large_level};
}

/// Lines of entries in the order of a pass. An entry that is accessed again changes its line every
/// second time: a sector has four words, enough for two pairs of a chain of addresses.
Offsets lines_of_pass(const TlbUnderTest& tlb, const Lines& accessed, std::uint64_t shift) {
  constexpr std::uint64_t pairs_of_sector = 2;
  constexpr std::uint64_t other_line = 37;  // prime to the lines of a page
  std::unordered_map<std::uint64_t, std::uint64_t> times;
  Offsets places;
  for (std::uint64_t entry : accessed) {
    places.push_back(line_under(tlb, entry, shift + times[entry]++ / pairs_of_sector * other_line));
  }
  return places;
}

/// Offset of one of the translations within an entry, or within an inner entry if that is smaller.
/// Equal numbers give equal offsets.
std::uint64_t any_translation(const TlbUnderTest& tlb, std::uint64_t number) {
  const std::uint64_t whole_bytes = std::min(tlb.entry_bytes, tlb.inner.step_bytes);
  const std::uint64_t translations =
      std::max<std::uint64_t>(1, whole_bytes / tlb.granularity_bytes);
  return mix_bits(number) % translations * tlb.granularity_bytes;
}

/// One entry in each of `count` consecutive inner entries from `first_bytes` on, each at a
/// different translation, by which levels of smaller entries may choose their sets.
PassEvictors entries_in_a_row(const TlbUnderTest& tlb, std::uint64_t first_bytes,
                              std::uint64_t count) {
  const std::uint64_t step_bytes = tlb.inner.step_bytes;
  const std::uint64_t small_entries = std::max<std::uint64_t>(1, step_bytes / tlb.entry_bytes);
  PassEvictors evictors;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t inner = first_bytes + i * step_bytes;
    // If entries are small: a different one in each inner entry, so that they use many sets.
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

/// Random entries, each in its own inner entry outside `taken`: as many as the draws find.
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

/// Which entries lie outside the set of `lines`: by the index, or by chases with its conflict.
std::vector<bool> lie_elsewhere(const Lines& entries, const Lines& lines, const SetLayout& layout,
                                const MissOracle& ask) {
  std::vector<bool> elsewhere;
  if (layout.index.kind != IndexKind::unresolved && layout.resolved()) {
    const std::uint64_t home = set_of(layout.index, lines.front());
    for (std::uint64_t entry : entries) elsewhere.push_back(set_of(layout.index, entry) != home);
    return elsewhere;
  }
  elsewhere = find_members(*layout.conflict, entries, ask);
  elsewhere.flip();
  return elsewhere;
}

/// Outer levels have extra room besides their sets, in a different state in each GPC. A search that
/// mixes SMs may go wrong (one of six on H200s did, for 25 s).
std::vector<int> choose_sms(const TlbUnderTest& tlb) {
  const bool is_first = tlb.inner.entries == 0;
  return is_first && !tlb.sms_apart.empty() ? tlb.sms_apart : std::vector{tlb.chase.sm};
}

}  // namespace

double end_of_search(const JobRun& run) {
  constexpr double most_search_s = 12;
  return run.device_s() + most_search_s;
}

TlbProbe::TlbProbe(const TlbUnderTest& tlb, double end_device_s)
    : SetsProbe(tlb.run, describe(tlb)),
      tlb_(tlb),
      sms_(choose_sms(tlb)),
      end_device_s_(end_device_s) {
  tlb_.chase.buffer_bytes = pool().span_bytes;
  measure_noise();
}

std::vector<double> TlbProbe::costs_of(const char* what, Offsets places, const PairPasses& passes) {
  const std::string label = tlb_.name + " " + what;
  return pair_costs(tlb_, label, {{tlb_.chase.sm, std::move(places)}}, passes).front();
}

/// Measures how much the costs of entries spread that fit the level and overfill the inner levels.
void TlbProbe::measure_noise() {
  constexpr std::uint64_t fewest_entries = 4;
  constexpr std::uint64_t accesses = 2000;
  constexpr double least_outlier_share = 1e-3;  // fewer would not be seen in this many accesses
  constexpr double sure_distance = 4.5;         // standard deviations; one in 3 x 10^5 lies beyond
  constexpr double median_inflation = 1.25;     // of the deviation, compared with a mean
  const auto overfilling =
      static_cast<std::uint64_t>(overfill * static_cast<double>(tlb_.inner.entries));
  const std::uint64_t count =
      std::min(std::max(fewest_entries, overfilling), tlb_.chase.buffer_bytes / tlb_.step_bytes());
  Offsets places;
  for (std::uint64_t i = 0; i < count; ++i)
    places.push_back(line_under(tlb_, i * tlb_.step_bytes()));
  const std::vector<double> costs =
      costs_of("noise", places, {.warmup = warmup_passes, .timed = accesses / count + 1});
  const TlbLevel& level = tlb_.level;
  const double deviation_cycles = std::max(0.5, normal_scale * median_absolute_deviation(costs));
  const double margin_cycles = std::min(level.threshold_cycles - median(costs),
                                        level.penalty_cycles - level.threshold_cycles);
  outlier_share_ =
      std::max(least_outlier_share, fraction_above({costs.size(), costs}, level.threshold_cycles));
  repeats_ = possible_repeats.back();
  for (std::uint64_t repeats : possible_repeats) {
    const double spread_cycles =
        median_inflation * deviation_cycles / std::sqrt(static_cast<double>(repeats));
    if (margin_cycles < sure_distance * spread_cycles) continue;
    repeats_ = repeats;
    break;
  }
}

/// Chases one random entry and the pass evictors repeatedly: the entry must miss the inner levels,
/// and nothing may miss this level. Evictors that just fill a set of the inner levels stay there if
/// no other entry of the set is accessed, and then do not occupy this level. So all evictors should
/// miss the inner levels, too.
TlbProbe::InPass TlbProbe::try_in_pass(const PassEvictors& pass_evictors, std::uint64_t end_bytes) {
  constexpr int draws = 8;
  constexpr int unclear = 2;  // the distance to the slice can outweigh a small penalty
  constexpr double few_staying = 0.1;
  constexpr std::uint64_t passes = 9;
  Random random(derive_seed(tlb_.run.seed(), tlb_.name + " scrub"));
  int evicted = 0;
  int all_evicted = 0;
  const std::uint64_t others =
      std::min(end_bytes, pass_evictors.accessed.front()) / tlb_.entry_bytes;
  for (int draw = 0; draw < draws; ++draw) {
    const std::uint64_t entry = random.below(others) * tlb_.entry_bytes;
    Offsets places{line_under(tlb_, entry + any_translation(tlb_, random()))};
    for (std::uint64_t offset : pass_evictors.accessed) places.push_back(line_under(tlb_, offset));
    const ChaseLatencies costs{places.size(), costs_of("pass evictors", places,
                                                       {.warmup = warmup_passes, .timed = passes})};
    const auto missing = positions_above(costs, tlb_.inner.threshold_cycles, passes / 2 + 1);
    evicted += missing.front();
    all_evicted += static_cast<double>(count_set(missing)) >=
                   (1 - few_staying) * static_cast<double>(missing.size());
    const std::vector<double> medians = position_medians(costs);
    if (*std::max_element(medians.begin(), medians.end()) > tlb_.level.threshold_cycles) return {};
  }
  return {.evicts = evicted + unclear >= draws, .evicts_itself = all_evicted + unclear >= draws};
}

std::optional<PassEvictors> TlbProbe::find_pass_evictors(std::uint64_t end_bytes) {
  if (tlb_.inner.entries == 0) return PassEvictors{};
  const std::uint64_t step_bytes = tlb_.inner.step_bytes;
  // Twice as many if the chase must also evict its lines from a virtually addressed cache.
  const std::uint64_t fewest = tlb_.second_access == SecondAccess::next_block ? 8 : 4;
  std::optional<PassEvictors> first;  // evict all but themselves
  for (std::uint64_t quarters : {4u, 5u, 6u, 8u, 12u, 16u}) {
    if (quarters < fewest) continue;
    const std::uint64_t count = (tlb_.inner.entries * quarters + 3) / 4;
    if (count * step_bytes > end_bytes / 2) return first;
    const std::uint64_t first_bytes = end_bytes / step_bytes * step_bytes - count * step_bytes;
    PassEvictors evictors = entries_in_a_row(tlb_, first_bytes, count);
    if (2 * evictors.co_resident.size() > tlb_.entries) return first;
    const InPass in_pass = try_in_pass(evictors, end_bytes);
    if (in_pass.evicts && in_pass.evicts_itself) return evictors;
    if (in_pass.evicts && !first) first = std::move(evictors);
  }
  return first;
}

std::optional<PassEvictors> TlbProbe::find_other_pass_evictors(const PassEvictors& first) {
  if (first.accessed.empty()) return std::nullopt;
  const std::uint64_t step_bytes = std::max(tlb_.step_bytes(), tlb_.inner.step_bytes);
  return find_pass_evictors(first.accessed.front() / step_bytes * step_bytes);
}

/// The lines in rounds, with the pass evictors after each round.
TlbProbe::PassOrder TlbProbe::order_of_pass(const Lines& lines,
                                            const PassEvictors& pass_evictors) const {
  PassOrder order{.accessed = {}, .place_of = std::vector<std::size_t>(lines.size())};
  for (const std::vector<std::size_t>& round : rounds_of_accesses(tlb_, lines)) {
    for (std::size_t i : round) {
      order.place_of[i] = order.accessed.size();
      order.accessed.push_back(lines[i]);
    }
    order.accessed.insert(order.accessed.end(), pass_evictors.accessed.begin(),
                          pass_evictors.accessed.end());
  }
  return order;
}

/// For lists of equal length and passes of equal length, each on its own SM. Ends when so many
/// outcomes have no miss that no list can overflow any more.
std::vector<MissCounts> TlbProbe::count_misses(const std::vector<PassOrder>& orders) {
  // Such lists are chased three times per outcome in any case, which removes single outliers.
  constexpr std::size_t short_list = 1024;
  constexpr std::uint64_t fewest_repeats_of_short_lists = 3;
  const std::size_t listed = orders.front().place_of.size();
  const std::uint64_t repeats =
      listed <= short_list ? std::max(repeats_, fewest_repeats_of_short_lists) : repeats_;
  // If even medians come near the threshold, an entry must miss in several outcomes.
  const double repeated_outliers = is_clear() ? 0 : 1;
  const double outliers_per_pass =
      repeats == 1 ? outlier_share_ * static_cast<double>(listed) : repeated_outliers;
  std::vector<MissCounts> counts(orders.size(), {.misses = std::vector<std::uint32_t>(listed),
                                                 .outliers_per_pass = outliers_per_pass});
  const auto may_overflow = [](const MissCounts& seen) {
    return seen.passes - seen.passes_with_misses < outcomes_that_fit;
  };
  for (std::uint64_t outcome = 0; outcome < outcomes && std::ranges::any_of(counts, may_overflow);
       ++outcome) {
    std::vector<ChaseLane> lanes;
    // Another line each time, as the distance to the slice differs by line.
    for (std::size_t lane = 0; lane < orders.size(); ++lane)
      lanes.push_back(
          {sms_[lane], lines_of_pass(tlb_, orders[lane].accessed, outcome * next_line)});
    const auto costs = pair_costs(tlb_, tlb_.name + " conflicts", lanes,
                                  {.warmup = warmup_passes, .timed = repeats});
    for (std::size_t lane = 0; lane < orders.size(); ++lane) {
      const PassOrder& order = orders[lane];
      const std::vector<double> medians = position_medians({order.accessed.size(), costs[lane]});
      bool missed_any = false;
      for (std::size_t i = 0; i < listed; ++i) {
        const bool missed = medians[order.place_of[i]] > tlb_.level.threshold_cycles;
        counts[lane].misses[i] += missed;
        missed_any = missed_any || missed;
      }
      ++counts[lane].passes;
      counts[lane].passes_with_misses += missed_any;
    }
  }
  return counts;
}

std::vector<MissCounts> TlbProbe::ask(std::span<const Lines> lists,
                                      const PassEvictors& pass_evictors) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> alike;
  std::vector<PassOrder> orders;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    orders.push_back(order_of_pass(lists[i], pass_evictors));
    alike[{lists[i].size(), orders[i].accessed.size()}].push_back(i);
  }
  std::vector<MissCounts> answers(lists.size());
  for (const auto& [lengths, numbers] : alike) {
    // If there were more pages than the L2 keeps, lines would come from the memory.
    const std::size_t at_once =
        std::clamp<std::size_t>(tlb_.kept_pages / lengths.second, 1, sms_.size());
    for (std::size_t first = 0; first < numbers.size(); first += at_once) {
      if (tlb_.run.device_s() > end_device_s_) throw SearchOverTime();
      std::vector<PassOrder> together;
      for (std::size_t i = first; i < std::min(first + at_once, numbers.size()); ++i)
        together.push_back(std::move(orders[numbers[i]]));
      const std::vector<MissCounts> counts = count_misses(together);
      for (std::size_t i = 0; i < counts.size(); ++i) answers[numbers[first + i]] = counts[i];
    }
  }
  return answers;
}

std::optional<Lines> TlbProbe::find_access_evictors(const SetFindings& found, const Lines& lines) {
  const Lines& accessed = found.pass_evictors.accessed;
  const std::size_t wanted = accessed.size() - found.pass_evictors.busy;
  if (wanted == 0) return Lines{};
  const LinePool& pool = found.pool;
  std::set<std::uint64_t> taken;  // numbers of inner entries
  for (std::uint64_t line : lines) taken.insert(inner_entry(tlb_, line));
  for (std::uint64_t line : pool.co_resident) taken.insert(inner_entry(tlb_, line));
  const Lines entries = draw_entries(tlb_, pool, std::move(taken), 4 * wanted);
  const std::vector<bool> elsewhere =
      lie_elsewhere(entries, lines, found.layout, ask_behind(*this, found.pass_evictors));
  Lines evictors;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!elsewhere[i]) continue;
    for (std::uint64_t part = 0; part < pool.line_bytes && evictors.size() < wanted;
         part += std::min(tlb_.inner.step_bytes, pool.line_bytes)) {
      evictors.push_back(entries[i] + part + any_translation(tlb_, evictors.size()));
    }
  }
  if (evictors.size() < wanted) return std::nullopt;
  evictors.insert(evictors.end(), accessed.begin() + static_cast<std::ptrdiff_t>(wanted),
                  accessed.end());
  return evictors;
}

}  // namespace sonde
