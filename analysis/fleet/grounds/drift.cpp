// Changes while a device is measured repeatedly: tests a line through each number over time, and
// reports clock and temperature at the same times.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr double most_chance = 0.01;  // that any healthy device drifts, per night
constexpr std::size_t least_repeats = 3;
// Drivers report whole degrees; an idle chip varies by one or two.
constexpr double least_warming_c = 3;
// Clocks change in steps of 15 MHz, which is 0.8 %.
constexpr double least_clock_fraction = 0.005;

/// Of one repeat. Values of 0 or less were not read.
struct Reading {
  double unix_s = 0;
  double value = 0;
  double sm_clock_hz = 0;
  double temperature_c = 0;
};

/// One metric of one device over its repeats.
struct Line {
  std::size_t device = 0;  // row of the centre of the repeats
  const Metric* metric = nullptr;
  std::vector<Reading> readings = {};  // in order of time
  Trend trend = {};
};

/// "90 s", "45 min", "4.0 h".
std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// Repeats in which the number was read.
std::vector<Reading> known(std::vector<Reading> readings, double Reading::*number) {
  std::erase_if(readings, [=](const Reading& one) { return !(one.*number > 0); });
  return readings;
}

Trend trend_of(const Line& line, double Reading::*number, double step = 0) {
  std::vector<double> times_s, values;
  for (const Reading& reading : known(line.readings, number)) {
    times_s.push_back(reading.unix_s - line.readings.front().unix_s);
    values.push_back(reading.*number);
  }
  return fit_trend(times_s, values, step);
}

/// "1.98 to 1.86 GHz": first and last reading, in the unit of the first. (The ends of the line
/// differ if the change is not straight.) "" if nothing was read.
std::string readings_text(const Line& line, double Reading::*number, std::string_view unit) {
  const std::vector<Reading> readings = known(line.readings, number);
  if (readings.empty()) return "";
  const double first = readings.front().*number;
  const DisplayUnit display = display_unit(first, unit);
  const std::string text = fmt::format("{:.4g} to {:.4g} {}", first / display.divisor,
                                       readings.back().*number / display.divisor, display.text);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// @param rows repeats of a device
std::vector<Reading> read(const RunResult& run, const std::vector<std::size_t>& rows,
                          const std::vector<DeviceConditions>& conditions, const Metric& metric) {
  std::vector<Reading> readings;
  const auto add = [&](std::size_t row, double value) {
    const DeviceConditions& at = conditions[row];
    if (!(value > 0) || !(at.start_unix_s > 0)) return;
    readings.push_back({at.start_unix_s, value, at.sm_clock_hz, std::round(at.temperature_c)});
  };
  if (metric.name == clock_metric.name) {
    for (const std::size_t row : rows) add(row, conditions[row].sm_clock_hz);
  }
  for_each_finding(run, rows, metric.name, [&](std::size_t row, const Finding& finding) {
    add(row, number_of(finding).value_or(0));
  });
  std::ranges::sort(readings, {}, &Reading::unix_s);
  return readings;
}

/// All lines that can be tested, by device, then metric.
std::vector<Line> fit_lines(const RunResult& run, const Repeats& repeats,
                            const std::vector<DeviceConditions>& conditions,
                            std::span<const Metric> registry) {
  std::vector<Line> lines;
  for (std::size_t device = 0; device < repeats.size(); ++device) {
    const auto test = [&](const Metric& metric) {
      Line line{.device = device,
                .metric = &metric,
                .readings = read(run, repeats[device], conditions, metric)};
      if (line.readings.size() < least_repeats) return;
      line.trend = trend_of(line, &Reading::value, resolution_of(metric));
      if (line.trend.first > 0) lines.push_back(std::move(line));
    };
    for (const Metric& metric : registry) {
      if (metric.kind == MetricKind::continuous && metric.not_compared.empty()) test(metric);
    }
    test(clock_metric);
  }
  return lines;
}

/// @param conditions of all repeats of the device together
Charge charge_of(const Line& line, const DeviceConditions& conditions) {
  const double fraction = line.trend.fraction();
  const double clock_fraction = trend_of(line, &Reading::sm_clock_hz).fraction();
  const double warming_c = trend_of(line, &Reading::temperature_c).change();
  const std::string span =
      duration_text(line.readings.back().unix_s - line.readings.front().unix_s);
  Charge charge{
      .device = line.device,
      .ground = Ground::past,
      .severity = is_worse(line.metric->better, fraction) ? Severity::warn : Severity::info,
      .metric = std::string(line.metric->name),
      .value = format_quantity(line.readings.back().value, line.metric->unit),
      .reference = format_quantity(line.readings.front().value, line.metric->unit),
      .size = fraction,
      .score = line.trend.deviations(),
      .n = 1};
  charge.trouble = likely_trouble(charge, conditions, clock_fraction);
  if (charge.trouble == Trouble::clock && warming_c >= least_warming_c) {
    charge.trouble = Trouble::thermal;
  }
  charge.metric += " (drift)";
  const std::string clocks = readings_text(line, &Reading::sm_clock_hz, "Hz");
  const std::string temperatures = readings_text(line, &Reading::temperature_c, "C");
  const std::string meanwhile =
      clocks + (clocks.empty() || temperatures.empty() ? "" : ", ") + temperatures;
  if (std::abs(clock_fraction) >= least_clock_fraction) {
    charge.cause =
        fmt::format("SM clock {} {} in {} (fitted), read {}", clock_fraction < 0 ? "fell" : "rose",
                    percent_text(clock_fraction), span, meanwhile);
  }
  charge.reason =
      fmt::format("{} {} in {} by a line fitted to {} repeats, the first and the last read {}{}{}",
                  fraction < 0 ? "fell" : "rose", percent_text(fraction), span,
                  line.readings.size(), readings_text(line, &Reading::value, line.metric->unit),
                  meanwhile.empty() ? ""
                  : clocks.empty()  ? "; "
                                    : "; SM clock ",
                  meanwhile);
  charge.evidence =
      fmt::format("{}, {:.1f} x the deviation of the slope",
                  tolerance_text(fraction, line.metric->warn), std::abs(line.trend.deviations()));
  return charge;
}

}  // namespace

std::vector<Charge> drift_charges(const RunResult& run,
                                  const std::vector<DeviceConditions>& conditions,
                                  std::span<const Metric> registry) {
  const Repeats repeats = repeats_of(run);
  const std::vector<DeviceConditions> centres = centre_of_conditions(run, conditions);
  const std::vector<Line> lines = fit_lines(run, repeats, conditions, registry);
  const auto tests = static_cast<double>(lines.size());
  std::vector<Charge> charges;
  for (const Line& line : lines) {
    const double least =
        std::max(line.metric->warn * line.trend.first, least_steps * resolution_of(*line.metric));
    const bool is_large = std::abs(line.trend.change()) >= least;
    if (!is_large || line.trend.p_value * tests > most_chance) continue;
    charges.push_back(charge_of(line, centres[line.device]));
  }
  return charges;
}

}  // namespace sonde
