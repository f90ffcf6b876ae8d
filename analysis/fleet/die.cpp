// Correlation of the maps of L2 latency by SM.
#include "analysis/fleet/die.hpp"

#include <fmt/format.h>
#include "analysis/fleet/value_text.hpp"

#include <boost/math/statistics/bivariate_statistics.hpp>

#include <cmath>

namespace sonde {
namespace {

// Measured on H200s, other pages in each run (docs/methods/slices.md): runs of one GPU correlate by
// 0.9996 and more, most pairs of GPUs by 0.75 to 0.96, and those that look alike by as much as one.
constexpr double least_of_one_die = 0.9985;
/// Of a map of GPCs: two methods that agree have 1, one alone 0.9 or 0.95.
constexpr double sure_confidence = 0.9;
/// Correlations of fewer values scatter too far.
constexpr std::size_t fewest_sms = 16;

const std::vector<double>* map_of(const DeviceResult& device, std::string_view metric,
                                  double least_confidence = 0) {
  const Finding* finding = find_finding(device, metric);
  const bool is_known = finding != nullptr && finding->status == Status::ok &&
                        finding->confidence >= least_confidence;
  return is_known ? vector_of(*finding) : nullptr;
}

}  // namespace

DieLikeness compare_dies(const DeviceResult& a, const DeviceResult& b) {
  DieLikeness likeness{.same = SameDie::unknown, .correlation = std::nan(""), .reason = {}};
  if (a.info.name != b.info.name || a.info.sm_count != b.info.sm_count) {
    likeness.same = SameDie::no;
    likeness.reason = "another model, or another number of SMs";
    return likeness;
  }
  const auto* gpcs_of_a = map_of(a, "topology.gpc_of_sm", sure_confidence);
  const auto* gpcs_of_b = map_of(b, "topology.gpc_of_sm", sure_confidence);
  if (gpcs_of_a != nullptr && gpcs_of_b != nullptr && *gpcs_of_a != *gpcs_of_b) {
    likeness.same = SameDie::no;
    likeness.reason = "other SMs form its GPCs";
    return likeness;
  }
  const auto* of_a = map_of(a, "placement.l2_slices_cycles");
  const auto* of_b = map_of(b, "placement.l2_slices_cycles");
  if (of_a == nullptr || of_b == nullptr || of_a->size() != of_b->size() ||
      of_a->size() < fewest_sms) {
    likeness.reason = "placement.l2_slices_cycles was not measured in both runs";
    return likeness;
  }
  likeness.correlation = boost::math::statistics::correlation_coefficient(*of_a, *of_b);
  likeness.same = likeness.correlation >= least_of_one_die ? SameDie::possible : SameDie::no;
  likeness.reason =
      fmt::format("maps of L2 latency by SM correlate by {:.4f}", likeness.correlation);
  return likeness;
}

}  // namespace sonde
