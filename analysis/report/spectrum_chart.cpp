// The latency spectrum: what a load costs by what it hits and misses (Mei and Chu 2016, figure 13).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts.hpp"
#include "analysis/report/consensus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace sonde {
namespace {

constexpr std::size_t most_flagged = 6;  // colours of spectrum.json

struct LoadPath {
  const char* prefix;  // of the metrics
  const char* name;
};
constexpr std::array load_paths{LoadPath{"", "plain loads"}, LoadPath{"cg.", "loads past the L1"}};

/// docs/methods/latency.md; the page explains them.
constexpr std::array patterns{"P1", "P2", "P3", "P4", "P5", "P6"};

std::string metric_of(const LoadPath& path, std::size_t pattern) {
  return fmt::format("latency.{}p{}_cycles", path.prefix, pattern + 1);
}

/// "absent" or "?": why there is no bar.
std::string gap_text(const Finding& finding) {
  return finding.status == Status::not_present ? "absent" : "?";
}

struct Spectrum {
  Json bars = Json::array();
  Json gaps = Json::array();
  Json dots = Json::array();
  Json flagged_devices = Json::array();
};

void add_bars(Spectrum& spectrum, const RunResult& run, const ComparisonGroup& group) {
  for (const LoadPath& path : load_paths) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const auto finding = consensus_of(run, group.devices, metric_of(path, i));
      if (!finding) continue;
      Json bar{{"pattern", patterns[i]}, {"path", path.name}};
      const auto cycles = number_of(*finding);
      if (!cycles) {
        bar["text"] = gap_text(*finding);
        bar["reason"] = finding->reason;
        spectrum.gaps.push_back(std::move(bar));
        continue;
      }
      const double deviation =
          finding->reproducibility > 0 ? finding->reproducibility : finding->repeatability;
      bar["cycles"] = *cycles;
      bar["deviation"] = deviation;
      spectrum.bars.push_back(std::move(bar));
    }
  }
}

void add_dots(Spectrum& spectrum, const DeviceResult& device, const std::string& label) {
  bool any = false;
  for (const LoadPath& path : load_paths) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const auto cycles = number_of(device, metric_of(path, i));
      if (!cycles) continue;
      spectrum.dots.push_back(
          {{"pattern", patterns[i]}, {"path", path.name}, {"device", label}, {"cycles", *cycles}});
      any = true;
    }
  }
  if (any) spectrum.flagged_devices.push_back(label);
}

Json spec_of(const Spectrum& spectrum, const std::string& title) {
  Json spec = chart_template("spectrum");
  double most_cycles = 0;
  for (const Json& bar : spectrum.bars) {
    most_cycles =
        std::max(most_cycles, bar.at("cycles").get<double>() + bar.at("deviation").get<double>());
  }
  for (const Json& dot : spectrum.dots) {
    most_cycles = std::max(most_cycles, dot.at("cycles").get<double>());
  }
  entry_of(spec["data"], "bars")["values"] = spectrum.bars;
  entry_of(spec["data"], "gaps")["values"] = spectrum.gaps;
  entry_of(spec["data"], "dots")["values"] = spectrum.dots;
  entry_of(spec["scales"], "y")["domain"] = {0, most_cycles * 1.1};
  entry_of(spec["scales"], "device")["domain"] = spectrum.flagged_devices;
  spec["title"]["text"] = title;
  if (spectrum.flagged_devices.empty()) spec["legends"].erase(1);
  return spec;
}

}  // namespace

Json spectrum_charts(const RunResult& run, const FleetAnalysis& analysis) {
  Json specs = Json::array();
  for (const ComparisonGroup& group : analysis.groups) {
    if (specs.size() == most_drawn_groups) break;
    Spectrum spectrum;
    add_bars(spectrum, run, group);
    if (spectrum.bars.empty()) continue;
    for (const std::size_t device : group.devices) {
      if (spectrum.flagged_devices.size() == most_flagged) break;
      if (is_flagged(analysis.verdicts[device]))
        add_dots(spectrum, run.devices[device], chart_label(run, run.devices[device]));
    }
    specs.push_back(spec_of(spectrum, group_title(run, group)));
  }
  return specs;
}

}  // namespace sonde
