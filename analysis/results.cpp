// Names of outcomes, and the ways to state a finding.
#include "analysis/results.hpp"

#include "base/error.hpp"

#include <array>
#include <utility>

namespace sonde {
namespace {

constexpr std::array status_names{
    std::pair{Status::ok, std::string_view{"ok"}},
    std::pair{Status::unstable, std::string_view{"unstable"}},
    std::pair{Status::not_present, std::string_view{"not_present"}},
    std::pair{Status::not_resolvable, std::string_view{"not_resolvable"}},
    std::pair{Status::skipped, std::string_view{"skipped"}},
    std::pair{Status::failed, std::string_view{"failed"}},
    std::pair{Status::not_run, std::string_view{"not_run"}}};

}  // namespace

std::string_view to_text(Status status) {
  for (const auto& [value, name] : status_names) {
    if (value == status) return name;
  }
  throw Error("unknown status");
}

Status parse_status(std::string_view text) {
  for (const auto& [value, name] : status_names) {
    if (name == text) return value;
  }
  throw StoreError("unknown status '" + std::string(text) + "' (the file is of another version?)");
}

Finding found(std::string metric, Value value, double confidence, std::uint64_t samples,
              double spread) {
  return {std::move(metric), std::move(value), Status::ok, "", confidence, samples, spread};
}

Finding no_answer(std::string metric, Status status, std::string reason) {
  return {.metric = std::move(metric),
          .value = {},
          .status = status,
          .reason = std::move(reason),
          .confidence = status == Status::not_present ? 1.0 : 0.0};
}

Finding not_present(std::string metric, std::string reason) {
  return no_answer(std::move(metric), Status::not_present, std::move(reason));
}

Finding not_resolvable(std::string metric, std::string reason) {
  return no_answer(std::move(metric), Status::not_resolvable, std::move(reason));
}

const Finding* find_finding(const std::vector<Finding>& findings, std::string_view metric) {
  for (const Finding& finding : findings) {
    if (finding.metric == metric) return &finding;
  }
  return nullptr;
}

const Finding* find_finding(const DeviceResult& device, std::string_view metric) {
  for (const JobResult& job : device.jobs) {
    if (const Finding* finding = find_finding(job.findings, metric)) return finding;
  }
  return nullptr;
}

}  // namespace sonde
