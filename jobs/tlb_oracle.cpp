// Lists of entries into walks over pairs of visits, and their costs into counts of misses.
#include "jobs/tlb_oracle.hpp"

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
// Lists up to this length are walked three times an outcome, whatever the noise: single slow visits
// are gone.
constexpr std::size_t short_list = 1024;
constexpr std::uint64_t fewest_repeats_of_short_lists = 3;
// Half as many again as a nearer level has push all others out, whatever it replaces, unless its
// sets are unequal.
constexpr double overfill = 1.5;
// Lines of different pages lie in different lines of every cache. Offsets up to 256 GiB then fit
// 32-bit numbers of them.
constexpr std::uint64_t line_step_bytes = 128;
constexpr std::uint64_t widest_room_bytes = 64_KiB;
constexpr std::uint64_t lines_of_pair = 4;  // two blocks beside each other, see SecondVisit

}  // namespace

std::uint64_t line_under(const TlbShape& shape, std::uint64_t entry, std::uint64_t shift) {
  const std::uint64_t room = std::min(shape.granule_bytes, widest_room_bytes);
  const std::uint64_t places = std::max<std::uint64_t>(1, room / line_step_bytes);
  return entry + (mix_bits(entry / shape.granule_bytes) + shift) % places * line_step_bytes;
}

std::uint64_t nearer_entry(const TlbShape& shape, std::uint64_t entry) {
  return entry / std::max(shape.entry_bytes, shape.tlb.nearer_step_bytes);
}

std::vector<std::size_t> spread_visits(const TlbShape& shape, const Lines& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::map<std::uint64_t, std::vector<std::size_t>> by_nearer;
  for (std::size_t i : order) by_nearer[nearer_entry(shape, entries[i])].push_back(i);
  if (by_nearer.size() == entries.size()) return order;
  std::vector<double> key(entries.size());
  std::size_t number = 0;
  for (const auto& [nearer, members] : by_nearer) {
    const double phase = static_cast<double>(number++) / static_cast<double>(by_nearer.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      key[members[i]] = (static_cast<double>(i) + phase) / static_cast<double>(members.size());
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return key[one] < key[other]; });
  return order;
}

std::vector<std::vector<std::size_t>> rounds_of_visits(const TlbShape& shape,
                                                       const Lines& entries) {
  std::vector<std::vector<std::size_t>> rounds;
  std::map<std::uint64_t, std::size_t> visits;  // of nearer entries
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t round = visits[nearer_entry(shape, entries[i])]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  return rounds;
}

TlbOracle::TlbOracle(JobRun& run, const PageSetup& setup, const TlbShape& shape,
                     std::uint64_t span_bytes)
    : run_(run), setup_(with_buffer(setup, span_bytes)), shape_(shape) {
  measure_noise();
}

std::vector<double> TlbOracle::costs_of(const std::string& what, const Offsets& places,
                                        const PairPasses& passes) {
  const std::string label = shape_.tlb.name + " " + what;
  return pair_costs(run_, setup_, label, {{setup_.chase.sm, places}}, passes).front();
}

/// Entries that fit the level, and overfill the nearer ones: how much do their costs spread?
void TlbOracle::measure_noise() {
  constexpr std::uint64_t fewest_entries = 4;
  constexpr std::uint64_t visits = 2000;
  constexpr double least_slow_share = 1e-3;  // so few would not show among so few visits
  constexpr double sure_distance = 4.5;      // standard deviations: one in 3 x 10^5 lies beyond
  constexpr double median_inflation = 1.25;  // of the deviation, against a mean
  const std::uint64_t step_bytes = std::max(shape_.entry_bytes, shape_.tlb.nearer_step_bytes);
  const auto overfilling =
      static_cast<std::uint64_t>(overfill * static_cast<double>(shape_.tlb.nearer_entries));
  const std::uint64_t count =
      std::min(std::max(fewest_entries, overfilling), setup_.chase.buffer_bytes / step_bytes);
  Lines places;
  for (std::uint64_t i = 0; i < count; ++i) places.push_back(line_under(shape_, i * step_bytes));
  const std::vector<double> costs = costs_of("noise", places, {warmup_passes, visits / count + 1});
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

/// One drawn entry and the scrub, again and again: the entry must miss the nearer levels, and
/// nothing this one.
bool TlbOracle::is_scrub(const TlbScrub& scrub, std::uint64_t end_bytes) {
  constexpr int draws = 8;
  constexpr int unclear = 2;  // the way of a line to its slice hides a penalty of few cycles
  constexpr std::uint64_t passes = 9;
  Random random(derive_seed(run_.seed(), shape_.tlb.name + " scrub"));
  int emptied = 0;
  const std::uint64_t others = std::min(end_bytes, scrub.visited.front()) / shape_.entry_bytes;
  for (int draw = 0; draw < draws; ++draw) {
    Offsets places{line_under(shape_, random.below(others) * shape_.entry_bytes)};
    for (std::uint64_t offset : scrub.visited) places.push_back(line_under(shape_, offset));
    const WalkLatencies costs{places.size(), costs_of("scrub", places, {warmup_passes, passes})};
    const std::vector<double> medians = position_medians(costs);
    emptied += medians.front() > shape_.tlb.nearer_threshold_cycles;
    if (*std::max_element(medians.begin(), medians.end()) > shape_.tlb.level.threshold_cycles) {
      return false;
    }
  }
  return emptied + unclear >= draws;
}

std::optional<TlbScrub> TlbOracle::find_scrub(std::uint64_t end_bytes) {
  if (shape_.tlb.nearer_entries == 0) return TlbScrub{};
  const std::uint64_t step_bytes = shape_.tlb.nearer_step_bytes;
  const std::uint64_t small_entries = std::max<std::uint64_t>(1, step_bytes / shape_.entry_bytes);
  // Twice as many, where the walk has to push its lines out of a virtually addressed cache, too.
  const std::uint64_t fewest = setup_.second_visit == SecondVisit::next_block ? 8 : 4;
  for (std::uint64_t quarters : {4u, 5u, 6u, 8u, 12u, 16u}) {
    if (quarters < fewest) continue;
    const std::uint64_t count = (shape_.tlb.nearer_entries * quarters + 3) / 4;
    if (count * step_bytes > end_bytes / 2) return std::nullopt;
    TlbScrub scrub;
    const std::uint64_t first_bytes = end_bytes / step_bytes * step_bytes - count * step_bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t nearer = first_bytes + i * step_bytes;
      // Small entries: another place of each nearer one, so that they do not meet in few sets.
      const std::uint64_t place = i % small_entries * shape_.entry_bytes;
      scrub.visited.push_back(nearer + place);
      const std::uint64_t entry = scrub.visited.back() / shape_.entry_bytes * shape_.entry_bytes;
      if (scrub.beside.empty() || scrub.beside.back() != entry) scrub.beside.push_back(entry);
      for (std::uint64_t other = 0; other < small_entries; ++other) {
        const std::uint64_t hidden = nearer + other * shape_.entry_bytes;
        if (small_entries > 1 && hidden != entry) scrub.hidden.push_back(hidden);
      }
    }
    if (2 * scrub.beside.size() > shape_.entries) return std::nullopt;
    if (is_scrub(scrub, end_bytes)) return scrub;
  }
  return std::nullopt;
}

