// Shares of the victims, their independence, and a check by simulation.
#include "analysis/structure/replacement/random_policies.hpp"

#include "analysis/structure/replacement/cyclic_victims.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

// Fewer victims leave a share uncertain by more than 0.05.
constexpr std::size_t least_victims = 100;
// Above it the last victim decides about the next: a rotating pointer has 1, random choice 0;
// outliers swap ways and leave up to 0.1.
constexpr double most_history = 0.2;
// Equal shares are believed at this chance, or this close however many victims there are.
constexpr double least_uniform_p = 1e-3;
constexpr double least_distance = 0.03;

/// Misses of one chase from an empty set, its victims chosen at random.
/// @param cumulative probability of each way and those before
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
  double difference = 0;  // |seen - expected| share of misses
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
  // Five deviations, and half a percent of the accesses for outliers and shares that are estimates.
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
        "; {} victims in cyclic chases are too few to tell random replacement from rules",
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
    fit.reason += "; victims in cyclic chases depend on the victim before: not random";
    return fit;
  }
  const MissCheck& check = uniform ? as_random : as_weighted;
  if (!check.plausible) {
    fit.reason +=
        fmt::format("; random replacement would miss {:.1f} % of the accesses more or less often",
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
