// Names of outcomes, and functions that make findings.
#include "analysis/results.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr EnumName<Status> status_names[]{
    {Status::ok, "ok"},
    {Status::unstable, "unstable"},
    {Status::not_present, "not_present"},
    {Status::not_resolvable, "not_resolvable"},
    {Status::skipped, "skipped"},
    {Status::failed, "failed"},
    {Status::not_run, "not_run"},
};
constexpr EnumName<DeviceOutcome> outcome_names[]{
    {DeviceOutcome::complete, "complete"},
    {DeviceOutcome::incomplete, "incomplete"},
    {DeviceOutcome::lost, "lost"},
};

template <class Names>
auto parse(const Names& names, std::string_view text) {
  if (const auto value = find_value(names, text)) return *value;
  throw StoreError("unknown status '" + std::string(text) + "' (the file is of another version?)");
}

}  // namespace

std::string_view to_text(Status status) { return name_of(status_names, status); }
Status parse_status(std::string_view text) { return parse(status_names, text); }
std::string_view to_text(DeviceOutcome outcome) { return name_of(outcome_names, outcome); }
DeviceOutcome parse_device_outcome(std::string_view text) { return parse(outcome_names, text); }

Finding found(std::string metric, Value value, double confidence, std::uint64_t samples,
              double repeatability) {
  return {.metric = std::move(metric),
          .value = std::move(value),
          .status = Status::ok,
          .reason = "",
          .confidence = confidence,
          .samples = samples,
          .repeatability = repeatability};
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

std::vector<Point> points_of(const Provenance& provenance) {
  if (!provenance.points.empty()) return provenance.points;
  return {{.config_hash = provenance.config_hash,
           .config_json = provenance.config_json,
           .seed = provenance.seed}};
}

std::string hash_points(const std::vector<Point>& points) {
  if (points.size() == 1) return points.front().config_hash;
  std::string all;
  for (const Point& point : points) all += point.config_hash + ' ';
  return fmt::format("{:016x}", derive_seed(0, all));
}

Provenance at_point(Provenance provenance, const Point& point) {
  provenance.points = {point};
  provenance.config_hash = point.config_hash;
  provenance.config_json = point.config_json;
  provenance.seed = point.seed;
  return provenance;
}

std::string describe_setting(const Provenance& provenance, std::uint64_t point_index) {
  if (point_index >= provenance.points.size()) return {};
  const Point& point = provenance.points[point_index];
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < provenance.axes.size() && i < point.at.size(); ++i) {
    parts.push_back(fmt::format("{}={}", provenance.axes[i].option, point.at[i]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

const JobResult* find_job(const std::vector<JobResult>& jobs, std::string_view name) {
  const auto found = std::ranges::find(jobs, name, &JobResult::job);
  return found == jobs.end() ? nullptr : &*found;
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
