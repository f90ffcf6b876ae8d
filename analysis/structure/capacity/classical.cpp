// Computes shares of misses from mean latencies, and applies each method's rules to them.
#include "analysis/structure/capacity/classical.hpp"

#include "analysis/structure/latency/latency_classes.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// In a divided L2 the misses of few lines may all be near ones (280 cycles, far ones 456): that
// looks like a share of 0.58 between an L1 hit and a far miss. "All" begins above it.
constexpr double most_of_none = 0.1;
constexpr double least_of_all = 0.65;
constexpr double share_tolerance = 0.15;

/// Shares of misses, if each mean is a mixture of hit and miss latency.
std::vector<double> miss_shares(const std::vector<double>& cycles, double hit_cycles,
                                double miss_cycles) {
  std::vector<double> shares;
  for (double mean : cycles) {
    shares.push_back((mean - hit_cycles) / (miss_cycles - hit_cycles));
  }
  return shares;
}

ClassicalAnswer no_ways(std::string reason) { return {std::nullopt, std::move(reason)}; }

/// Neither ways nor a reason if even at the longest stride every load misses.
ClassicalAnswer conclude_row(const std::vector<double>& strides_bytes,
                             const std::vector<double>& shares, double footprint_bytes) {
  const auto is_all = [](double share) { return share >= least_of_all; };
  const auto is_none = [](double share) { return share <= most_of_none; };
  const std::string where = fmt::format("over {}", format_bytes(footprint_bytes));
  const auto first_full = std::ranges::find_if(shares, is_all);
  if (first_full == shares.end()) {
    return no_ways(where + " no stride makes all loads miss, as it would under LRU");
  }
  const auto line = static_cast<std::size_t>(first_full - shares.begin());
  for (std::size_t i = 0; i < line; ++i) {
    const double expected = strides_bytes[i] / strides_bytes[line];
    if (std::abs(shares[i] - expected) > share_tolerance) {
      return no_ways(
          fmt::format("{} {:.0f} % of loads miss in steps of {} where stride / line is "
                      "{:.0f} %",
                      where, 100 * shares[i], format_bytes(strides_bytes[i]), 100 * expected));
    }
  }
  const auto fall = std::find_if_not(first_full, shares.end(), is_all);
  if (fall == shares.end()) return {};
  const auto rest = std::find_if_not(fall, shares.end(), is_none);
  if (rest != shares.end()) {
    return no_ways(fmt::format(
        "{} {:.0f} % of loads miss in steps of {}: neither all nor none", where, 100 * *rest,
        format_bytes(strides_bytes[static_cast<std::size_t>(rest - shares.begin())])));
  }
  return {footprint_bytes / strides_bytes[static_cast<std::size_t>(fall - shares.begin())], {}};
}

/// Rises of a curve that stand out.
struct Stairs {
  std::vector<std::size_t> at;  // index of the first point of each
  double limit = 0;             // half of the highest rise; lower rises are no stairs
};

Stairs find_stairs(const std::vector<double>& shares) {
  Stairs stairs;
  for (std::size_t i = 1; i < shares.size(); ++i) {
    stairs.limit = std::max(stairs.limit, (shares[i] - shares[i - 1]) / 2);
  }
  for (std::size_t i = 1; i < shares.size(); ++i) {
    if (shares[i] - shares[i - 1] > stairs.limit) stairs.at.push_back(i);
  }
  return stairs;
}

bool is_flat(const std::vector<double>& shares, std::size_t begin, std::size_t end, double limit) {
  const auto [low, high] = std::minmax_element(shares.begin() + static_cast<std::ptrdiff_t>(begin),
                                               shares.begin() + static_cast<std::ptrdiff_t>(end));
  return *high - *low <= limit;
}

std::string number_text(const ClassicalAnswer& answer) {
  return answer.ways ? fmt::format("{:.4g} ways", *answer.ways) : "nothing";
}

}  // namespace