MissCounts TlbOracle::walk(const Lines& lines, const TlbScrub& scrub) {
  std::vector<std::uint64_t> visited;
  std::vector<std::size_t> place_of(lines.size());
  for (const std::vector<std::size_t>& round : rounds_of_visits(shape_, lines)) {
    for (std::size_t i : round) {
      place_of[i] = visited.size();
      visited.push_back(lines[i]);
    }
    visited.insert(visited.end(), scrub.visited.begin(), scrub.visited.end());
  }
  const std::uint64_t repeats =
      lines.size() <= short_list ? std::max(repeats_, fewest_repeats_of_short_lists) : repeats_;
  MissCounts counts;
  counts.misses.resize(lines.size());
  counts.passes = outcomes;
  // Where even medians come near the threshold, an entry must miss in several outcomes.
  const double repeated_slow_hits = is_clear() ? 0 : 1;
  counts.slow_hits_per_pass =
      repeats == 1 ? slow_share_ * static_cast<double>(lines.size()) : repeated_slow_hits;
  for (std::uint64_t outcome = 0; outcome < outcomes; ++outcome) {
    Offsets places;  // other lines each time: the way to its slice takes each its own time
    for (std::uint64_t entry : visited)
      places.push_back(line_under(shape_, entry, outcome * lines_of_pair));
    const WalkLatencies costs{places.size(),
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

std::vector<MissCounts> TlbOracle::ask(std::span<const Lines> lists, const TlbScrub& scrub) {
  std::vector<MissCounts> answers;
  for (const Lines& list : lists) answers.push_back(walk(list, scrub));
  return answers;
}

std::size_t TlbOracle::longest_record(const Lines& rinse) const {
  // The list may stand in shared memory beside its record, four bytes a load.
  constexpr std::uint64_t list_entry_bytes = 4;
  return setup_.chase.recordable_accesses * record_bytes / (record_bytes + list_entry_bytes) / 2 /
         (1 + rinse.size());
}

std::vector<SetRecord> TlbOracle::record(const Lines& lines, const Lines& rinse,
                                         std::vector<std::vector<std::uint16_t>> orders) {
  std::vector<SetRecord> records;
  for (std::vector<std::uint16_t>& order : orders) {
    std::vector<std::vector<double>> costs;
    for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat) {
      Lines places;
      for (std::uint16_t line : order) {
        // Never the same again, or a cache before the TLB would answer.
        const bool fresh = setup_.second_visit == SecondVisit::next_block;
        places.push_back(line_under(
            shape_, lines[line], fresh ? places.size() * lines_of_pair : repeat * lines_of_pair));
        for (std::uint64_t other : rinse) places.push_back(line_under(shape_, other));
      }
      costs.push_back(costs_of("policy", places, {.warmup = 0, .timed = 1}));
    }
    SetRecord record{std::move(order), {}};
    std::set<std::uint16_t> seen;
    std::vector<double> of_visit(repeats_);
    for (std::size_t visit = 0; visit < record.lines.size(); ++visit) {
      for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat) {
        of_visit[repeat] = costs[repeat][visit * (1 + rinse.size())];
      }
      // What an earlier launch left in the TLB is not told from an empty one on the first visit.
      const bool first = seen.insert(record.lines[visit]).second;
      record.missed.push_back(first || median(of_visit) > shape_.tlb.level.threshold_cycles);
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace sonde
