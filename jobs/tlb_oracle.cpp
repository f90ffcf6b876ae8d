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
// Half as many again as a nearer level has push all others out, whatever it replaces.
constexpr double overfill = 1.5;
// Lines of different pages lie in different lines of every cache. Offsets up to 256 GiB then fit
// 32-bit numbers of them.
constexpr std::uint64_t line_step_bytes = 128;
constexpr std::uint64_t widest_room_bytes = 64_KiB;
constexpr std::uint64_t lines_of_pair = 4;  // two blocks beside each other, see SecondVisit

bool contains(const Lines& sorted, std::uint64_t line) {
  return std::binary_search(sorted.begin(), sorted.end(), line);
}

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::size_t count_nearer_entries(const TlbShape& shape, const Lines& entries) {
  std::set<std::uint64_t> numbers;
  for (std::uint64_t entry : entries) numbers.insert(nearer_entry(shape, entry));
  return numbers.size();
}

}  // namespace

std::uint64_t line_under(const TlbShape& shape, std::uint64_t entry, std::uint64_t shift) {
  const std::uint64_t room = std::min(shape.granule_bytes, widest_room_bytes);
  const std::uint64_t places = std::max<std::uint64_t>(1, room / line_step_bytes);
  return entry + (mix_bits(entry / shape.entry_bytes) + shift) % places * line_step_bytes;
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

TlbOracle::TlbOracle(JobRun& run, const PageSetup& setup, const TlbShape& shape,
                     std::uint64_t span_bytes)
    : run_(run), setup_(with_buffer(setup, span_bytes)), shape_(shape) {
  hiding_entries_ =
      static_cast<std::size_t>(overfill * static_cast<double>(shape.tlb.nearer_entries));
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
  const std::uint64_t count = std::max<std::uint64_t>(fewest_entries, hiding_entries_);
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

MissCounts TlbOracle::walk(const Lines& lines, std::size_t listed) {
  const std::vector<std::size_t> order = spread_visits(shape_, lines);
  Lines places;
  for (std::size_t i : order) places.push_back(line_under(shape_, lines[i]));
  const std::uint64_t repeats =
      lines.size() <= short_list ? std::max(repeats_, fewest_repeats_of_short_lists) : repeats_;
  const std::vector<double> costs =
      costs_of("conflicts", places, {warmup_passes, outcomes * repeats});
  MissCounts counts;
  counts.misses.resize(lines.size());
  counts.passes = outcomes;
  counts.slow_hits_per_pass = repeats == 1 ? slow_share_ * static_cast<double>(lines.size()) : 0;
  std::vector<double> of_outcome(repeats);
  for (std::uint64_t outcome = 0; outcome < outcomes; ++outcome) {
    bool missed_any = false;
    for (std::size_t at = 0; at < order.size(); ++at) {
      for (std::uint64_t i = 0; i < repeats; ++i) {
        of_outcome[i] = costs[(outcome * repeats + i) * order.size() + at];
      }
      const bool missed = median(of_outcome) > shape_.tlb.level.threshold_cycles;
      counts.misses[order[at]] += missed;
      missed_any = missed_any || (missed && order[at] < listed);
    }
    counts.passes_with_misses += missed_any;
  }
  return counts;
}

/// In an overfull set of a TLB that replaces the oldest, every entry misses in every pass.
void TlbOracle::learn(const Lines& lines, const MissCounts& counts) {
  if (shape_.tlb.nearer_entries == 0 ||
      count_nearer_entries(shape_, lines) <= shape_.tlb.nearer_entries)
    return;
  Parting parting;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (counts.misses[i] == 0) parting.held.push_back(lines[i]);
    if (counts.misses[i] + 1 >= counts.passes) parting.missed.push_back(lines[i]);
  }
  const std::size_t told = parting.held.size() + parting.missed.size();
  if (parting.missed.size() < 2 || 8 * (lines.size() - told) > parting.missed.size()) return;
  partings_.push_back({sorted(std::move(parting.missed)), sorted(std::move(parting.held))});
}

/// What walks told apart from an entry, walk by walk, the latest first.
std::vector<const Lines*> TlbOracle::apart_from(std::uint64_t line) const {
  std::vector<const Lines*> apart;
  for (auto parting = partings_.rbegin(); parting != partings_.rend(); ++parting) {
    if (contains(parting->missed, line)) apart.push_back(&parting->held);
    if (contains(parting->held, line)) apart.push_back(&parting->missed);
  }
  return apart;
}

Lines TlbOracle::find_apart(const Lines& lines, std::size_t wanted) const {
  std::vector<std::vector<const Lines*>> apart;
  std::set<std::uint64_t> tried;  // nearer entries
  for (std::uint64_t line : lines) {
    apart.push_back(apart_from(line));
    tried.insert(nearer_entry(shape_, line));
  }
  const auto is_apart_from_all = [&](std::uint64_t other) {
    return std::all_of(apart.begin(), apart.end(), [&](const std::vector<const Lines*>& walks) {
      return std::any_of(walks.begin(), walks.end(),
                         [&](const Lines* walk) { return contains(*walk, other); });
    });
  };
  Lines found;
  for (const Lines* walk : apart.front()) {
    for (std::uint64_t other : *walk) {
      if (found.size() == wanted) return found;
      if (tried.contains(nearer_entry(shape_, other)) || !is_apart_from_all(other)) continue;
      tried.insert(nearer_entry(shape_, other));
      found.push_back(other);
    }
  }
  return found;
}

std::vector<MissCounts> TlbOracle::ask(std::span<const Lines> lists) {
  std::vector<MissCounts> answers;
  for (const Lines& list : lists) {
    Lines walked = list;
    if (count_nearer_entries(shape_, list) < hiding_entries_) {
      const Lines beside = find_apart(list, hiding_entries_ - count_nearer_entries(shape_, list));
      walked.insert(walked.end(), beside.begin(), beside.end());
    }
    MissCounts counts = walk(walked, list.size());
    learn(walked, counts);
    counts.misses.resize(list.size());
    answers.push_back(std::move(counts));
  }
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
    Lines places;
    for (std::uint16_t line : order) {
      // Never the same again, or a cache before the TLB would answer.
      const bool fresh = setup_.second_visit == SecondVisit::next_block;
      places.push_back(line_under(shape_, lines[line], fresh ? places.size() * lines_of_pair : 0));
      for (std::uint64_t other : rinse) places.push_back(line_under(shape_, other));
    }
    std::vector<std::vector<double>> costs;
    for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat) {
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
