// Reference values of GPU models, and who is worse than these.
#include "analysis/fleet/grounds/references.hpp"

#include "analysis/fleet/tolerance.hpp"
#include "analysis/fleet/value_text.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

constexpr double memory_fraction = 0.001;  // drivers differ in what they keep for themselves
constexpr double least_confidence = 0.5;   // as for a verdict among peers

bool has_usual_settings(const RunResult& run) {
  if (!run.provenance.axes.empty()) return false;
  const auto config = nlohmann::json::parse(run.provenance.config_json, nullptr, false);
  return std::ranges::none_of(std::array{"set", "sms"}, [&](const char* option) {
    return config.is_object() && config.contains(option) && !config[option].empty();
  });
}

std::string band_text(const ReferenceValue& reference, std::string_view unit) {
  const std::string low = format_quantity(reference.low, unit);
  const std::string high = format_quantity(reference.high, unit);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

void judge_device(const RunResult& run, std::size_t device, const ModelReference& model,
                  const ReduceOptions& options, std::vector<Charge>& charges) {
  for (const ReferenceValue& reference : model.values) {
    const Metric* metric = find_metric(reference.metric, options.registry);
    if (metric == nullptr) continue;
    const Finding* found = find_finding(run.devices[device], reference.metric);
    const auto value = number_of(found);
    if (!value || found->confidence < least_confidence) continue;
    const double warn = metric->fail;
    const double fraction = unexplained_fraction(*metric, *value, {reference.low, reference.high},
                                                 warn, within_factor * repeat_deviation(*found));
    const bool is_count = is_structure(metric->kind);
    if (fraction == 0 || !(is_count || is_worse(metric->better, fraction))) continue;
    Charge& charge = charges.emplace_back(
        Charge{.device = device,
               .ground = Ground::reference,
               .severity = std::abs(fraction) >= 2 * warn ? Severity::fail : Severity::warn,
               .trouble = is_count ? Trouble::structure : Trouble::unknown,
               .metric = reference.metric,
               .value = format_quantity(*value, metric->unit),
               .reference = band_text(reference, metric->unit),
               .size = fraction,
               .certainty = found->confidence,
               .n = model.gpus + 1});
    charge.reason = fmt::format("{} is {} what {} other GPUs of this model had, {}", charge.value,
                                side_text(fraction), model.gpus, charge.reference);
    charge.evidence =
        fmt::format("{:.1f} x the {:g} % that are granted to other machines; reference: {}",
                    std::abs(fraction) / warn, 100 * warn, fmt::join(model.sources, ", "));
  }
}

std::vector<ModelReference> parse_all() {
  std::vector<ModelReference> all;
  for (const EmbeddedFile& file : reference_files()) all.push_back(parse_reference(file.text));
  return all;
}

}  // namespace

ModelReference parse_reference(std::string_view json) try {
  const auto read = nlohmann::ordered_json::parse(json);
  ModelReference model{.name = read.at("name").get<std::string>(),
                       .memory_bytes = read.at("memory_bytes").get<std::uint64_t>(),
                       .gpus = read.at("gpus").get<std::size_t>(),
                       .runs = read.at("runs").get<std::size_t>(),
                       .sources = read.at("sources").get<std::vector<std::string>>()};
  for (const auto& [metric, band] : read.at("values").items()) {
    model.values.push_back(
        {.metric = metric, .low = band.at(0).get<double>(), .high = band.at(1).get<double>()});
  }
  return model;
} catch (const nlohmann::json::exception& problem) {
  throw Error(fmt::format("a reference cannot be read: {}", problem.what()));
}

std::span<const ModelReference> shipped_references() {
  static const std::vector<ModelReference> all = parse_all();
  return all;
}

const ModelReference* reference_of(const RunResult& run, const ComparisonGroup& group,
                                   const ReduceOptions& options) {
  if (group.devices.empty() || !has_usual_settings(run)) return nullptr;
  const DeviceInfo& info = run.devices[group.devices.front()].info;
  const auto is_same = [&](const ModelReference& model) {
    const double memory = static_cast<double>(model.memory_bytes);
    return model.name == info.name &&
           std::abs(static_cast<double>(info.memory_bytes) - memory) <= memory_fraction * memory;
  };
  const auto found = std::ranges::find_if(options.references, is_same);
  return found == options.references.end() ? nullptr : &*found;
}

std::vector<Charge> reference_charges(const RunResult& run,
                                      const std::vector<ComparisonGroup>& groups,
                                      const ReduceOptions& options) {
  std::vector<Charge> charges;
  for (const ComparisonGroup& group : groups) {
    const ModelReference* model = reference_of(run, group, options);
    if (model == nullptr) continue;
    for (std::size_t device : group.devices) judge_device(run, device, *model, options, charges);
  }
  return charges;
}

}  // namespace sonde
