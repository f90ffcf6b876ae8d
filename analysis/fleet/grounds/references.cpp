// Reference values of GPU models, and charges for devices that are worse.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/tolerance.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr double memory_fraction = 0.001;  // drivers keep different amounts for themselves
constexpr double least_confidence = 0.5;   // the same as among peers

bool has_usual_settings(const Provenance& provenance) {
  const auto config = nlohmann::json::parse(provenance.config_json, nullptr, false);
  const auto is_set = [&](const char* option) {
    return config.is_object() && config.contains(option) && !config[option].empty();
  };
  return provenance.axes.empty() && !is_set("set") && !is_set("sms");
}

std::string band_text(const Interval& band, std::string_view unit) {
  const std::string low = format_quantity(band.low, unit);
  const std::string high = format_quantity(band.high, unit);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

/// @returns an info charge if there is nothing to report
Charge charge_for(const Finding& finding, const Metric& metric, const Interval& band,
                  const ModelReference& model) {
  const auto value = number_of(finding);
  if (!value || finding.confidence < least_confidence) return {};
  const double warn = metric.fail;
  const double size =
      unexplained_fraction(metric, *value, band, warn, within_factor * repeat_deviation(finding));
  const bool is_count = is_structure(metric.kind);
  if (size == 0 || !(is_count || is_worse(metric.better, size))) return {};
  Charge charge{.ground = Ground::reference,
                .severity = std::abs(size) >= 2 * warn ? Severity::fail : Severity::warn,
                .trouble = is_count ? Trouble::structure : Trouble::unknown,
                .metric = finding.metric,
                .value = format_quantity(*value, metric.unit),
                .reference = band_text(band, metric.unit),
                .size = size,
                .certainty = finding.confidence,
                .n = model.gpus + 1};
  charge.reason = fmt::format("{} is {} the values of {} other GPUs of this model, {}",
                              charge.value, side_text(size), model.gpus, charge.reference);
  charge.evidence = fmt::format("{:.1f} x the allowed {:g} % for other machines; reference: {}",
                                std::abs(size) / warn, 100 * warn, fmt::join(model.sources, ", "));
  return charge;
}

ModelReference read_reference(std::string_view text) {
  const auto json = nlohmann::json::parse(text);
  ModelReference model{.name = json.at("name"),
                       .memory_bytes = json.at("memory_bytes"),
                       .gpus = json.at("gpus"),
                       .sources = json.at("sources")};
  for (const auto& [metric, band] : json.at("values").items()) {
    model.values[metric] = {.low = band.at(0), .high = band.at(1)};
  }
  const auto jobs = json.value("jobs", nlohmann::json::object());
  for (const auto& [job, cost] : jobs.items()) {
    model.jobs[job] = {.seconds = cost.at(0), .file_bytes = cost.at(1)};
  }
  return model;
}

}  // namespace

std::span<const ModelReference> shipped_references() {
  static const std::vector<ModelReference> all = [] {
    std::vector<ModelReference> read;
    for (const EmbeddedFile& file : reference_files()) read.push_back(read_reference(file.text));
    return read;
  }();
  return all;
}

const ModelReference* reference_of(const RunResult& run, const ComparisonGroup& group,
                                   std::span<const ModelReference> references) {
  if (group.devices.empty() || !has_usual_settings(run.provenance)) return nullptr;
  const DeviceInfo& info = run.devices[group.devices.front()].info;
  const auto found = std::ranges::find_if(references, [&](const ModelReference& model) {
    const double memory = static_cast<double>(model.memory_bytes);
    return model.name == info.name &&
           std::abs(static_cast<double>(info.memory_bytes) - memory) <= memory_fraction * memory;
  });
  return found == references.end() ? nullptr : &*found;
}

void judge_by_references(const RunResult& run, std::span<const ModelReference> references,
                         FleetAnalysis& analysis) {
  for (const ComparisonGroup& group : analysis.groups) {
    const ModelReference* model = reference_of(run, group, references);
    if (model == nullptr) continue;
    for (const auto& [name, band] : model->values) {
      const Metric* metric = find_metric(name, analysis.registry);
      if (metric == nullptr) continue;
      const auto judge = [&](std::size_t device, const Finding& finding) {
        Charge charge = charge_for(finding, *metric, band, *model);
        charge.device = device;
        if (charge.weighs()) analysis.charges.push_back(std::move(charge));
      };
      for_each_finding(run, group.devices, name, judge);
    }
  }
}

}  // namespace sonde
