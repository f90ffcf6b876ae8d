#include "analysis/fleet/value_text.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sonde {
namespace {

constexpr std::size_t longest_listed_vector = 8;

std::string status_text(const Finding& finding) {
  std::string text(to_text(finding.status));
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string vector_text(const std::vector<double>& values, std::string_view unit) {
  if (values.size() > longest_listed_vector) {
    return fmt::format("[{} values, median {}]", values.size(),
                       format_quantity(median(known_values(values)), unit));
  }
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(format_quantity(value, unit));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// "between 57 and 59 MiB"; "48 KiB" if both bounds are equal.
std::string interval_text(const Interval& interval, std::string_view unit) {
  if (interval.low == interval.high) return format_quantity(interval.low, unit);
  const DisplayUnit display = display_unit(interval.high, unit);
  return fmt::format("between {:.4g} and {:.4g}{}{}", interval.low / display.divisor,
                     interval.high / display.divisor, display.text.empty() ? "" : " ",
                     display.text);
}

}  // namespace

std::string unit_of(std::span<const Metric> registry, std::string_view metric) {
  const Metric* known = find_metric(metric, registry);
  return known != nullptr ? std::string(known->unit) : "";
}

std::string value_text(const Finding& finding, std::string_view unit) {
  if (const auto* number = std::get_if<double>(&finding.value)) {
    return finding.interval ? interval_text(*finding.interval, unit)
                            : format_quantity(*number, unit);
  }
  if (const auto* text = std::get_if<std::string>(&finding.value)) return *text;
  if (const auto* values = std::get_if<std::vector<double>>(&finding.value)) {
    return vector_text(*values, unit);
  }
  return status_text(finding);
}

std::string ballot_text(const Finding& finding) {
  if (finding.status == Status::not_present) return status_text(finding);
  if (finding.status != Status::ok) return "";
  if (const auto* number = std::get_if<double>(&finding.value)) {
    return fmt::format("{:.12g}", *number);
  }
  if (const auto* text = std::get_if<std::string>(&finding.value)) return *text;
  if (const auto* values = std::get_if<std::vector<double>>(&finding.value)) {
    return fmt::format("[{:.12g}]", fmt::join(*values, ", "));
  }
  return "";
}

std::optional<double> number_of(const Finding* finding) {
  if (finding == nullptr || finding->status != Status::ok) return {};
  const auto* number = std::get_if<double>(&finding->value);
  return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

const std::vector<double>* vector_of(const Finding* finding) {
  if (finding == nullptr || finding->status != Status::ok) return nullptr;
  return std::get_if<std::vector<double>>(&finding->value);
}

std::optional<double> number_of(const DeviceResult& device, std::string_view metric) {
  return number_of(find_finding(device, metric));
}

const std::vector<double>* vector_of(const DeviceResult& device, std::string_view metric) {
  return vector_of(find_finding(device, metric));
}

void for_each_finding(const RunResult& run, std::span<const std::size_t> devices,
                      std::string_view metric,
                      const std::function<void(std::size_t, const Finding&)>& take) {
  std::size_t job = 0;
  std::size_t place = 0;
  for (const std::size_t device : devices) {
    const std::vector<JobResult>& jobs = run.devices[device].jobs;
    const auto is_here = [&] {
      return job < jobs.size() && place < jobs[job].findings.size() &&
             jobs[job].findings[place].metric == metric;
    };
    for (std::size_t i = 0; i < jobs.size() && !is_here(); ++i) {
      const Finding* found = find_finding(jobs[i].findings, metric);
      if (found == nullptr) continue;
      job = i;
      place = static_cast<std::size_t>(found - jobs[i].findings.data());
    }
    if (is_here()) take(device, jobs[job].findings[place]);
  }
}

std::vector<double> known_values(std::span<const double> values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known),
                       [](double value) { return std::isfinite(value); });
  return known;
}

std::vector<double> known_values(const DeviceResult& device, std::string_view metric) {
  const std::vector<double>* values = vector_of(device, metric);
  return values != nullptr ? known_values(*values) : std::vector<double>{};
}

Interval edge_of(const Finding& finding) {
  const double value = number_of(finding).value();
  const Interval exact{.low = value, .high = value};
  const Interval edge = finding.interval.value_or(exact);
  return std::isfinite(edge.low) && std::isfinite(edge.high) ? edge : exact;
}

double reproduced_deviation(const Finding& finding) {
  if (finding.replicates < 2 || !(finding.reproducibility > 0)) return 0;
  return median_error * finding.reproducibility /
         std::sqrt(static_cast<double>(finding.replicates));
}

double repeat_deviation(const Finding& finding) {
  const double reproduced = reproduced_deviation(finding);
  if (reproduced > 0) return reproduced;
  if (finding.samples < 2 || !(finding.repeatability > 0)) return 0;
  const double independent = std::min<double>(static_cast<double>(finding.samples), 16);
  return median_error * finding.repeatability / std::sqrt(independent);
}

std::string percent_text(double fraction) {
  const double percent = 100 * std::abs(fraction);
  return fmt::format("{:.{}f} %", percent, percent < 10 ? 1 : 0);
}

std::string signed_percent_text(double fraction) {
  return (fraction < 0 ? "-" : "+") + percent_text(fraction);
}

std::string side_text(double fraction) {
  return percent_text(fraction) + (fraction > 0 ? " above" : " below");
}

std::string tolerance_text(double fraction, double tolerance) {
  return fmt::format("{:.1f} x the tolerance of {:g} %", std::abs(fraction) / tolerance,
                     100 * tolerance);
}

std::string place_of(const DeviceResult& device) {
  return fmt::format("{} rank {}", device.node, device.rank);
}

std::string join_some(const std::vector<std::string>& texts, std::size_t most) {
  const std::span<const std::string> some(texts.data(), std::min(texts.size(), most));
  const std::string text = fmt::format("{}", fmt::join(some, ", "));
  const std::size_t more = texts.size() - some.size();
  return more == 0 ? text : fmt::format("{} and {} more", text, more);
}

std::string name_devices(const RunResult& run, std::span<const std::size_t> devices) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> names;
  for (const std::size_t device : devices) names.push_back(place_of(run.devices[device]));
  std::ranges::sort(names);
  return join_some(names, most_named);
}

}  // namespace sonde
