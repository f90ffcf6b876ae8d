// Key numbers and structure of a group of devices.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/drawing/drawing.hpp"
#include "analysis/report/report.hpp"
#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace sonde {
namespace {

/// What is measured, and which metric tells what it could be at most.
struct Row {
  const char* name;
  const char* metric;
  const char* theoretical = "";
};
/// Of rows with the same name the first one that has a value.
constexpr Row memory_rows[] = {
    {"memory, read", "global.read_bytes_per_s", "global.theoretical_bytes_per_s"},
    {"memory, write", "global.write_bytes_per_s", "global.theoretical_bytes_per_s"},
    {"memory, copy", "global.copy_bytes_per_s", "global.theoretical_bytes_per_s"},
    {"memory, latency", "latency.dram_cycles"},
    {"L2, size", "cache.l2.slice_total_bytes", "device.reported_l2_bytes"},
    {"L2, size", "cache.l2.size_bytes", "device.reported_l2_bytes"},
    {"L2, read", "l2.read_bytes_per_s"},
    {"L2, write", "l2.write_bytes_per_s"},
    {"L1 of an SM, read", "placement.read_l1_bytes_per_cycle"},
    {"shared memory of an SM", "shared.bytes_per_cycle_per_sm",
     "shared.peak_bytes_per_cycle_per_sm"}};
constexpr Row link_rows[] = {
    {"copy from the host", "host.to_device_bytes_per_s", "host.link_bytes_per_s"},
    {"copy to the host", "host.from_device_bytes_per_s", "host.link_bytes_per_s"}};

/// Multiply-adds by whose rate a device is known.
constexpr std::pair<const char*, const char*> flops[] = {
    {"FP64", "double_fma"},       {"FP64 matrices", "mma_f64_wide"}, {"FP32", "float_fma"},
    {"FP16", "half2_fma"},        {"TF32 matrices", "wgmma_tf32"},   {"FP16 matrices", "wgmma_f16"},
    {"FP8 matrices", "wgmma_fp8"}};

/// Of a map or a list the median.
std::optional<double> value_of(const DeviceResult& device, std::string_view metric) {
  if (const auto number = number_of(device, metric)) return number;
  const std::vector<double> known = known_values(device, metric);
  return known.empty() ? std::nullopt : std::optional(median(known));
}

/// What all NVLinks of a device carry one way, by the generation that its compute capability has
/// (Nvidia's data sheets: 25 GB/s a link from Volta to Hopper, 50 GB/s from Blackwell on).
std::optional<double> nvlink_bytes_per_s(const DeviceResult& device) {
  constexpr int volta = 7;
  constexpr int blackwell = 10;
  const int generation = device.info.compute_major;
  const auto links = number_of(device, "host.nvlinks");
  if (!links || *links == 0 || generation < volta) return std::nullopt;
  return *links * (generation < blackwell ? 25e9 : 50e9);
}

class KeyNumbers {
 public:
  KeyNumbers(const RunResult& run, const ComparisonGroup& group) : run_(run), group_(group) {
    table_.columns = {{""}, {"measured"}};
    if (group.devices.size() > 1) table_.columns.push_back({"least and most"});
    table_.columns.push_back({"theoretical"});
    table_.columns.push_back({"share", Align::right});
    if (group.reference != nullptr)
      table_.columns.push_back({fmt::format("reference ({} GPUs)", group.reference->gpus)});
  }

  /// What the devices give, of those that give anything.
  template <class Ask>
  std::vector<double> collect(const Ask& ask) const {
    std::vector<double> values;
    for (const std::size_t device : group_.devices) {
      if (const std::optional<double> one = ask(run_.devices[device])) values.push_back(*one);
    }
    return values;
  }

  void add(const Row& row) {
    const Metric* metric = find_metric(row.metric);
    const auto value = [&row](const DeviceResult& device) { return value_of(device, row.metric); };
    const auto limit = [&row](const DeviceResult& device) {
      return number_of(device, row.theoretical);
    };
    add(row.name, metric != nullptr ? metric->unit : "", collect(value), collect(limit),
        row.metric);
  }

  /// @param limits theoretical values
  /// @param metric whose reference values are shown
  void add(std::string_view name, std::string_view unit, const std::vector<double>& values,
           const std::vector<double>& limits, const std::string& metric = "") {
    const bool is_there = !table_.rows.empty() && table_.rows.back().front() == name;
    if (values.empty() || is_there) return;
    const double middle = median(values);
    std::vector<std::string> row{std::string(name), short_quantity(middle, unit)};
    const auto [low, high] = std::ranges::minmax(values);
    if (group_.devices.size() > 1) row.push_back(short_range(low, high, unit));
    row.push_back(limits.empty() ? "" : short_quantity(median(limits), unit));
    row.push_back(limits.empty() ? "" : fmt::format("{:.0f} %", 100 * middle / median(limits)));
    if (group_.reference != nullptr) row.push_back(reference_text(metric, unit));
    table_.rows.push_back(std::move(row));
  }

