// Lists of entries into chases over pairs of accesses, and their costs into counts of misses.
#include "jobs/sets/tlb_probe.hpp"

#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

// Medians of so many passes make one outcome, and so many outcomes one answer.
constexpr std::array<std::uint64_t, 6> possible_repeats{1, 3, 5, 9, 15, 25};
constexpr std::uint64_t outcomes = 4;
constexpr std::uint64_t warmup_passes = 3;
// Lists up to this length are walked three times an outcome, whatever the noise: single slow
// accesses are gone.
constexpr std::size_t short_list = 1024;
constexpr std::uint64_t fewest_repeats_of_short_lists = 3;
// Half as many again as a inner level has push all others out, whatever it replaces, unless its
// sets are unequal.
constexpr double overfill = 1.5;
// Lines of different pages lie in different lines of every cache. Offsets up to 256 GiB then fit
// 32-bit numbers of them.
constexpr std::uint64_t line_step_bytes = 128;
constexpr std::uint64_t widest_room_bytes = 64_KiB;
constexpr std::uint64_t lines_of_pair = 4;  // two blocks co_resident each other, see SecondAccess

}  // namespace

std::uint64_t line_under(const TlbGeometry& shape, std::uint64_t entry, std::uint64_t shift) {
  const std::uint64_t room = std::min(shape.granularity_bytes, widest_room_bytes);
  const std::uint64_t places = std::max<std::uint64_t>(1, room / line_step_bytes);
  return entry + (mix_bits(entry / shape.granularity_bytes) + shift) % places * line_step_bytes;
}

std::uint64_t inner_entry(const TlbGeometry& shape, std::uint64_t entry) {
  return entry / std::max(shape.entry_bytes, shape.tlb.inner_step_bytes);
}

std::vector<std::size_t> spread_accesses(const TlbGeometry& shape, const Lines& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::map<std::uint64_t, std::vector<std::size_t>> by_inner;
  for (std::size_t i : order) by_inner[inner_entry(shape, entries[i])].push_back(i);
  if (by_inner.size() == entries.size()) return order;
  std::vector<double> key(entries.size());
  std::size_t number = 0;
  for (const auto& [inner, members] : by_inner) {
    const double phase = static_cast<double>(number++) / static_cast<double>(by_inner.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      key[members[i]] = (static_cast<double>(i) + phase) / static_cast<double>(members.size());
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return key[one] < key[other]; });
  return order;
}

std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbGeometry& shape,
                                                         const Lines& entries) {
  std::vector<std::vector<std::size_t>> rounds;
  std::map<std::uint64_t, std::size_t> accesses;  // of inner entries
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t round = accesses[inner_entry(shape, entries[i])]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  return rounds;
}

TlbOracle::TlbOracle(JobRun& run, const PageChaseSetup& setup, const TlbGeometry& shape,
                     std::uint64_t span_bytes)
    : run_(run), setup_(with_buffer(setup, span_bytes)), shape_(shape) {
  measure_noise();
}

std::vector<double> TlbOracle::costs_of(const std::string& what, const Offsets& places,
                                        const PairPasses& passes) {
  const std::string label = shape_.tlb.name + " " + what;
  return pair_costs(run_, setup_, label, {{setup_.chase.sm, places}}, passes).front();
}

