#include "jobs/run/known_groups.hpp"

namespace sonde {

KnownGroups known_groups(const JobRun& run) {
  const auto confidence_of = [&](const char* metric) {
    const Finding* finding = run.finding(metric);
    return finding == nullptr ? 1 : finding->confidence;
  };
  // A job on some SMs numbers them anew; the topology numbers the SMs of the whole GPU.
  const auto of_sms = [&](const char* metric) {
    const auto numbers = run.vector(metric);
    const auto sm_count = static_cast<std::size_t>(run.info().sm_count);
    return numbers && numbers->size() == sm_count ? *numbers : std::vector<double>{};
  };
  return {.tpc_of_sm = of_sms("topology.tpc_of_sm"),
          .gpc_of_sm = of_sms("topology.gpc_of_sm"),
          .tpc_confidence = confidence_of("topology.tpc_of_sm"),
          .gpc_confidence = confidence_of("topology.gpc_of_sm")};
}

SureGroups sure_groups(const JobRun& run, std::string_view metric) {
  constexpr double least_confidence = 0.5;
  const auto numbers = run.vector(metric);
  if (!numbers || run.finding(metric)->confidence < least_confidence) {
    const std::vector<int> none(static_cast<std::size_t>(run.info().sm_count), -1);
    return {.groups = make_groups(none, Singles::keep)};
  }
  return {.groups = make_groups({numbers->begin(), numbers->end()}, Singles::keep),
          .confidence = run.finding(metric)->confidence};
}

}  // namespace sonde
