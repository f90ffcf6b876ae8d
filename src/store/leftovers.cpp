// What is left of a parts folder once its run file is whole.
#include "store/leftovers.hpp"

#include "base/error.hpp"
#include "store/output.hpp"
#include "store/points.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"

#include <algorithm>
#include <set>

namespace sonde {
namespace fs = std::filesystem;
namespace {

/// Whether it was measured at none of these points.
bool is_foreign(const fs::path& shard, const std::vector<Point>& points) {
  try {
    return !holds(points, RunReader(shard).provenance().config_hash);
  } catch (const StoreError&) {
    return false;  // nobody can read it
  }
}

}  // namespace

std::vector<fs::path> list_foreign_shards(const fs::path& run,
                                          const std::function<void()>& on_shard) {
  const std::vector<Point> points = RunReader(run).provenance().points;
  std::vector<fs::path> foreign;
  for (const fs::path& shard : list_shards(parts_folder(run))) {
    if (on_shard) on_shard();
    if (is_foreign(shard, points)) foreign.push_back(shard);
  }
  return foreign;
}

std::vector<fs::path> remove_joined_parts(const fs::path& run,
                                          const std::vector<fs::path>& foreign) {
  const fs::path parts = parts_folder(run);
  std::set<fs::path> kept(foreign.begin(), foreign.end());
  std::vector<fs::path> others;  // files, and folders before what is in them
  std::error_code error;
  for (fs::recursive_directory_iterator entry(parts, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == aside_suffix) kept.insert(entry->path());
    if (!kept.contains(entry->path())) others.push_back(entry->path());
  }
  std::ranges::reverse(others);
  for (const fs::path& path : others) fs::remove(path, error);  // not a folder with something in it
  if (kept.empty()) fs::remove(parts, error);
  return {kept.begin(), kept.end()};
}

}  // namespace sonde
