// Compares each pattern with the one that it was built to exceed.
#include "analysis/structure/latency/latency_patterns.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_classes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// A smaller group of latencies is not the one that a phase was built for.
constexpr double least_share = 0.15;

PatternFinding nothing(const std::string& reason) {
  PatternFinding finding;
  finding.reason = reason;
  return finding;
}

PatternFinding take(const Mode& mode, const std::vector<double>& latencies) {
  constexpr double cut_share = 0.1;
  std::vector<double> values;
  for (double cycles : latencies) {
    if (cycles >= mode.low && cycles <= mode.high) values.push_back(cycles);
  }
  PatternFinding finding;
  finding.status = Status::ok;
  finding.low_cycles = mode.low;
  finding.high_cycles = mode.high;
  finding.samples = values.size();
  // A median would change by whole steps of the clock.
  finding.cycles = trimmed_mean(values, cut_share);
  finding.spread_cycles = median_absolute_deviation(values);
  finding.confidence = static_cast<double>(values.size()) / static_cast<double>(latencies.size());
  return finding;
}

enum class Served { by_cache, from_memory };

/// Joins the two groups of hits in two partitions: at least least_partition_gap_cycles apart, each
/// a notable part of all. nullopt without two such groups.
std::optional<Mode> join_partitions(const std::vector<double>& latencies) {
  constexpr double least_share_of_partition = 0.3;
  if (latencies.empty()) return std::nullopt;
  const auto modes = find_modes(latencies, least_partition_gap_cycles, least_share_of_partition);
  if (modes.size() != 2) return std::nullopt;
  const Mode& near = modes.front();
  const Mode& far = modes.back();
  return Mode{.center = (near.center + far.center) / 2,
              .low = near.low,
              .high = far.high,
              .count = near.count + far.count};
}

/// The middle of hits in two partitions.
PatternFinding summarize_divided(const std::vector<double>& latencies) {
  if (latencies.empty()) return nothing("the chase had no such phase");
  const auto both = join_partitions(latencies);
  if (!both) return nothing("its latencies are not those of a near and a far partition");
  return take(*both, latencies);
}

/// For hits the largest group; for memory the faster of at most two partitions.
PatternFinding summarize(const std::vector<double>& latencies, Served served) {
  if (latencies.empty()) return nothing("the chase had no such phase");
  const bool hits = served == Served::by_cache;
  const auto modes =
      find_modes(latencies, hits ? least_hit_gap_cycles : least_partition_gap_cycles, least_share);
  if (modes.empty()) return nothing("its latencies form no clear group");
  if (hits) {
    return take(*std::ranges::max_element(modes, {}, &Mode::count), latencies);
  }
  PatternFinding finding = take(modes.front(), latencies);
  std::uint64_t gathered = 0;
  for (const Mode& mode : modes) gathered += mode.count;
  finding.confidence = static_cast<double>(gathered) / static_cast<double>(latencies.size());
  if (modes.size() > 1) {
    finding.reason =
        fmt::format("the near partition; the far one takes {:.0f}", modes.back().center);
  }
  return finding;
}

void remove(PatternFinding& finding, const std::string& reason) {
  finding = nothing(reason);
  finding.status = Status::not_present;
}

/// @param miss_cycles cost of the TLB misses of this pattern, beyond P1
void leave_open_if_lost(PatternFinding& hits, const PatternFinding& p1,
                        std::optional<double> miss_cycles) {
  // Some misses of an H200 cost up to a third more than the usual miss.
  constexpr double most_ratio = 1.5;
  constexpr double most_noise_cycles = 20;
  if (hits.status != Status::ok || p1.status != Status::ok || !miss_cycles) return;
  const double beyond_cycles = hits.cycles - p1.cycles;
  if (beyond_cycles <= most_ratio * *miss_cycles + most_noise_cycles) return;
  hits =
      nothing(fmt::format("it costs {:.0f} cycles more than P1, but its TLB misses cost only "
                          "{:.0f}: the cache lost its lines",
                          beyond_cycles, *miss_cycles));
}

