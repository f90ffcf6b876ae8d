// Text for the node exporter's textfile collector, which refuses timestamps on samples.
#include "analysis/report/report.hpp"
#include "base/escape.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>

namespace sonde {
namespace {

/// What identifies a series, and nothing else: names as in DCGM's exporter, so that both join. What
/// may change while the GPU stays (slot, serial number, cause) stands in series of its own.
std::string labels_of(const DeviceResult& device) {
  return fmt::format("UUID=\"{}\",Hostname=\"{}\"", escape_label(device.info.uuid),
                     escape_label(device.node));
}

std::string exposed_name(std::string_view metric) {
  std::string name = "sonde_";
  for (const char c : metric) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  return name;
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
                    labels_of(device), escape_label(device.info.pci_bus_id),
                    escape_label(device.info.serial), escape_label(device.info.name));
  }
  return text;
}

std::string verdict_lines(const RunResult& run, const FleetAnalysis& analysis) {
  std::string verdicts =
      head("sonde_device_verdict", "0 pass, 1 warn, 2 incomplete, 3 fail, 4 lost");
  std::string causes =
      head("sonde_device_likely_cause", "what likely stands behind a verdict; always 1");
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceVerdict& judged = analysis.verdicts[i];
    const std::string labels = labels_of(run.devices[i]);
    verdicts +=
        fmt::format("sonde_device_verdict{{{}}} {}\n", labels, static_cast<int>(judged.verdict));
    if (judged.verdict == Verdict::pass) continue;
    causes += fmt::format("sonde_device_likely_cause{{{},likely=\"{}\"}} 1\n", labels,
                          to_text(judged.likely));
  }
  return verdicts + causes;
}

}  // namespace

std::string render_prometheus(const RunResult& run, const FleetAnalysis& analysis) {
  std::string text = verdict_lines(run, analysis) + info_lines(run);
  std::map<std::string, std::string> samples;
  for (const DeviceResult& device : run.devices) {
    for (const JobResult& job : device.jobs) {
      for (const Finding& finding : job.findings) {
        const auto* value = std::get_if<double>(&finding.value);
        if (value == nullptr || !std::isfinite(*value)) continue;
        samples[finding.metric] +=
            fmt::format("{}{{{}}} {}\n", exposed_name(finding.metric), labels_of(device), *value);
      }
    }
  }
  for (const auto& [metric, lines] : samples) {
    const Metric* known = find_metric(metric, analysis.registry);
    text += head(exposed_name(metric), known != nullptr ? known->meaning : "-") + lines;
  }
  if (const auto seconds = unix_seconds(run.provenance.started_utc)) {
    const char* name = "sonde_last_run_timestamp_seconds";
    text += head(name, "start of the run") + fmt::format("{} {}\n", name, *seconds);
  }
  return text;
}

}  // namespace sonde