ClassicalAnswer conclude_saavedra(const SaavedraCurves& curves, double size_bytes) {
  const auto [hit, miss] = std::ranges::minmax(curves.cycles);
  if (miss - hit < least_first_cache_gap_cycles) {
    return no_ways("no footprint is slower than another");
  }
  const std::vector<double> shares = miss_shares(curves.cycles, hit, miss);
  std::optional<double> ways;
  for (std::size_t row = 0; row < curves.footprints_bytes.size(); ++row) {
    const double footprint_bytes = curves.footprints_bytes[row];
    if (footprint_bytes <= size_bytes) continue;
    const auto begin =
        shares.begin() + static_cast<std::ptrdiff_t>(row * curves.strides_bytes.size());
    const ClassicalAnswer answer = conclude_row(
        curves.strides_bytes,
        {begin, begin + static_cast<std::ptrdiff_t>(curves.strides_bytes.size())}, footprint_bytes);
    if (!answer.reason.empty()) return answer;
    if (!answer.ways) continue;
    if (ways && *ways != *answer.ways) {
      return no_ways(fmt::format("{:.4g} ways over one footprint, {:.4g} over {}", *ways,
                                 *answer.ways, format_bytes(footprint_bytes)));
    }
    ways = answer.ways;
  }
  return ways ? ClassicalAnswer{ways, {}} : no_ways("all loads still miss at the longest stride");
}

ClassicalAnswer conclude_wong(const WongCurve& curve) {
  const double hit = curve.cycles.front();
  const double miss = curve.cycles.back();
  if (miss - hit < least_first_cache_gap_cycles) {
    return no_ways("twice the size is no slower than the size");
  }
  std::vector<double> shares = miss_shares(curve.cycles, hit, miss);
  shares.pop_back();
  const Stairs stairs = find_stairs(shares);
  const std::size_t points = shares.size();
  if (stairs.at.empty() || shares.back() < 1 - share_tolerance) {
    return no_ways(fmt::format(
        "only {:.0f} % of loads miss at {}, where every set of an LRU cache would have overflowed",
        100 * shares.back(), format_bytes(curve.footprints_bytes[points - 1])));
  }
  const std::size_t first = stairs.at.front();
  const std::size_t last = stairs.at.back();
  if (!is_flat(shares, 0, first, stairs.limit) ||
      !is_flat(shares, last, points, std::max(stairs.limit, most_of_none))) {
    return no_ways("no flat parts before and after the stairs");
  }
  const std::size_t distance = stairs.at.size() > 1 ? stairs.at[1] - first : 1;
  for (std::size_t i = 1; i < stairs.at.size(); ++i) {
    if (stairs.at[i] - stairs.at[i - 1] != distance) {
      return no_ways("stairs at unequal distances");
    }
    if (!is_flat(shares, stairs.at[i - 1], stairs.at[i], stairs.limit)) {
      return no_ways("no flat parts between the stairs");
    }
  }
  const double step_bytes = curve.footprints_bytes[1] - curve.footprints_bytes[0];
  const double way_bytes = static_cast<double>(stairs.at.size() * distance) * step_bytes;
  return {curve.footprints_bytes[first - 1] / way_bytes, {}};
}

std::string describe_contradiction(const ClassicalAnswer& saavedra, const ClassicalAnswer& wong,
                                   std::optional<double> known_ways) {
  const std::optional<double> truth = known_ways ? known_ways : saavedra.ways;
  if (saavedra.ways == truth && wong.ways == truth) return {};
  std::string text = fmt::format("Saavedra (1992) concludes {}, Wong (2010) {}",
                                 number_text(saavedra), number_text(wong));
  if (known_ways) text += fmt::format(", conflicts between single lines {:.4g} ways", *known_ways);
  return text +
         ": the classical methods hold for LRU and for sets chosen by the lowest bits of the line";
}

}  // namespace sonde
