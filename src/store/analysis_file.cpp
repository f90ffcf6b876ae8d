#include "store/analysis_file.hpp"

#include "analysis/metric_kind_names.hpp"
#include "store/hdf5/bound_table.hpp"
#include "store/hdf5/copy_file.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr const char* group_name = "analysis";

// sonde writes these tables for other programs and never reads them back.

BoundTable<MetricStatistics> fleet_table(const RunResult& run, const FleetAnalysis& analysis) {
  using Row = MetricStatistics;
  const auto outliers = [&run](const Row& row) {
    std::vector<std::string> uuids;
    for (const Standing& standing : row.furthest) {
      uuids.push_back(run.devices[standing.device].info.uuid);
    }
    return fmt::format("{}", fmt::join(uuids, " "));
  };
  return BoundTable<Row>({"fleet", "statistic"})
      .add("group", "", "comparison group",
           [&analysis](const Row& row) { return analysis.groups[row.group].label; })
      .add("metric", "", "name of the metric", &Row::metric)
      .add("unit", "", "unit of median, mad, min and max", &Row::unit)
      .add("n", "1", "devices with a value", &Row::n)
      .add("median", "1", "median of the devices", &Row::median)
      .add("mad", "1", "median absolute deviation of the devices", &Row::mad)
      .add("min", "1", "smallest value", &Row::min)
      .add("max", "1", "largest value", &Row::max)
      .add("cv", "1", "standard deviation by mean", &Row::cv)
      .add("consensus", "", "structural metrics: value of the plurality", &Row::consensus)
      .add("agreeing", "1", "structural metrics: devices with it", &Row::agreeing)
      .add("outliers", "", "UUIDs of devices furthest out, separated by blanks", outliers)
      .add("kind", "", "what kind of metric",
           [](const Row& row) { return name_of(metric_kind_names, row.kind); })
      .add("summary", "", "which summary of a map of SMs", &Row::summary)
      .add("scale", "1", "divisor of the scores", &Row::scale)
      .add("threshold", "1", "score that healthy devices stay below; 0: no verdict by score",
           &Row::threshold)
      .add("ambiguous", "1", "structural metrics: no value has most votes", &Row::ambiguous);
}

BoundTable<Charge> flag_table(const RunResult& run) {
  const auto of_device = [&run](auto take) {
    return [&run, take](const Charge& row) {
      return row.device == Charge::no_device ? std::string() : take(run.devices[row.device]);
    };
  };
  const auto text_of = [](auto member) {
    return [member](const Charge& row) { return to_text(row.*member); };
  };
  return BoundTable<Charge>({"flags", "flag"})
      .add("uuid", "", "UUID of the device; empty: a node or the group",
           of_device([](const DeviceResult& device) { return device.info.uuid; }))
      .add("node", "", "its host", &Charge::node)
      .add("setting", "", "setting of the device in a sweep; empty in a run without a sweep",
           of_device([&run](const DeviceResult& device) {
             return describe_setting(run.provenance, device.point_index);
           }))
      .add("metric", "", "name of the metric", &Charge::metric)
      .add("severity", "", "info, warn or fail", text_of(&Charge::severity))
      .add("likely_class", "", "most likely cause", text_of(&Charge::trouble))
      .add("value", "", "the device's value", &Charge::value)
      .add("reference", "", "value of its peers", &Charge::reference)
      .add("deviation_fraction", "1", "deviation from the reference; NaN if there is none",
           &Charge::size)
      .add("score", "1", "robust score; NaN if there is none", &Charge::score)
      .add("n", "1", "devices compared", &Charge::n)
      .add("unit", "", "affected part of the device: \"SM 17\", \"slice 3\", \"GPU\"",
           text_of(&Charge::unit))
      .add("ground", "", "what the device is compared with", text_of(&Charge::ground))
      .add("reason", "", "what differs, by how much", &Charge::reason)
      .add("evidence", "", "certainty", &Charge::evidence);
}

BoundTable<DeviceVerdict> verdict_table(const RunResult& run, const FleetAnalysis& analysis) {
  using Row = DeviceVerdict;
  const auto uuid = [&](const Row& row) {  // verdicts have the order of the devices
    return run.devices[static_cast<std::size_t>(&row - analysis.verdicts.data())].info.uuid;
  };
  return BoundTable<Row>({"verdicts", "verdict_row"})
      .add("uuid", "", "UUID of the device", uuid)
      .add("verdict", "", "pass, warn, incomplete, fail or lost",
           [](const Row& row) { return to_text(row.verdict); })
      .add("likely_class", "", "most likely cause",
           [](const Row& row) { return to_text(row.likely); })
      .add("reason", "", "why", &Row::reason);
}

void write_analysis(const fs::path& path, const RunResult& run, const FleetAnalysis& analysis) {
  hdf5::File file = hdf5::File::open_to_write(path);
  hdf5::remove_group(file, group_name);
  Names names;
  std::vector<Table> tables{fleet_table(run, analysis).to_table(analysis.statistics, names),
                            flag_table(run).to_table(analysis.charges, names),
                            verdict_table(run, analysis).to_table(analysis.verdicts, names)};
  write_tables(hdf5::make_groups(file, group_name), with_names(std::move(tables), names));
  file.flush(hdf5::Durability::synced);
  file.close();
}

}  // namespace

void append_analysis(const fs::path& path, const RunResult& run, const FleetAnalysis& analysis) {
  const RunReader readable(path);  // throws unless sonde can read the file
  const fs::path copy = path.string() + ".part";
  try {
    copy_whole_file(path, copy);
    write_analysis(copy, run, analysis);
    fs::rename(copy, path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(copy, ignored);
    throw StoreError(
        fmt::format("cannot write the analysis into '{}' ({}; the measurements in it "
                    "are untouched) make room or the folder writable, then run 'sonde analyze {}'",
                    path.string(), error.what(), path.string()));
  }
}

}  // namespace sonde
