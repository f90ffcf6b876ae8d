// `/analysis` of a run file, written into a copy that takes the file's place when whole.
#include "store/analysis_file.hpp"

#include "store/hdf5/copy_file.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr const char* group_name = "analysis";

void write_analysis(const fs::path& path, const AnalysisRecord& analysis) {
  hdf5::File file = hdf5::File::open_to_write(path);
  hdf5::remove_group(file, group_name);
  Names names;
  std::vector<Table> tables{fleet_table().to_table(analysis.fleet, names),
                            flag_table().to_table(analysis.flags, names),
                            verdict_table().to_table(analysis.verdicts, names)};
  std::ranges::move(name_tables(names), std::back_inserter(tables));
  write_tables(hdf5::make_groups(file, group_name), tables);
  file.flush(hdf5::Durability::synced);
  file.close();
}

}  // namespace

BoundTable<FleetRow> fleet_table() {
  return BoundTable<FleetRow>({"fleet", "statistic"})
      .add("group", "", "comparison group", &FleetRow::group)
      .add("metric", "", "name of the metric", &FleetRow::metric)
      .add("unit", "", "unit of median, mad, min and max", &FleetRow::unit)
      .add("n", "1", "devices with a value", &FleetRow::n)
      .add("median", "1", "median of the devices", &FleetRow::median)
      .add("mad", "1", "median absolute deviation of the devices", &FleetRow::mad)
      .add("min", "1", "smallest value", &FleetRow::min)
      .add("max", "1", "largest value", &FleetRow::max)
      .add("cv", "1", "standard deviation by mean", &FleetRow::cv)
      .add("consensus", "", "structural metrics: value of the plurality", &FleetRow::consensus)
      .add("agreeing", "1", "structural metrics: devices with it", &FleetRow::agreeing)
      .add("outliers", "", "UUIDs of devices furthest out, separated by blanks",
           &FleetRow::outliers)
      .add("kind", "", "what kind of metric", &FleetRow::kind)
      .add("summary", "", "of a map of SMs: which number of it", &FleetRow::summary)
      .add("scale", "1", "what scores are divided by", &FleetRow::scale)
      .add("threshold", "1", "score that healthy devices stay below; 0: no verdict by score",
           &FleetRow::threshold)
      .add("ambiguous", "1", "structural metrics: no value has most votes", &FleetRow::ambiguous);
}

BoundTable<FlagRow> flag_table() {
  return BoundTable<FlagRow>({"flags", "flag"})
      .add("uuid", "", "UUID of the device; empty: a node or the group", &FlagRow::uuid)
      .add("node", "", "its host", &FlagRow::node)
      .add("setting", "", "of the device in a sweep; empty in a run without", &FlagRow::setting)
      .add("metric", "", "name of the metric", &FlagRow::metric)
      .add("severity", "", "info, warn or fail", &FlagRow::severity)
      .add("likely_class", "", "what most likely stands behind it", &FlagRow::likely_class)
      .add("value", "", "the device's value", &FlagRow::value)
      .add("reference", "", "that of its peers", &FlagRow::reference)
      .add("deviation_fraction", "1", "from the reference; NaN if there is none",
           &FlagRow::deviation_fraction)
      .add("score", "1", "robust score; NaN if there is none", &FlagRow::score)
      .add("n", "1", "devices compared", &FlagRow::n)
      .add("unit", "", "part of the device concerned: \"SM 17\", \"slice 3\", \"GPU\"",
           &FlagRow::unit)
      .add("ground", "", "what the device is compared with", &FlagRow::ground)
      .add("reason", "", "what differs, by how much", &FlagRow::reason)
      .add("evidence", "", "how sure that is", &FlagRow::evidence);
}

BoundTable<VerdictRow> verdict_table() {
  return BoundTable<VerdictRow>({"verdicts", "verdict_row"})
      .add("uuid", "", "UUID of the device", &VerdictRow::uuid)
      .add("verdict", "", "pass, warn, incomplete, fail or lost", &VerdictRow::verdict)
      .add("likely_class", "", "what most likely stands behind it", &VerdictRow::likely_class)
      .add("reason", "", "why", &VerdictRow::reason);
}

void append_analysis(const fs::path& path, const AnalysisRecord& analysis) {
  const RunReader readable(path);  // only a file that sonde can read is touched
  const fs::path copy = path.string() + ".part";
  try {
    copy_whole_file(path, copy);
    write_analysis(copy, analysis);
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
