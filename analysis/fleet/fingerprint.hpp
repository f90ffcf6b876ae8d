// Per-SM maps. They belong to the die: two healthy GPUs differ in every place of them, so devices
// are compared by what does not depend on which SM is which; within a device, an SM that stands
// apart from all others is named.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// Fingerprints are compared if somebody is better in them.
inline bool is_compared_map(const Metric& metric) {
  return metric.kind == MetricKind::fingerprint && metric.better != Better::neither;
}

/// By GPU of the node: compared between devices as maps are, but its places are no units of the
/// die.
inline bool is_link_list(const Metric& metric) { return metric.name.starts_with("peer."); }

/// Maps by SM or slice: a unit in them may stand out.
inline bool is_unit_map(const Metric& metric) {
  return is_compared_map(metric) && !is_link_list(metric);
}

/// By slice of the L2; all others of these maps are by SM.
inline bool is_slice_map(const Metric& metric) {
  return metric.name == "cache.l2.slice_latency_cycles";
}

/// Sorted, less its median, as fractions of it, at `points` equidistant quantiles. @pre a
/// value is known
std::vector<double> sorted_profile(std::span<const double> values, std::size_t points);

/// Mean distance of each profile from the pointwise median of all (the Wasserstein-1 distance of
/// the two distributions, in fractions of the median). @pre all of one length
std::vector<double> profile_distances(const std::vector<std::vector<double>>& profiles);

/// An SM that is worse than all others of its device.
struct OutlyingSm {
  int sm = 0;
  double value = 0;
  double deviation_fraction = 0;  // from the median of the map
  double score = 0;
};

/// SMs that deviate for the worse, whose robust score passes the cut calibrated for so many SMs,
/// which deviate by `tolerance` and by 1.5 steps of `resolution`, and which stand apart: at most 3
/// % of the SMs (two at least, a TPC), and closer to each other than to the rest. A distant GPC is
/// a group of many and no finding. Empty for fewer than 9 SMs. @pre `better` is not neither
std::vector<OutlyingSm> outlying_sms(std::span<const double> values, Better better,
                                     double resolution, double tolerance, double floor_fraction);

/// SMs and slices that stand apart from all others of their device, in maps that have a better
/// direction. What a die shows is not put to a vote: only where the same unit stands apart by the
/// same amount on more than two thirds of five devices or more, GPUs of the model are built so, and
/// one note says it for all.
void judge_units(const RunResult& run, FleetAnalysis& analysis);

}  // namespace sonde