/// Policies that protect old entries keep most translations; the most common latency is then a TLB
/// hit. But nearly all hits of a virtually addressed cache cost no more than P1.
void leave_open_if_kept(PatternFinding& hits, const PatternFinding& p1,
                        std::optional<double> miss_cycles, double least_step_cycles) {
  constexpr double least_ratio = 0.5;
  constexpr double nearly_all = 0.8;
  if (hits.status != Status::ok || p1.status != Status::ok || !miss_cycles) return;
  const double beyond_cycles = hits.cycles - p1.cycles;
  if (beyond_cycles >= least_ratio * *miss_cycles) return;
  if (beyond_cycles < least_step_cycles && hits.confidence >= nearly_all) return;
  hits =
      nothing(fmt::format("it costs {:.0f} cycles more than P1, but its TLB misses should cost "
                          "{:.0f}: the TLB kept most pages",
                          beyond_cycles, *miss_cycles));
}

/// Computes P2 or P3 from parts, if the chase could not show it or the cache lost its lines.
void put_together(PatternFinding& hits, const PatternFinding& p1,
                  std::optional<double> miss_cycles) {
  constexpr double confidence = 0.9;  // the cost of a miss comes from another chase
  if (hits.status != Status::not_resolvable || p1.status != Status::ok || !miss_cycles) return;
  hits = p1;
  hits.cycles += *miss_cycles;
  hits.confidence = std::min(p1.confidence, confidence);
  hits.is_of_parts = true;
  hits.reason = fmt::format(
      "P1 plus the cost of a TLB miss, {:.0f} cycles: the cache keeps too few lines to measure "
      "both at once",
      *miss_cycles);
}

}  // namespace

std::array<PatternFinding, pattern_count> infer_patterns(const PatternLatencies& latencies,
                                                         double least_step_cycles,
                                                         const KnownTlb& known) {
  std::array<PatternFinding, pattern_count> found;
  // Every access of P1 hits: two groups are two partitions.
  const bool divided =
      join_partitions(latencies[static_cast<std::size_t>(Pattern::p1)]).has_value();
  for (std::size_t i = 0; i < pattern_count; ++i) {
    const bool hits = i < static_cast<std::size_t>(Pattern::p4);
    found[i] = hits && divided
                   ? summarize_divided(latencies[i])
                   : summarize(latencies[i], hits ? Served::by_cache : Served::from_memory);
  }
  auto& [p1, p2, p3, p4, p5, p6] = found;
  leave_open_if_lost(p2, p1, known.first_miss_cycles);
  leave_open_if_lost(p3, p1, known.last_miss_cycles);
  leave_open_if_kept(p2, p1, known.first_miss_cycles, least_step_cycles);
  leave_open_if_kept(p3, p1, known.last_miss_cycles, least_step_cycles);
  const auto equal = [=](const PatternFinding& slower, const PatternFinding& faster) {
    return slower.status == Status::ok && faster.status == Status::ok &&
           slower.cycles - faster.cycles < least_step_cycles;
  };
  const bool no_cache = equal(p4, p1);
  const bool no_tlb = equal(p5, p4);
  const bool hits_need_no_translation = equal(p2, p1) || equal(p3, p1);
  const bool no_outer_level = equal(p3, p2);
  if (equal(p6, p5))
    remove(p6, "a first access beyond the page-table window costs no more than P5");
  const bool lacks_tlb = no_tlb && !known.exists;
  if (no_tlb && !lacks_tlb) {
    for (auto* pattern : {&p5, &p6})
      *pattern = nothing("pages meant to be new cost no more: the TLB still held them");
  }
  if (lacks_tlb) {
    for (auto* pattern : {&p2, &p3, &p5, &p6})
      remove(*pattern, "a page never touched costs no more");
  } else if (hits_need_no_translation) {
    for (auto* pattern : {&p2, &p3}) {
      remove(*pattern, "hits need no translation: the cache is addressed virtually");
    }
  } else if (no_outer_level && known.exists) {
    p3 = nothing("pages meant to miss all levels of the TLB cost no more than those of P2");
  } else if (no_outer_level) {
    remove(p3, "there is no sign of an outer level of the TLB");
  }
  const bool meets_l2 = known.translated_cycles && p1.cycles >= *known.translated_cycles;
  const bool is_translated =
      known.exists && (meets_l2 || p2.status == Status::ok || p3.status == Status::ok);
  if (is_translated && known.has_outer_level) put_together(p2, p1, known.first_miss_cycles);
  if (is_translated && known.ends) put_together(p3, p1, known.last_miss_cycles);
  if (no_cache) {
    for (auto* pattern : {&p1, &p2, &p3}) remove(*pattern, "no data cache on this path");
  }
  return found;
}

}  // namespace sonde