/// Entries that fit the level, and overfill the inner ones: how much do their costs spread?
void TlbOracle::measure_noise() {
  constexpr std::uint64_t fewest_entries = 4;
  constexpr std::uint64_t accesses = 2000;
  constexpr double least_slow_share = 1e-3;  // so few would not show among so few accesses
  constexpr double sure_distance = 4.5;      // standard deviations: one in 3 x 10^5 lies beyond
  constexpr double median_inflation = 1.25;  // of the deviation, against a mean
  const std::uint64_t step_bytes = std::max(shape_.entry_bytes, shape_.tlb.inner_step_bytes);
  const auto overfilling =
      static_cast<std::uint64_t>(overfill * static_cast<double>(shape_.tlb.inner_entries));
  const std::uint64_t count =
      std::min(std::max(fewest_entries, overfilling), setup_.chase.buffer_bytes / step_bytes);
  Lines places;
  for (std::uint64_t i = 0; i < count; ++i) places.push_back(line_under(shape_, i * step_bytes));
  const std::vector<double> costs =
      costs_of("noise", places, {warmup_passes, accesses / count + 1});
  const TlbLevel& level = shape_.tlb.level;
  const double usual_cycles = median(costs);
  const double deviation_cycles = std::max(0.5, 1.4826 * median_absolute_deviation(costs));
  const double margin_cycles = std::min(level.threshold_cycles - usual_cycles,
                                        level.penalty_cycles - level.threshold_cycles);
  const auto slow = std::count_if(costs.begin(), costs.end(),
                                  [&](double cost) { return cost > level.threshold_cycles; });
  slow_share_ =
      std::max(least_slow_share, static_cast<double>(slow) / static_cast<double>(costs.size()));
  repeats_ = possible_repeats.back();
  for (std::uint64_t repeats : possible_repeats) {
    const double spread_cycles =
        median_inflation * deviation_cycles / std::sqrt(static_cast<double>(repeats));
    if (margin_cycles < sure_distance * spread_cycles) continue;
    repeats_ = repeats;
    break;
  }
}

/// One drawn entry and the pass_evictors, again and again: the entry must miss the inner levels,
/// and nothing this one.
bool TlbOracle::evicts_in_pass(const InnerEvictors& pass_evictors, std::uint64_t end_bytes) {
  constexpr int draws = 8;
  constexpr int unclear = 2;  // the way of a line to its slice hides a penalty of few cycles
  constexpr std::uint64_t passes = 9;
  Random random(derive_seed(run_.seed(), shape_.tlb.name + " scrub"));
  int emptied = 0;
  const std::uint64_t others =
      std::min(end_bytes, pass_evictors.accessed.front()) / shape_.entry_bytes;
  for (int draw = 0; draw < draws; ++draw) {
    Offsets places{line_under(shape_, random.below(others) * shape_.entry_bytes)};
    for (std::uint64_t offset : pass_evictors.accessed)
      places.push_back(line_under(shape_, offset));
    const ChaseLatencies costs{places.size(), costs_of("scrub", places, {warmup_passes, passes})};
    const std::vector<double> medians = position_medians(costs);
    emptied += medians.front() > shape_.tlb.inner_threshold_cycles;
    if (*std::max_element(medians.begin(), medians.end()) > shape_.tlb.level.threshold_cycles) {
      return false;
    }
  }
  return emptied + unclear >= draws;
}

std::optional<InnerEvictors> TlbOracle::find_pass_evictors(std::uint64_t end_bytes) {
  if (shape_.tlb.inner_entries == 0) return InnerEvictors{};
  const std::uint64_t step_bytes = shape_.tlb.inner_step_bytes;
  const std::uint64_t small_entries = std::max<std::uint64_t>(1, step_bytes / shape_.entry_bytes);
  // Twice as many, where the chase has to push its lines out of a virtually addressed cache, too.
  const std::uint64_t fewest = setup_.second_access == SecondAccess::next_block ? 8 : 4;
  for (std::uint64_t quarters : {4u, 5u, 6u, 8u, 12u, 16u}) {
    if (quarters < fewest) continue;
    const std::uint64_t count = (shape_.tlb.inner_entries * quarters + 3) / 4;
    if (count * step_bytes > end_bytes / 2) return std::nullopt;
    InnerEvictors pass_evictors;
    const std::uint64_t first_bytes = end_bytes / step_bytes * step_bytes - count * step_bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t inner = first_bytes + i * step_bytes;
      // Small entries: another place of each inner one, so that they do not meet in few sets.
      const std::uint64_t place = i % small_entries * shape_.entry_bytes;
      pass_evictors.accessed.push_back(inner + place);
      const std::uint64_t entry =
          pass_evictors.accessed.back() / shape_.entry_bytes * shape_.entry_bytes;
      if (pass_evictors.co_resident.empty() || pass_evictors.co_resident.back() != entry)
        pass_evictors.co_resident.push_back(entry);
      for (std::uint64_t other = 0; other < small_entries; ++other) {
        const std::uint64_t excluded = inner + other * shape_.entry_bytes;
        if (small_entries > 1 && excluded != entry) pass_evictors.excluded.push_back(excluded);
      }
    }
    if (2 * pass_evictors.co_resident.size() > shape_.entries) return std::nullopt;
    if (evicts_in_pass(pass_evictors, end_bytes)) return pass_evictors;
  }
  return std::nullopt;
}

