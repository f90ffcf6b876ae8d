// `/analysis` of a run file, written into a copy that takes the file's place when whole.
#include "store/analysis_file.hpp"

#include "store/rows.hpp"
#include "store/run_header.hpp"
#include "store/run_reader.hpp"
#include "store/table_file.hpp"

#include <fmt/format.h>

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr const char* group_name = "analysis";
constexpr const char* json_attribute = "json";

void write_analysis(const fs::path& path, const AnalysisRecord& analysis) {
  hdf5::File file = hdf5::File::open_to_write(path);
  if (hdf5::has_link(file, group_name)) {
    hdf5::check(H5Ldelete(file, group_name, H5P_DEFAULT), "replacing the analysis");
  }
  hdf5::write_attribute(hdf5::make_groups(file, group_name), json_attribute, analysis.json);
  write_tables(file,
               {make_table<FleetRow>(keys::fleet, fleet_columns(), analysis.fleet),
                make_table<VerdictRow>(keys::verdicts, verdict_columns(), analysis.verdicts)});
  file.flush(hdf5::Durability::synced);
  file.close();
}

template <class Row>
std::vector<Row> read_all(hid_t file, const TableKey& key, const BoundColumns<Row>& columns) {
  return take_rows(columns,
                   read_rows(file, key, column_specs(columns), {0, count_rows(file, key)}));
}

}  // namespace

void append_analysis(const fs::path& path, const AnalysisRecord& analysis) {
  RunReader{path};  // only a file that sonde can read is touched
  const fs::path copy = path.string() + ".part";
  try {
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    write_analysis(copy, analysis);
    fs::rename(copy, path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(copy, ignored);
    throw StoreError(
        fmt::format("cannot write the analysis into '{}' ({}; the measurements in it "
                    "are untouched) free space, then run 'sonde analyze {}'",
                    path.string(), error.what(), path.string()));
  }
}

std::optional<AnalysisRecord> read_analysis(const fs::path& path) {
  RunReader{path};
  const hdf5::Handle file = hdf5::open_to_read(path);
  if (!hdf5::has_link(file, group_name)) return std::nullopt;
  try {
    const hdf5::Handle group(H5Gopen2(file, group_name, H5P_DEFAULT), H5Gclose,
                             "opening the analysis");
    return AnalysisRecord{hdf5::read_text_attribute(group, json_attribute),
                          read_all(file, keys::fleet, fleet_columns()),
                          read_all(file, keys::verdicts, verdict_columns())};
  } catch (const StoreError& error) {
    throw StoreError(
        fmt::format("the analysis in '{}' cannot be read ({}) run 'sonde analyze' "
                    "again",
                    path.string(), error.what()));
  }
}

}  // namespace sonde
