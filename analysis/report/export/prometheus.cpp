// Text for the node exporter's textfile collector, which allows no timestamps.
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <iomanip>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// Labels that identify a series, with DCGM's names so that both can be joined; in a sweep also the
/// setting. What may change on a GPU (slot, serial number, cause) has its own series.
std::string labels_of(const RunResult& run, const DeviceResult& device) {
  const std::string setting = describe_setting(run.provenance, device.point_index);
  return fmt::format("UUID=\"{}\",Hostname=\"{}\"{}", escape_label(device.info.uuid),
                     escape_label(device.node),
                     setting.empty() ? "" : ",setting=\"" + escape_label(setting) + "\"");
}

std::string exposed_name(std::string_view metric) {
  static const std::regex odd("[^a-zA-Z0-9]");
  return "sonde_" + std::regex_replace(std::string(metric), odd, "_");
}

std::string head(const std::string& name, std::string_view help) {
  return fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

std::optional<std::int64_t> unix_seconds(const std::string& iso_utc) {
  std::tm time{};
  std::istringstream text(iso_utc);
  text >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  return text.fail() ? std::nullopt : std::optional(timegm(&time));
}

std::string info_lines(const RunResult& run) {
  std::string text = head("sonde_device_info", "what the device is; always 1");
  for (const DeviceResult& device : run.devices) {
    text +=
        fmt::format("sonde_device_info{{{},pci_bus_id=\"{}\",serial=\"{}\",modelName=\"{}\"}} 1\n",
                    labels_of(run, device), escape_label(device.info.pci_bus_id),
                    escape_label(device.info.serial), escape_label(device.info.name));
  }
  return text;
}

std::string verdict_lines(const RunResult& run, const FleetAnalysis& analysis) {
  std::string verdicts =
      head("sonde_device_verdict", "0 pass, 1 warn, 2 incomplete, 3 fail, 4 lost");
  std::string causes = head("sonde_device_likely_cause", "likely cause of a verdict; always 1");
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& judged = analysis.verdicts[i];
    const std::string labels = labels_of(run, run.devices[i]);
    verdicts +=
        fmt::format("sonde_device_verdict{{{}}} {}\n", labels, static_cast<int>(judged.verdict));
    if (judged.verdict == Verdict::pass) continue;
    causes += fmt::format("sonde_device_likely_cause{{{},likely=\"{}\"}} 1\n", labels,
                          to_text(judged.likely));
  }
  return verdicts + causes;
}

}  // namespace

void write_prometheus(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis) {
  out << verdict_lines(run, analysis) << info_lines(run);
  std::map<std::string, std::vector<std::pair<std::size_t, double>>> samples;  // by metric
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    for (const JobResult& job : run.devices[i].jobs) {
      for (const Finding& finding : job.findings) {
        const auto* value = std::get_if<double>(&finding.value);
        if (value == nullptr || !std::isfinite(*value)) continue;
        samples[finding.metric].emplace_back(i, *value);
      }
    }
  }
  std::vector<std::string> labels;
  for (const DeviceResult& device : run.devices) labels.push_back(labels_of(run, device));
  std::string lines;  // of one metric: the format requires them together
  for (const auto& [metric, of_metric] : samples) {
    const Metric* known = find_metric(metric, analysis.registry);
    const std::string name = exposed_name(metric);
    lines = head(name, known != nullptr ? known->meaning : "-");
    for (const auto& [device, value] : of_metric) {
      fmt::format_to(std::back_inserter(lines), FMT_COMPILE("{}{{{}}} {}\n"), name, labels[device],
                     value);
    }
    out << lines;
  }
  if (const auto seconds = unix_seconds(run.provenance.started_utc)) {
    const char* name = "sonde_last_run_timestamp_seconds";
    out << head(name, "start of the run") << fmt::format("{} {}\n", name, *seconds);
  }
}

}  // namespace sonde
