// Tests all slopes, and says what changed with them.
#include "analysis/fleet/drift.hpp"

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/causes.hpp"
#include "analysis/fleet/finding_finder.hpp"
#include "analysis/fleet/repeats.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace sonde {
namespace {

constexpr std::size_t least_repeats = 3;
// Drivers tell whole degrees, and a chip at rest moves by one or two.
constexpr double least_warming_c = 3;
// As in the remarks on conditions of other findings: clocks move in steps of 15 MHz, 0.8 %.
constexpr double least_clock_fraction = 0.005;

constexpr Metric clock_metric{
    "conditions.sm_clock_hz",         "Hz", MetricKind::continuous, Better::higher, "",
    "SM clock while it was measured", ""};

Trend trend_of(std::span<const RepeatValue> repeats, double RepeatValue::*number, double step) {
  std::vector<double> times_s, values;
  for (const RepeatValue& repeat : repeats) {
    times_s.push_back(repeat.unix_s - repeats.front().unix_s);
    values.push_back(repeat.*number);
  }
  return fit_trend(times_s, values, step);
}

/// Of the repeats that tell it.
Trend trend_of_readings(std::vector<RepeatValue> repeats, double RepeatValue::*number) {
  std::erase_if(repeats, [=](const RepeatValue& repeat) { return !(repeat.*number > 0); });
  return trend_of(repeats, number, 0);
}

using ValueOf = std::function<std::optional<double>(std::size_t row)>;

/// Slopes of all devices: those that are large enough to matter, and how likely each one was.
class Tests {
 public:
  Tests(const std::vector<DeviceConditions>& conditions, const ReduceOptions& options)
      : conditions_(conditions),
        options_(options),
        most_chance_(2 * boost::math::cdf(boost::math::complement(boost::math::normal(),
                                                                  options.within_factor))) {}

  /// @param rows repeats of a device
  void add(std::size_t device, const std::vector<std::size_t>& rows, const Metric& metric,
           const ValueOf& value_of) {
    Drift drift{.device = device,
                .metric = std::string(metric.name),
                .unit = std::string(metric.unit),
                .better = metric.better};
    for (const std::size_t row : rows) {
      const DeviceConditions& at = conditions_[row];
      const auto value = value_of(row);
      if (!value || !std::isfinite(*value) || !(at.start_unix_s > 0)) continue;
      drift.repeats.push_back({at.start_unix_s, *value, at.sm_clock_hz, at.temperature_c});
    }
    if (drift.repeats.size() < least_repeats) return;
    std::ranges::sort(drift.repeats, {}, &RepeatValue::unix_s);
    const double step = metric.unit == "cycle" ? 1 : 0;
    drift.value = trend_of(drift.repeats, &RepeatValue::value, step);
    if (!(drift.value.first > 0)) return;
    p_values_.push_back(drift.value.p_value);
    const double least = tolerance_for(metric, options_).warn * drift.value.first;
    if (std::abs(drift.value.change()) < std::max(least, 1.5 * step) ||
        drift.value.p_value > most_chance_) {
      return;
    }
    drift.sm_clock_hz = trend_of_readings(drift.repeats, &RepeatValue::sm_clock_hz);
    drift.temperature_c = trend_of_readings(drift.repeats, &RepeatValue::temperature_c);
    large_.emplace_back(p_values_.size() - 1, std::move(drift));
  }

  std::vector<Drift> take_discoveries() {
    const std::vector<bool> is_discovery =
        discoveries(p_values_, options_.false_discovery, p_values_.size());
    std::vector<Drift> drifts;
    for (auto& [test, drift] : large_) {
      if (is_discovery[test]) drifts.push_back(std::move(drift));
    }
    std::ranges::stable_sort(drifts, {}, &Drift::device);
    return drifts;
  }

 private:
  const std::vector<DeviceConditions>& conditions_;
  const ReduceOptions& options_;
  double most_chance_;  // of a change by `within_factor` deviations, were they normal
  std::vector<double> p_values_;
  std::vector<std::pair<std::size_t, Drift>> large_;  // by the place of their p-value
};

bool clock_moved(const Drift& drift) {
  return std::abs(drift.sm_clock_hz.fraction()) >= least_clock_fraction;
}

/// "1.98 to 1.86 GHz, 61 to 88 C": readings of what moved at the same time; "" if nothing did.
std::string conditions_text(const Drift& drift) {
  std::string text;
  if (clock_moved(drift)) {
    text = readings_text(first_and_last(drift, &RepeatValue::sm_clock_hz), "Hz");
  }
  const double warming_c = drift.temperature_c.change();
  const Readings read_c = first_and_last(drift, &RepeatValue::temperature_c);
  if (std::abs(warming_c) >= least_warming_c) {
    text +=
        fmt::format("{}{:.0f} to {:.0f} C", text.empty() ? "" : ", ", read_c.first, read_c.last);
  } else if (!text.empty() && read_c.last > 0) {
    text += fmt::format(", {:.0f} C", read_c.last);
  }
  return text;
}

/// What stands behind it: as for any other charge, and heat where a clock sank as the GPU warmed.
Trouble trouble_of(const Drift& drift, const Charge& charge, const DeviceConditions& conditions) {
  const Trouble trouble = likely_trouble(charge, conditions, drift.sm_clock_hz.fraction());
  const bool warmed = drift.temperature_c.change() >= least_warming_c;
  return trouble == Trouble::clock && warmed ? Trouble::thermal : trouble;
}

}  // namespace

