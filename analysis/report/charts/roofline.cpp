// The roofline of a device with all measured ceilings (Williams, Waterman and Patterson 2009):
// operations per second against operations per byte.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/drawing/drawing.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sonde {
namespace {

/// The range of the chart, in which real programs lie.
constexpr double least_operations_per_byte = 1.0 / 64;
constexpr double most_operations_per_byte = 16384;

struct Ceiling {
  std::string name;
  double per_s = 0;  // bytes, or operations
};

std::vector<Ceiling> compute_ceilings(const DeviceResult& device) {
  std::vector<Ceiling> ceilings;
  for (const FlopRate& rate : flop_rates(device)) {
    ceilings.push_back(
        {fmt::format("{}: {} in a burst", rate.name, short_quantity(rate.per_s, "FLOP/s")),
         rate.per_s});
  }
  return ceilings;
}

std::vector<Ceiling> memory_ceilings(const DeviceResult& device, double cycles_per_s) {
  const auto rate_of = [&](const char* metric) { return number_of(device, metric).value_or(0); };
  const auto* by_sm = vector_of(device, "placement.read_l1_bytes_per_cycle");
  std::vector<Ceiling> ceilings{
      {"memory", rate_of("global.read_bytes_per_s")},
      {"L2", rate_of("l2.read_bytes_per_s")},
      {"L1", by_sm == nullptr ? 0 : median(*by_sm) * cycles_per_s},
      {"shared memory", rate_of("shared.bytes_per_cycle_per_sm") * cycles_per_s}};
  std::erase_if(ceilings, [](const Ceiling& one) { return !(one.per_s > 0); });
  for (auto& [name, per_s] : ceilings) name += fmt::format(": {:.2f} TB/s", per_s * 1e-12);
  return ceilings;
}

/// The two ends of a ceiling's line.
void add_line(Json& chart, const std::string& name, double from, double to, double from_rate,
              double to_rate) {
  chart["points"].push_back({{"line", name}, {"x", from}, {"y", from_rate}});
  chart["points"].push_back({{"line", name}, {"x", to}, {"y", to_rate}});
}

}  // namespace

Json roofline_chart(const DeviceResult& device, const std::string& label) {
  const double cycles_per_s =
      number_of(device, "clock.sm_hz").value_or(0) * static_cast<double>(device.info.sm_count);
  const std::vector<Ceiling> compute = compute_ceilings(device);
  const std::vector<Ceiling> memory = memory_ceilings(device, cycles_per_s);
  if (compute.empty() || memory.empty()) return {};
  const double most_per_s = std::ranges::max_element(compute, {}, &Ceiling::per_s)->per_s;
  const double most_bytes_per_s = std::ranges::max_element(memory, {}, &Ceiling::per_s)->per_s;
  Json chart{{"kind", "lines"},
             {"title", label},
             {"wide", true},
             {"x", {{"title", "FLOP for each byte"}, {"type", "log"}}},
             {"y", {{"title", "FLOP/s"}, {"type", "log"}}},
             {"dashed", Json::array()},
             {"points", Json::array()}};
  for (const Ceiling& ceiling : memory) {
    add_line(chart, ceiling.name, least_operations_per_byte, most_per_s / ceiling.per_s,
             least_operations_per_byte * ceiling.per_s, most_per_s);
  }
  for (const Ceiling& ceiling : compute) {
    chart["dashed"].push_back(ceiling.name);
    add_line(chart, ceiling.name, ceiling.per_s / most_bytes_per_s, most_operations_per_byte,
             ceiling.per_s, ceiling.per_s);
  }
  return chart;
}

}  // namespace sonde
