// Values, their reasons and their confidence, put together for one row of a box.
#include "analysis/report/drawing_facts.hpp"

#include "analysis/fleet/fingerprint.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr std::size_t longest_list = 12;

std::string_view unit_of_metric(std::string_view metric) {
  const Metric* known = find_metric(metric);
  return known != nullptr ? known->unit : "";
}

/// Three significant digits: a drawing is no table.
std::string short_quantity(double value, std::string_view unit) {
  const DisplayUnit display = display_unit(value, unit);
  const double scaled = value / display.divisor;
  const std::string number = std::abs(scaled) >= 100 || scaled == std::round(scaled)
                                 ? fmt::format("{:.0f}", scaled)
                                 : fmt::format("{:.3g}", scaled);
  if (display.text.empty()) return number;
  const std::string text = unit == "cycle"        ? "cycles"
                           : unit == "byte/cycle" ? "B/cycle"
                                                  : display.text;
  return number + " " + text;
}

/// "57-59 MiB".
std::string short_interval(const Interval& interval, std::string_view unit) {
  const DisplayUnit display = display_unit(interval.high, unit);
  return interval.low == interval.high
             ? short_quantity(interval.low, unit)
             : fmt::format("{:.4g}-{:.4g} {}", interval.low / display.divisor,
                           interval.high / display.divisor, display.text);
}

std::string list_text(const std::vector<double>& values, std::string_view unit) {
  if (values.size() > longest_list) return short_quantity(median(known_values(values)), unit);
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(short_quantity(value, unit));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

Facts::Facts(const DeviceResult& device) : device_(device) {
  for (const JobResult& job : device.jobs) {
    for (const Finding& finding : job.findings) findings_.emplace(finding.metric, &finding);
  }
}

const Finding* Facts::find(std::string_view metric) const {
  const auto at = findings_.find(metric);
  return at == findings_.end() ? nullptr : at->second;
}

bool Facts::has(std::string_view metric) const { return !shown(metric).empty(); }

std::string Facts::shown(std::string_view metric) const {
  const Finding* finding = find(metric);
  if (finding == nullptr || finding->status != Status::ok) return "";
  const std::string_view unit = unit_of_metric(metric);
  if (finding->interval) return short_interval(*finding->interval, unit);
  if (const auto number = number_of(*finding)) return short_quantity(*number, unit);
  if (const auto* values = vector_of(*finding)) {
    return known_values(*values).empty() ? "" : list_text(*values, unit);
  }
  return text(metric);
}

std::string Facts::text(std::string_view metric) const {
  const Finding* finding = find(metric);
  if (finding == nullptr || finding->status != Status::ok) return "";
  const auto* text = std::get_if<std::string>(&finding->value);
  return text != nullptr ? *text : "";
}

std::vector<double> Facts::numbers(std::string_view metric) const {
  const Finding* finding = find(metric);
  const std::vector<double>* values = finding != nullptr ? vector_of(*finding) : nullptr;
  return values != nullptr ? *values : std::vector<double>{};
}

double Facts::confidence(std::string_view metric) const {
  const Finding* finding = find(metric);
  return finding != nullptr ? finding->confidence : 0;
}

std::string Facts::reason(std::string_view metric) const {
  const Finding* finding = find(metric);
  return finding != nullptr ? finding->reason : "";
}

std::optional<DrawnFact> Facts::fact(std::string label, const std::vector<FactPart>& parts,
                                     std::string_view separator) const {
  DrawnFact fact{.label = std::move(label), .confidence = 1, .answered = false};
  std::vector<std::string> texts;
  std::vector<std::string> remarks;
  std::string why;
  for (const FactPart& part : parts) {
    const Finding* finding = find(part.metric);
    if (finding == nullptr) continue;
    const std::string value = shown(part.metric);
    if (!value.empty()) {
      fact.answered = true;
      fact.confidence = std::min(fact.confidence, finding->confidence);
      texts.push_back(part.prefix + value + part.suffix);
      remarks.push_back(fmt::format("{}: confidence {:.2f}", part.metric, finding->confidence));
    } else if (finding->status == Status::not_resolvable || finding->status == Status::unstable) {
      texts.push_back(part.prefix + "?" + part.suffix);
      remarks.push_back(fmt::format("{}: not resolvable", part.metric));
      if (why.empty()) why = finding->reason;
    } else {
      continue;
    }
    if (!finding->reason.empty()) remarks.back() += "; " + finding->reason;
  }
  if (texts.empty()) return {};
  fact.text = fact.answered ? fmt::format("{}", fmt::join(texts, separator))
                            : "not resolvable" + (why.empty() ? "" : ": " + why);
  fact.remark = fmt::format("{}", fmt::join(remarks, "\n"));
  return fact;
}

std::optional<DrawnFact> Facts::span_fact(std::string label, const std::string& metric) const {
  const std::vector<double> known = known_values(numbers(metric));
  if (known.empty()) return {};
  const auto [least, most] = std::ranges::minmax(known);
  const std::string_view unit = unit_of_metric(metric);
  const std::string low = short_quantity(least, unit);
  const std::string high = short_quantity(most, unit);
  return DrawnFact{.label = std::move(label),
                   .text = low == high ? low : fmt::format("{} to {}", low, high),
                   .remark = metric,
                   .confidence = find(metric)->confidence};
}

}  // namespace sonde