Readings first_and_last(const Drift& drift, double RepeatValue::*number) {
  Readings readings;
  for (const RepeatValue& repeat : drift.repeats) {
    if (!(repeat.*number > 0)) continue;
    if (!(readings.first > 0)) readings.first = repeat.*number;
    readings.last = repeat.*number;
  }
  return readings;
}

std::string readings_text(const Readings& readings, std::string_view unit) {
  const DisplayUnit display = display_unit(readings.first, unit);
  const std::string text = fmt::format("{:.4g} to {:.4g} {}", readings.first / display.divisor,
                                       readings.last / display.divisor, display.text);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<Drift> find_drifts(const RunResult& run,
                               const std::vector<DeviceConditions>& conditions,
                               const ReduceOptions& options) {
  require(conditions.size() == run.devices.size(), "conditions of other devices");
  Tests tests(conditions, options);
  const std::vector<std::vector<std::size_t>> groups = repeats_of(run);
  for (const Metric& metric : options.registry) {
    if (metric.kind != MetricKind::continuous || !metric.not_compared.empty()) continue;
    FindingFinder finder(metric.name);
    for (std::size_t device = 0; device < groups.size(); ++device) {
      tests.add(device, groups[device], metric, [&](std::size_t row) -> std::optional<double> {
        const Finding* finding = finder.in(run.devices[row]);
        return finding == nullptr ? std::nullopt : number_of(*finding);
      });
    }
  }
  for (std::size_t device = 0; device < groups.size(); ++device) {
    tests.add(device, groups[device], clock_metric, [&](std::size_t row) -> std::optional<double> {
      const double clock_hz = conditions[row].sm_clock_hz;
      return clock_hz > 0 ? std::optional(clock_hz) : std::nullopt;
    });
  }
  return tests.take_discoveries();
}

std::vector<Charge> drift_charges(const RunResult& centre,
                                  const std::vector<DeviceConditions>& conditions,
                                  const std::vector<Drift>& drifts, const ReduceOptions& options) {
  std::vector<Charge> charges;
  for (const Drift& drift : drifts) {
    const DeviceResult& device = centre.devices.at(drift.device);
    const double fraction = drift.value.fraction();
    const Readings read = first_and_last(drift, &RepeatValue::value);
    const Metric* known = find_metric(drift.metric, options.registry);
    const double warn = tolerance_for(known != nullptr ? *known : clock_metric, options).warn;
    Charge charge{.device = drift.device,
                  .node = device.node,
                  .ground = Ground::past,
                  .metric = drift.metric,
                  .value = format_quantity(read.last, drift.unit),
                  .reference = format_quantity(read.first, drift.unit),
                  .size = fraction,
                  .score = drift.value.deviations(),
                  .n = 1};
    charge.severity = is_worse(drift.better, fraction) ? Severity::warn : Severity::info;
    charge.trouble = trouble_of(drift, charge, conditions.at(drift.device));
    charge.metric += " (drift)";
    const std::string direction = fraction < 0 ? "fell" : "rose";
    const std::string moved = conditions_text(drift);
    const std::string span = duration_text(drift.span_s());
    charge.reason = fmt::format(
        "{} {} in {} by a line fitted to {} repeats, the first and the last read {}{}{}", direction,
        percent_text(fraction), span, drift.repeats.size(), readings_text(read, drift.unit),
        moved.empty()        ? ""
        : clock_moved(drift) ? "; SM clock "
                             : "; ",
        moved);
    if (clock_moved(drift)) {
      const double clock_fraction = drift.sm_clock_hz.fraction();
      charge.cause = fmt::format("SM clock {} {} in {} (fitted), read {}",
                                 clock_fraction < 0 ? "fell" : "rose", percent_text(clock_fraction),
                                 span, moved);
    }
    charge.evidence = fmt::format(
        "{:.1f} x the tolerance of {:g} %, {:.1f} x the deviation of "
        "the slope",
        std::abs(fraction) / warn, 100 * warn, std::abs(drift.value.deviations()));
    const std::string setting = describe_setting(centre.provenance, device.point_index);
    if (!setting.empty()) charge.evidence += "; with " + setting;
    charges.push_back(std::move(charge));
  }
  return charges;
}

}  // namespace sonde
