// The figures of Dai 2016: bars of each program and scheme, and lines over the part of the warps or
// blocks that uses the L1.
#include "analysis/bypass_study_rows.hpp"
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace sonde {
namespace {

/// A figure of bars: a vector of each program, whose entries are those of the schemes.
struct Bars {
  const char* title;
  const char* metric;  // behind "bypass.<program>.study."
  const char* axis;
  std::vector<const char*> schemes;
};

const std::vector<Bars>& bars() {
  static const std::vector<const char*> compared{"baseline", "SWL-best", "CBWT-best", "MDB-global"};
  static const std::vector<Bars> all{
      {"Other L1s (figure 2)", "l1_speedups", "speed-up", {"modulo", "no L1", "8 MB"}},
      {"Schemes (figure 6)",
       "scheme_speedups",
       "speed-up",
       {"SWL-best", "CBWT-best", "MDB-local", "MDB-global"}},
      {"L1 hits (figure 7a)", "scheme_hits", "per kilo-instruction", compared},
      {"Reservation failures (figure 7b)", "scheme_failures", "per kilo-instruction", compared},
      {"Memory instructions (figure 7c)", "scheme_accesses_per_cycle", "per cycle", compared},
      {"L2 requests (figure 7d)", "scheme_l2_requests", "per kilo-instruction", compared},
      {"L1 capacity (figure 8a)",
       "capacity_speedups",
       "speed-up",
       {"32 KB", "64 KB", "16 KB MDB", "32 KB MDB", "64 KB MDB"}},
      {"Schedulers (figure 8b)",
       "scheduler_speedups",
       "speed-up",
       {"RR", "two-level", "GTO MDB", "RR MDB", "two-level MDB"}}};
  return all;
}

/// A figure of lines over L / N, one for each program.
struct Lines {
  const char* title;
  const char* metric;
  const char* axis;
  bool of_last;  // over the value with all cached, as figure 4 has failures
};

constexpr Lines lines[] = {
    {"Speed-up by what uses the L1 (figure 3a)", "cached_speedups", "speed-up", false},
    {"L1 hits (figure 3b)", "cached_hits", "per kilo-instruction", false},
    {"Reservation failures (figure 3c)", "cached_failures", "per kilo-instruction", false},
    {"Reservation failures over those with all (figure 4)", "cached_failures", "fraction", true}};

const std::vector<double>* study_of(const DeviceResult& device, std::string_view program,
                                    const char* metric) {
  return vector_of(device, fmt::format("bypass.{}.study.{}", program, metric));
}

Json points_of(const DeviceResult& device, const Bars& figure) {
  Json points = Json::array();
  for (const registry::Factor& program : registry::paper_program_factors) {
    const std::vector<double>* values = study_of(device, program.name, figure.metric);
    if (values == nullptr || values->size() != figure.schemes.size()) continue;
    for (std::size_t i = 0; i < values->size(); ++i) {
      if (!std::isfinite((*values)[i])) continue;
      points.push_back(
          {{"x", program.name}, {"series", figure.schemes[i]}, {"value", (*values)[i]}});
    }
  }
  return points;
}

Json points_of(const DeviceResult& device, const Lines& figure) {
  Json points = Json::array();
  for (const registry::Factor& program : registry::paper_program_factors) {
    const std::vector<double>* values = study_of(device, program.name, figure.metric);
    if (values == nullptr || values->size() < 2) continue;
    const double whole = figure.of_last ? values->back() : 1;
    if (!(whole > 0)) continue;
    for (std::size_t i = 0; i < values->size(); ++i) {
      if (!std::isfinite((*values)[i])) continue;
      const double share = static_cast<double>(i) / static_cast<double>(values->size() - 1);
      points.push_back({{"x", share}, {"series", program.name}, {"value", (*values)[i] / whole}});
    }
  }
  return points;
}

template <class Figure>
void add_chart(const DeviceResult& device, const std::string& label, const Figure& figure,
               const char* page, Json& charts) {
  const Json points = points_of(device, figure);
  if (points.empty()) return;
  Json spec = chart_template(page);
  entry_of(spec["data"], "points")["values"] = points;
  spec["title"]["text"] = fmt::format("{}, {}", figure.title, label);
  for (Json& axis : spec["axes"]) {
    if (axis.at("orient") == "left") axis["title"] = figure.axis;
  }
  charts.push_back(std::move(spec));
}

}  // namespace

Json bypass_charts(const DeviceResult& device, const std::string& label) {
  Json charts = Json::array();
  for (const Lines& figure : lines) add_chart(device, label, figure, "bypass_lines", charts);
  for (const Bars& figure : bars()) add_chart(device, label, figure, "bypass_bars", charts);
  return charts;
}

}  // namespace sonde
