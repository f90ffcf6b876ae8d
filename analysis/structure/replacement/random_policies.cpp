// Computes shares of the victims and their independence, and checks by simulation.
#include "analysis/structure/replacement/match.hpp"

#include "base/error.hpp"
#include "base/random.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ranges>
#include <vector>

namespace sonde {
namespace {

struct Victim {
  std::uint32_t way = 0;                      // ways are numbered in the order of their first fill
  std::optional<std::uint32_t> previous_way;  // of the victim before; none: a record begins
};

/// How victims spread over the ways, and whether one victim depends on the one before.
struct VictimSpread {
  std::size_t victims = 0;
  std::vector<double> way_share;
  double uniform_p_value = 1;      // that ways are equal, by chi-square
  double uniform_distance = 0;     // total variation distance from equal shares, 0..1
  double history_association = 0;  // Cramer's V of a victim and the one before, bias-corrected: 0
                                   // independent .. 1 determined
};

// Cochran's rule: chi-square needs an expected count of 5 in each cell.
constexpr double least_expected_count = 5;

/// Reads a record until it ends or contradicts itself.
void trace_record(std::uint32_t ways, const AccessRecord& record, std::vector<Victim>& victims) {
  const auto cold = std::min<std::size_t>(record.missed.size(), ways + 1);
  const auto first_accesses = record.missed | std::views::take(static_cast<std::ptrdiff_t>(cold));
  if (std::ranges::find(first_accesses, false) != first_accesses.end())
    return;  // the set was not empty
  std::vector<std::uint32_t> way_of(ways + 1);
  std::iota(way_of.begin(), way_of.end(), 0U);
  std::size_t last_miss = ways;  // the first miss in a full set
  std::optional<std::uint32_t> previous_way;
  for (std::size_t i = cold; i < record.lines.size(); ++i) {
    if (i - last_miss > ways) return;  // all other lines hit: a miss was overlooked
    if (!record.missed[i]) continue;
    const std::uint32_t way = way_of[record.lines[i]];
    victims.push_back({way, previous_way});
    way_of[record.lines[last_miss]] = way;
    previous_way = way;
    last_miss = i;
  }
}

/// Neighbouring ways share a bin: there are fewer bins than ways.
std::size_t bin_of(std::uint32_t way, std::uint32_t ways, std::size_t bins) {
  return std::size_t{way} * bins / ways;
}

double chi_square_p_value(std::uint32_t ways, const std::vector<Victim>& victims) {
  const auto total = static_cast<double>(victims.size());
  const auto bins =
      std::min<std::size_t>(ways, static_cast<std::size_t>(total / least_expected_count));
  if (bins < 2) return 1;
  std::vector<double> expected(bins);
  std::vector<double> counts(bins);
  for (std::uint32_t way = 0; way < ways; ++way) expected[bin_of(way, ways, bins)] += total / ways;
  for (const Victim& victim : victims) ++counts[bin_of(victim.way, ways, bins)];
  double statistic = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    statistic += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  const boost::math::chi_squared distribution(static_cast<double>(bins - 1));
  return boost::math::cdf(boost::math::complement(distribution, statistic));
}

/// Bergsma 2013, "A bias-correction for Cramer's V".
double history_association(std::uint32_t ways, const std::vector<Victim>& victims) {
  const auto pairs = static_cast<double>(std::ranges::count_if(
      victims, [](const Victim& victim) { return victim.previous_way.has_value(); }));
  const auto bins = std::min<std::size_t>(
      ways, static_cast<std::size_t>(std::sqrt(pairs / least_expected_count)));
  if (bins < 2) return 0;
  std::vector<double> joint(bins * bins);
  std::vector<double> before(bins);
  std::vector<double> after(bins);
  for (const Victim& victim : victims) {
    if (!victim.previous_way) continue;
    const std::size_t row = bin_of(*victim.previous_way, ways, bins);
    const std::size_t column = bin_of(victim.way, ways, bins);
    ++joint[row * bins + column];
    ++before[row];
    ++after[column];
  }
  double phi2 = 0;
  for (std::size_t row = 0; row < bins; ++row) {
    for (std::size_t column = 0; column < bins; ++column) {
      const double expected = before[row] * after[column] / pairs;
      const double excess = joint[row * bins + column] - expected;
      if (expected > 0) phi2 += excess * excess / expected / pairs;
    }
  }
  const auto size = static_cast<double>(bins);
  const double corrected = std::max(0.0, phi2 - (size - 1) * (size - 1) / (pairs - 1));
  const double corrected_size = size - (size - 1) * (size - 1) / (pairs - 1);
  return std::sqrt(corrected / (corrected_size - 1));
}

/// Victims of cyclic_trace(ways, ...): exactly one of the ways + 1 lines is absent, so the next
/// line that misses is the victim of the last miss (Mei and Chu 2016, section 4.5, for the Fermi
/// L1). Reads a record until it contradicts itself. An outlier swaps two ways for the rest of its
/// record: many short records are better than a long one.
/// @throws Error if a record is no cyclic chase from line 0
std::vector<Victim> trace_victims(std::uint32_t ways, const std::vector<AccessRecord>& records) {
  std::vector<Victim> victims;
  for (const AccessRecord& record : records) {
    for (std::size_t i = 0; i < record.lines.size(); ++i) {
      require(record.lines[i] == i % (ways + 1),
              "a record is no cyclic chase of one line more than the set has ways (its victims "
              "cannot be traced) use cyclic_trace");
    }
    trace_record(ways, record, victims);
  }
  return victims;
}

VictimSpread spread_of(std::uint32_t ways, const std::vector<Victim>& victims) {
  VictimSpread spread;
  spread.victims = victims.size();
  spread.way_share.resize(ways);
  if (victims.empty()) return spread;
  for (const Victim& victim : victims) spread.way_share[victim.way] += 1;
  for (double& share : spread.way_share) {
    share /= static_cast<double>(victims.size());
    spread.uniform_distance += std::abs(share - 1.0 / ways) / 2;
  }
  spread.uniform_p_value = chi_square_p_value(ways, victims);
  spread.history_association = history_association(ways, victims);
  return spread;
}

// With fewer victims a share is uncertain by more than 0.05.
constexpr std::size_t least_victims = 100;
// Above it the next victim depends on the last one: 1 for a rotating pointer, 0 for random choice.
// Outliers swap ways and cause up to 0.1.
constexpr double most_history = 0.2;
// Ways count as equal at this chance, or within this distance however many victims there are.
constexpr double least_uniform_p = 1e-3;
constexpr double least_distance = 0.03;

/// Misses of one chase from an empty set with random victims.
/// @param cumulative probability of each way and all ways before it
std::size_t play_random(const std::vector<double>& cumulative, const AccessRecord& record,
                        Random& random) {
  const std::vector<std::uint16_t>& lines = record.lines;
  constexpr std::uint32_t nobody = ~0U;
  if (lines.empty()) return 0;
  std::vector<bool> held(std::size_t{*std::ranges::max_element(lines)} + 1);
  const auto ways = static_cast<std::uint32_t>(cumulative.size());
  std::vector<std::uint32_t> line_in(ways, nobody);
  std::size_t misses = 0;
  std::uint32_t filled = 0;
  for (const std::uint16_t line : lines) {
    if (held[line]) continue;
    ++misses;
    std::uint32_t way = filled;
    if (filled < ways) {
      ++filled;
    } else {
      const auto at = std::ranges::upper_bound(cumulative, random.unit());
      way = std::min(static_cast<std::uint32_t>(at - cumulative.begin()), ways - 1);
    }
    if (line_in[way] != nobody) held[line_in[way]] = false;
    line_in[way] = line;
    held[line] = true;
  }
  return misses;
}

struct MissCheck {
  double difference = 0;  // |seen - expected| fraction of misses
  bool plausible = false;
};

MissCheck check_misses(const std::vector<double>& probability,
                       const std::vector<AccessRecord>& records) {
  constexpr int plays = 16;
  std::vector<double> cumulative(probability.size());
  std::partial_sum(probability.begin(), probability.end(), cumulative.begin());
  Random random(records.size());
  double accesses = 0;
  double seen = 0;
  for (const AccessRecord& record : records) {
    accesses += static_cast<double>(record.missed.size());
    seen += static_cast<double>(std::ranges::count(record.missed, true));
  }
  double sum = 0;
  double squares = 0;
  for (int play = 0; play < plays; ++play) {
    double misses = 0;
    for (const AccessRecord& record : records) {
      misses += static_cast<double>(play_random(cumulative, record, random));
    }
    sum += misses;
    squares += misses * misses;
  }
  const double mean = sum / plays;
  const double deviation = std::sqrt(std::max(0.0, squares / plays - mean * mean));
  // Five deviations, and 0.5 % of the accesses for outliers and for the uncertain shares.
  const double allowed = 5 * deviation + 0.005 * accesses;
  return {.difference = std::abs(seen - mean) / accesses,
          .plausible = std::abs(seen - mean) <= allowed};
}

}  // namespace

ReplacementFit match_random(std::uint32_t ways, const std::vector<AccessRecord>& policy_records,
                            const std::vector<AccessRecord>& cyclic_records, ReplacementFit fit) {
  const VictimSpread spread = spread_of(ways, trace_victims(ways, cyclic_records));
  if (spread.victims < least_victims) {
    fit.reason += fmt::format(
        "; {} victims in cyclic chases are too few to distinguish random replacement from rules",
        spread.victims);
    return fit;
  }
  const bool uniform =
      spread.uniform_p_value > least_uniform_p || spread.uniform_distance < least_distance;
  const std::vector<double> even(ways, 1.0 / ways);
  std::vector<AccessRecord> records = policy_records;
  records.insert(records.end(), cyclic_records.begin(), cyclic_records.end());
  const MissCheck as_random = check_misses(even, records);
  const MissCheck as_weighted = check_misses(spread.way_share, records);
  fit.scores.push_back({Policy::random, "", 1 - as_random.difference});
  fit.scores.push_back({Policy::weighted_ways, "", 1 - as_weighted.difference});
  if (spread.history_association > most_history) {
    fit.reason += "; victims in cyclic chases depend on the previous victim: not random";
    return fit;
  }
  const MissCheck& check = uniform ? as_random : as_weighted;
  if (!check.plausible) {
    fit.reason +=
        fmt::format("; under random replacement the share of misses would differ by {:.1f} %",
                    100 * check.difference);
    return fit;
  }
  fit.policy = uniform ? Policy::random : Policy::weighted_ways;
  fit.way_probability = spread.way_share;
  fit.agreement = 1 - check.difference;
  const bool many = spread.victims >= std::max<std::size_t>(500, 5 * std::size_t{ways});
  fit.confidence = (many ? 0.95 : 0.8) + (policy_records.empty() ? 0 : 0.02);
  fit.reason = fmt::format("shares of {} victims of cyclic chases", spread.victims);
  return fit;
}

}  // namespace sonde
