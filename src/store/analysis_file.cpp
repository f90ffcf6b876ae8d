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

void write_analysis(const fs::path& path, const AnalysisRecord& analysis) {
  hdf5::File file = hdf5::File::open_to_write(path);
  if (hdf5::has_link(file, group_name)) {
    hdf5::check(H5Ldelete(file, group_name, H5P_DEFAULT), "replacing the analysis");
  }
  hdf5::write_attribute(hdf5::make_groups(file, group_name), "json", analysis.json);
  write_tables(file,
               {make_table<FleetRow>(keys::fleet, fleet_columns(), analysis.fleet),
                make_table<VerdictRow>(keys::verdicts, verdict_columns(), analysis.verdicts)});
  file.flush(hdf5::Durability::synced);
  file.close();
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

}  // namespace sonde
