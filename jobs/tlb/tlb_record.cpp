// Records hits and misses of orders of accesses to the entries of one set, for the match of
// policies.
#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "jobs/tlb/tlb_probe.hpp"

#include <set>

namespace sonde {
namespace {

/// Latency of a line of each place when its translation is in the TLB: the median of some passes.
/// @pre second accesses go to the same line
std::vector<double> second_access_cycles(const PageChaseSetup& setup, const std::string& label,
                                         const Offsets& places) {
  require(setup.second_access == SecondAccess::same_line,
          "a second access to another line says nothing about the first line");
  constexpr std::uint64_t passes = 5;
  const ChasePlan plan{
      .offsets = twice_each(places), .passes = passes, .evidence = Evidence::of_a_search};
  const auto medians = position_medians(measure_chase(setup.run, setup.chase, label, plan));
  std::vector<double> seconds;
  for (std::size_t i = 1; i < medians.size(); i += 2) seconds.push_back(medians[i]);
  return seconds;
}

/// Latency of each access of a list, each made once in this order in one launch.
/// @pre one launch can record the list
std::vector<double> single_access_cycles(const PageChaseSetup& setup, const std::string& label,
                                         Offsets places) {
  LaneChases chases{.recorded_accesses = places.size(),
                    .most_at_once = setup.chase.recordable_accesses,
                    .evidence = Evidence::of_a_search};
  chases.lanes.push_back(
      {.sm = setup.chase.sm, .offsets_bytes = std::move(places), .path = setup.chase.path});
  return record_lanes(setup.run, setup.chase, label, std::move(chases)).front();
}

}  // namespace

std::size_t TlbProbe::longest_record(std::size_t access_evictors) const {
  return longest_recorded_list(tlb_.chase) / 2 / (1 + access_evictors);
}

/// Cost of the translation of each access of an order. Each access is made once: a second access
/// would mark the entry as used, and policies that depend on that (RRIP) would look equal.
/// @param warm_cycles latencies without a translation
std::vector<double> TlbProbe::costs_in_order(const std::vector<std::uint16_t>& order,
                                             const Offsets& places, const Lines& access_evictors,
                                             const std::vector<double>& warm_cycles) {
  Offsets accesses;
  for (std::uint16_t line : order) {
    accesses.push_back(places[line]);
    for (std::uint64_t other : access_evictors) accesses.push_back(line_under(tlb_, other));
  }
  const auto cycles = single_access_cycles(tlb_, tlb_.name + " policy", std::move(accesses));
  std::vector<double> costs;
  for (std::size_t i = 0; i < order.size(); ++i) {
    costs.push_back(cycles[i * (1 + access_evictors.size())] - warm_cycles[order[i]]);
  }
  return costs;
}

/// The same by pairs. Every pair has its own lines, as a cache before the TLB would serve a line
/// that was accessed earlier.
std::vector<double> TlbProbe::costs_of_pairs_in_order(const std::vector<std::uint16_t>& order,
                                                      const Lines& lines,
                                                      const Lines& access_evictors) {
  Offsets places;
  for (std::uint16_t line : order) {
    places.push_back(line_under(tlb_, lines[line], places.size() * next_line));
    for (std::uint64_t other : access_evictors) places.push_back(line_under(tlb_, other));
  }
  const auto of_all = costs_of("policy", std::move(places), {.warmup = 0, .timed = 1});
  std::vector<double> costs;
  for (std::size_t i = 0; i < of_all.size(); i += 1 + access_evictors.size())
    costs.push_back(of_all[i]);
  return costs;
}

std::vector<AccessRecord> TlbProbe::record(const Lines& lines, const Lines& access_evictors,
                                           std::vector<std::vector<std::uint16_t>> orders) {
  const bool by_pairs = tlb_.second_access == SecondAccess::next_block;
  std::vector<Offsets> places(repeats_);  // other lines each time, as in count_misses
  std::vector<std::vector<double>> warm_cycles(repeats_);
  for (std::uint64_t repeat = 0; repeat < repeats_ && !by_pairs; ++repeat) {
    for (std::uint64_t line : lines)
      places[repeat].push_back(line_under(tlb_, line, repeat * next_line));
    warm_cycles[repeat] = second_access_cycles(tlb_, tlb_.name + " policy warm", places[repeat]);
  }
  std::vector<AccessRecord> records;
  for (const std::vector<std::uint16_t>& order : orders) {
    std::vector<std::vector<double>> costs;
    for (std::size_t repeat = 0; repeat < repeats_; ++repeat)
      costs.push_back(
          by_pairs ? costs_of_pairs_in_order(order, lines, access_evictors)
                   : costs_in_order(order, places[repeat], access_evictors, warm_cycles[repeat]));
    AccessRecord& record = records.emplace_back(AccessRecord{order, {}});
    std::set<std::uint16_t> seen;
    std::vector<double> of_access(repeats_);
    for (std::size_t access = 0; access < order.size(); ++access) {
      for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat)
        of_access[repeat] = costs[repeat][access];
      // A first access counts as a miss: an earlier launch may have left its entry in the TLB.
      const bool first = seen.insert(order[access]).second;
      record.missed.push_back(first || median(of_access) > tlb_.level.threshold_cycles);
    }
  }
  return records;
}

}  // namespace sonde
