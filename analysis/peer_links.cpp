// A handful of links is too few for statistics; therefore the other links must agree closely.
#include "analysis/peer_links.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// One of the 18 NVLinks of an H100 is 5.6 %; healthy paths through one switch differ by tenths of a
// percent.
constexpr double least_fraction = 0.02;
constexpr double least_deviations = 6;
constexpr double least_ranges = 3;

struct Link {
  std::size_t place = 0;
  double rate = 0;
};

std::vector<Link> sorted_links(std::span<const double> rates) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (std::isfinite(rates[i]) && rates[i] > 0) links.push_back({i, rates[i]});
  }
  std::ranges::sort(links, {}, &Link::rate);
  return links;
}

}  // namespace

std::vector<SlowLink> find_slow_links(std::span<const double> rates, double noise_fraction) {
  const std::vector<Link> links = sorted_links(rates);
  if (links.size() < least_links) return {};
  for (std::size_t slow = 1; slow <= links.size() / 3; ++slow) {
    std::vector<double> others;
    for (std::size_t i = slow; i < links.size(); ++i) others.push_back(links[i].rate);
    const double usual = median(others);
    const double gap = others.front() - links[slow - 1].rate;
    const double range = others.back() - others.front();
    if (gap < std::max(least_fraction, least_deviations * noise_fraction) * usual ||
        gap < least_ranges * range) {
      continue;
    }
    std::vector<SlowLink> found;
    for (std::size_t i = 0; i < slow; ++i) {
      found.push_back({links[i].place, usual, (usual - links[i].rate) / usual});
    }
    return found;
  }
  return {};
}

}  // namespace sonde
