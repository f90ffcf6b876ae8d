// Tracing and its chi-square statistics.
#include "analysis/structure/replacement/cyclic_victims.hpp"

#include "base/error.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

// Cochran's rule: chi-square holds with an expected count of 5 in each cell.
constexpr double least_expected_count = 5;

/// Reads one record until it ends or contradicts itself.
void trace_record(std::uint32_t ways, const AccessRecord& record, std::vector<Victim>& victims) {
  const auto cold = std::min<std::size_t>(record.missed.size(), ways + 1);
  if (std::find(record.missed.begin(), record.missed.begin() + static_cast<std::ptrdiff_t>(cold),
                false) != record.missed.begin() + static_cast<std::ptrdiff_t>(cold)) {
    return;  // it was not empty
  }
  std::vector<std::uint32_t> way_of(ways + 1);
  std::iota(way_of.begin(), way_of.end(), 0U);
  std::size_t last_miss = ways;  // the first in a full set
  std::optional<std::uint32_t> previous_way;
  for (std::size_t i = cold; i < record.lines.size(); ++i) {
    if (i - last_miss > ways) return;  // every other line was there: a miss was overlooked
    if (!record.missed[i]) continue;
    const std::uint32_t way = way_of[record.lines[i]];
    // The victim was used ways + 1 accesses ago; those since the last miss came after its loss.
    const auto rank = static_cast<std::uint32_t>(ways + 1 - (i - last_miss));
    victims.push_back({way, rank, previous_way});
    way_of[record.lines[last_miss]] = way;
    previous_way = way;
    last_miss = i;
  }
}

/// Neighbouring ways share a bin so that `bins` cells suffice.
std::size_t bin_of(std::uint32_t way, std::uint32_t ways, std::size_t bins) {
  return std::size_t{way} * bins / ways;
}

/// Chance that of equal ways any one leaves as often as the one that left most (Bonferroni).
double favourite_p_value(const std::vector<double>& way_share, std::size_t victims) {
  const auto ways = static_cast<double>(way_share.size());
  const double most = std::round(*std::max_element(way_share.begin(), way_share.end()) *
                                 static_cast<double>(victims));
  const boost::math::binomial distribution(static_cast<double>(victims), 1 / ways);
  return std::min(1.0, ways * boost::math::cdf(boost::math::complement(distribution, most - 1)));
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

/// Groups of ways with about as many victims each, by way: few ways may have them all.
std::vector<std::size_t> even_groups(std::uint32_t ways, const std::vector<Victim>& victims,
                                     std::size_t most_groups) {
  std::vector<std::size_t> counts(ways);
  for (const Victim& victim : victims) ++counts[victim.way];
  std::vector<std::size_t> group(ways);
  std::size_t before = 0;
  std::size_t last_place = 0;
  std::size_t groups = 0;
  for (std::uint32_t way = 0; way < ways; ++way) {
    const std::size_t place = (2 * before + counts[way]) * most_groups / (2 * victims.size());
    if (place != last_place && counts[way] > 0 && before > 0) ++groups;
    if (counts[way] > 0) last_place = place;
    group[way] = groups;
    before += counts[way];
  }
  return group;
}

/// Bergsma 2013, "A bias-correction for Cramer's V".
double history_association(std::uint32_t ways, const std::vector<Victim>& victims) {
  const auto pairs =
      static_cast<double>(std::count_if(victims.begin(), victims.end(), [](const Victim& victim) {
        return victim.previous_way.has_value();
      }));
  const auto most_groups = std::min<std::size_t>(
      ways, static_cast<std::size_t>(std::sqrt(pairs / least_expected_count)));
  if (most_groups < 2) return 0;
  const std::vector<std::size_t> group = even_groups(ways, victims, most_groups);
  const std::size_t bins = group.back() + 1;
  if (bins < 2) return 0;
  std::vector<double> joint(bins * bins);
  std::vector<double> before(bins);
  std::vector<double> after(bins);
  for (const Victim& victim : victims) {
    if (!victim.previous_way) continue;
    const std::size_t row = group[*victim.previous_way];
    const std::size_t column = group[victim.way];
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

}  // namespace

std::vector<Victim> trace_victims(std::uint32_t ways, const std::vector<AccessRecord>& records) {
  std::vector<Victim> victims;
  for (const AccessRecord& record : records) {
    require(record.lines.size() == record.missed.size(),
            "a record of a set has not one outcome for each access (they are read together)");
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
  spread.uniform_p_value =
      std::min(1.0, 2 * std::min(chi_square_p_value(ways, victims),
                                 favourite_p_value(spread.way_share, victims.size())));
  spread.history_association = history_association(ways, victims);
  return spread;
}

}  // namespace sonde
