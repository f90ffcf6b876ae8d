// Causes, headlines and their order.
#include "analysis/fleet/causes.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/value_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <tuple>

namespace sonde {
namespace {

/// What a metric measures, by a part of its name: the first that fits.
struct MeasuredPart {
  std::string_view text;
  Trouble trouble;
};
constexpr std::array measured_parts{
    MeasuredPart{"host.", Trouble::host_rate},
    MeasuredPart{"peer.", Trouble::peer_rate},
    MeasuredPart{"sm_clock_hz", Trouble::clock},
    MeasuredPart{"clock.sm_hz", Trouble::clock},
    MeasuredPart{"global.", Trouble::memory_rate},
    MeasuredPart{"dram", Trouble::memory_rate},
    MeasuredPart{"l2", Trouble::memory_rate},
    MeasuredPart{"tlb", Trouble::memory_rate},
    MeasuredPart{"l1", Trouble::sm},
    MeasuredPart{"shared", Trouble::sm},
    MeasuredPart{"arithmetic", Trouble::sm},
    MeasuredPart{"control", Trouble::sm},
    MeasuredPart{"instruction", Trouble::sm},
    MeasuredPart{"constant", Trouble::sm},
};

bool is_rate(std::string_view metric) { return metric.ends_with("bytes_per_s"); }

std::string clock_headline(const DeviceConditions& conditions, double clock_deviation_fraction) {
  std::string text =
      fmt::format("SM clock {} below its peers'", percent_text(clock_deviation_fraction));
  if (conditions.temperature_c > 0) text += fmt::format(" at {:.0f} C", conditions.temperature_c);
  const std::string reasons = throttle_text(conditions.throttle_reasons);
  return reasons.empty() ? text : text + ", throttled: " + reasons;
}

bool is_of_clock(Trouble trouble) {
  return trouble == Trouble::clock || trouble == Trouble::thermal || trouble == Trouble::power;
}

}  // namespace

Trouble likely_trouble(const Charge& charge, const DeviceConditions& conditions,
                       double clock_deviation_fraction) {
  const bool in_cycles = charge.metric.ends_with("_cycles");  // a slower clock does not change it
  if (!in_cycles && clock_deviation_fraction < 0 &&
      2 * std::abs(clock_deviation_fraction) >= std::abs(charge.size)) {
    if ((conditions.throttle_reasons & thermal_throttle_mask) != 0) return Trouble::thermal;
    if ((conditions.throttle_reasons & power_throttle_mask) != 0) return Trouble::power;
    return Trouble::clock;
  }
  for (const MeasuredPart& part : measured_parts) {
    if (charge.metric.find(part.text) != std::string::npos) return part.trouble;
  }
  return Trouble::unknown;
}

std::string headline_of(const Charge& charge, const DeviceConditions& conditions,
                        double clock_deviation_fraction) {
  if (!charge.cause.empty()) return charge.cause;
  const std::string size = percent_text(charge.size);
  if (charge.trouble == Trouble::slice && charge.unit.is_named()) {
    return fmt::format("{} of the L2 is {} slower than the others", to_text(charge.unit), size);
  }
  if (charge.trouble == Trouble::sm && charge.unit.is_named()) {
    return fmt::format("{} is {} slower than the others of this GPU", to_text(charge.unit), size);
  }
  if (charge.undecided) return "";
  if (is_of_clock(charge.trouble) && clock_deviation_fraction < 0) {
    return clock_headline(conditions, clock_deviation_fraction);
  }
  if (charge.trouble == Trouble::memory_rate && charge.size < 0 &&
      (is_rate(charge.metric) || charge.metric == "global.efficiency")) {
    return fmt::format("{} bandwidth {} low", charge.metric.starts_with("l2.") ? "L2" : "memory",
                       size);
  }
  if (charge.metric == "global.loaded_latency_ns") {
    return fmt::format("latency of memory under load {} high", size);
  }
  if (charge.metric == "device.sm_count") {
    return fmt::format("{} SMs where its peers have {}", charge.value, charge.reference);
  }
  return "";
}

bool is_told_before(const Charge& one, const Charge& other) {
  const auto order = [](const Charge& charge) {
    const bool contended = charge.trouble == Trouble::contention && charge.weighs();
    return std::tuple(!contended, -static_cast<int>(charge.severity), charge.trouble,
                      !charge.unit.is_named(), !is_rate(charge.metric),
                      std::isfinite(charge.size) ? -std::abs(charge.size) : 0);
  };
  return order(one) < order(other);
}

}  // namespace sonde
