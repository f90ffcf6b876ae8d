// JSON of a writer to declared values.
#include "sim/written_truths.hpp"

#include "analysis/metrics.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace sonde::test {
namespace {

using nlohmann::json;

Declared to_declared(const Metric& metric, const json& value) {
  if (value == "not_present") return Absent{};
  if (value.is_string()) return OneOf{{value.get<std::string>()}};
  if (value.is_array() && metric.name.ends_with(".way_probability"))
    return DeclaredChances{{value.get<std::vector<double>>()}};
  if (value.is_array()) return value.get<std::vector<double>>();
  if (!value.is_number()) throw Error("a value is a number, a list of numbers, or a text");
  const auto number = value.get<double>();
  if (is_structure(metric.kind) || metric.kind == MetricKind::inventory) return number;
  const double allowed = std::max(2.0, std::abs(number) / 100);
  return DeclaredRange{number - allowed, number + allowed};
}

}  // namespace

std::vector<DeclaredValue> read_written_truths(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw Error(fmt::format("{}: cannot be read", file.string()));
  std::vector<DeclaredValue> values;
  try {
    const json truths = json::parse(stream);
    for (const auto& [name, value] : truths.at("metrics").items()) {
      const Metric* metric = find_metric(name);
      if (metric == nullptr) throw Error(fmt::format("no metric '{}'", name));
      values.push_back({name, to_declared(*metric, value)});
    }
  } catch (const json::exception& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  }
  return values;
}

}  // namespace sonde::test