  TextTable take() { return std::move(table_); }

 private:
  std::string reference_text(const std::string& metric, std::string_view unit) const {
    const auto band = group_.reference->values.find(metric);
    return band == group_.reference->values.end()
               ? ""
               : short_range(band->second.low, band->second.high, unit);
  }

  const RunResult& run_;
  const ComparisonGroup& group_;
  TextTable table_{};
};

/// The first of these facts that has an answer.
std::string fact_text(const DrawnUnit& unit, std::span<const std::string_view> labels) {
  constexpr double sure = 0.9;  // below it a value cannot fail a device (quorum.cpp)
  for (const std::string_view label : labels) {
    const auto fact = std::ranges::find(unit.facts, label, &DrawnFact::label);
    if (fact == unit.facts.end()) continue;
    return fact->confidence < sure
               ? fmt::format("{} (confidence {:.2f})", fact->text, fact->confidence)
               : fact->text;
  }
  return "";
}

}  // namespace

std::vector<FlopRate> flop_rates(const DeviceResult& device) {
  const auto sm_count = static_cast<double>(device.info.sm_count);
  const double most_hz = number_of(device, "device.max_sm_clock_hz").value_or(0);
  const double hz = number_of(device, "clock.sm_hz").value_or(most_hz);
  std::vector<FlopRate> rates;
  for (const auto& [name, operation] : flops) {
    const double per_cycle =
        number_of(device, fmt::format("arithmetic.{}.throughput_per_cycle_per_sm", operation))
            .value_or(0);
    if (!(per_cycle * hz * sm_count > 0)) continue;
    constexpr double noise = 0.02;  // a rate this little above a power of two is that power
    const double lanes = std::exp2(std::ceil(std::log2(per_cycle / (1 + noise))));
    rates.push_back({.name = name,
                     .per_s = 2 * per_cycle * sm_count * hz,
                     .theoretical_per_s = 2 * lanes * sm_count * most_hz});
  }
  return rates;
}

TextTable key_number_table(const RunResult& run, const ComparisonGroup& group) {
  KeyNumbers numbers(run, group);
  for (const Row& row : memory_rows) numbers.add(row);
  for (const auto& [name, operation] : flops) {
    std::vector<double> measured;
    std::vector<double> limits;
    for (const std::size_t device : group.devices) {
      for (const FlopRate& rate : flop_rates(run.devices[device])) {
        if (rate.name != name) continue;
        measured.push_back(rate.per_s);
        limits.push_back(rate.theoretical_per_s);
      }
    }
    numbers.add(fmt::format("{}, burst", name), "FLOP/s", measured, limits);
  }
  for (const Row& row : link_rows) numbers.add(row);
  const auto from_peers = [](const DeviceResult& device) {
    return value_of(device, "peer.read_bytes_per_s");
  };
  numbers.add("read from another GPU", "byte/s", numbers.collect(from_peers),
              numbers.collect(nvlink_bytes_per_s));
  return numbers.take();
}

TextTable structure_summary(const RunResult& run, const ComparisonGroup& group) {
  using Labels = std::vector<std::string_view>;
  static const Labels columns[] = {{"line/sector", "entries", "banks", "a thread"},
                                   {"sets x ways", "slice sets", "resident"},
                                   {"policy", "their policy"},
                                   {"hit", "latency", "a miss"}};
  TextTable table{
      {{""}, {"size"}, {"line / sector"}, {"sets x ways"}, {"replacement"}, {"latency"}}, {}};
  for (const DrawnFrame& frame : draw_device(consensus_of(run, group.devices))) {
    const std::size_t first = table.rows.size();
    for (const DrawnUnit& unit : frame.units) {
      std::vector<std::string> row{"  " + unit.name, unit.size};
      for (const Labels& labels : columns) row.push_back(fact_text(unit, labels));
      const bool tells = std::ranges::any_of(row.begin() + 2, row.end(),
                                             [](const std::string& cell) { return !cell.empty(); });
      if (tells && unit.kind != "link" && unit.kind != "memory")
        table.rows.push_back(std::move(row));
    }
    if (table.rows.size() > first) {
      const std::string name = frame.name.substr(0, frame.name.find(','));
      table.rows.insert(table.rows.begin() + static_cast<std::ptrdiff_t>(first),
                        {name, "", "", "", "", ""});
    }
  }
  return table;
}

}  // namespace sonde