MissCounts TlbOracle::chase(const Lines& lines, const InnerEvictors& pass_evictors) {
  std::vector<std::uint64_t> accessed;
  std::vector<std::size_t> place_of(lines.size());
  for (const std::vector<std::size_t>& round : rounds_of_accesses(shape_, lines)) {
    for (std::size_t i : round) {
      place_of[i] = accessed.size();
      accessed.push_back(lines[i]);
    }
    accessed.insert(accessed.end(), pass_evictors.accessed.begin(), pass_evictors.accessed.end());
  }
  const std::uint64_t repeats =
      lines.size() <= short_list ? std::max(repeats_, fewest_repeats_of_short_lists) : repeats_;
  MissCounts counts;
  counts.misses.resize(lines.size());
  counts.passes = outcomes;
  // Where even medians come near the threshold, an entry must miss in several outcomes.
  const double repeated_outliers = is_clear() ? 0 : 1;
  counts.outliers_per_pass =
      repeats == 1 ? slow_share_ * static_cast<double>(lines.size()) : repeated_outliers;
  for (std::uint64_t outcome = 0; outcome < outcomes; ++outcome) {
    Offsets places;  // other lines each time: the way to its slice takes each its own time
    for (std::uint64_t entry : accessed)
      places.push_back(line_under(shape_, entry, outcome * lines_of_pair));
    const ChaseLatencies costs{places.size(),
                               costs_of("conflicts", places, {warmup_passes, repeats})};
    const std::vector<double> medians = position_medians(costs);
    bool missed_any = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool missed = medians[place_of[i]] > shape_.tlb.level.threshold_cycles;
      counts.misses[i] += missed;
      missed_any = missed_any || missed;
    }
    counts.passes_with_misses += missed_any;
  }
  return counts;
}

std::vector<MissCounts> TlbOracle::ask(std::span<const Lines> lists,
                                       const InnerEvictors& pass_evictors) {
  std::vector<MissCounts> answers;
  for (const Lines& list : lists) answers.push_back(chase(list, pass_evictors));
  return answers;
}

std::size_t TlbOracle::longest_record(const Lines& access_evictors) const {
  // The list may stand in shared memory co_resident its record, four bytes a load.
  constexpr std::uint64_t list_entry_bytes = 4;
  return setup_.chase.recordable_accesses * record_bytes / (record_bytes + list_entry_bytes) / 2 /
         (1 + access_evictors.size());
}

std::vector<AccessRecord> TlbOracle::record(const Lines& lines, const Lines& access_evictors,
                                            std::vector<std::vector<std::uint16_t>> orders) {
  std::vector<AccessRecord> records;
  for (std::vector<std::uint16_t>& order : orders) {
    std::vector<std::vector<double>> costs;
    for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat) {
      Lines places;
      for (std::uint16_t line : order) {
        // Never the same again, or a cache before the TLB would answer.
        const bool fresh = setup_.second_access == SecondAccess::next_block;
        places.push_back(line_under(
            shape_, lines[line], fresh ? places.size() * lines_of_pair : repeat * lines_of_pair));
        for (std::uint64_t other : access_evictors) places.push_back(line_under(shape_, other));
      }
      costs.push_back(costs_of("policy", places, {.warmup = 0, .timed = 1}));
    }
    AccessRecord record{std::move(order), {}};
    std::set<std::uint16_t> seen;
    std::vector<double> of_visit(repeats_);
    for (std::size_t access = 0; access < record.lines.size(); ++access) {
      for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat) {
        of_visit[repeat] = costs[repeat][access * (1 + access_evictors.size())];
      }
      // What an earlier launch left in the TLB is not told from an empty one on the first access.
      const bool first = seen.insert(record.lines[access]).second;
      record.missed.push_back(first || median(of_visit) > shape_.tlb.level.threshold_cycles);
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace sonde
