// Means over the points that were measured, times those that there are.
#include "commands/estimate.hpp"

#include "analysis/fleet/value_text.hpp"
#include "base/units.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <vector>

namespace sonde {
namespace fs = std::filesystem;
namespace {

// Enough for a mean; a shard is read in some hundredths of a second.
constexpr std::size_t most_files = 32;

struct MeasuredSoFar {
  std::size_t rows = 0;  // devices at points
  double elapsed_s = 0;  // of their jobs
  double size_bytes = 0;
};

void add_file(const fs::path& file, const RunPlan& plan, MeasuredSoFar& sum) {
  const RunReader reader(file);
  const std::vector<Point>& there = reader.provenance().points;
  const auto is_of_run = [&](const DeviceResult& device) {
    return device.status == DeviceOutcome::complete &&
           std::ranges::count(plan.provenance.points, there.at(device.point_index).config_hash,
                              &Point::config_hash) > 0;
  };
  const auto devices = reader.read_devices({0, reader.device_count()}, WithTraces::no);
  for (const DeviceResult& device : devices) {
    if (!is_of_run(device)) continue;
    ++sum.rows;
    for (const JobResult& job : device.jobs) sum.elapsed_s += job.elapsed_s;
    sum.size_bytes +=
        static_cast<double>(fs::file_size(file)) / static_cast<double>(devices.size());
  }
}

MeasuredSoFar read_measured(const RunPlan& plan) {
  std::vector<fs::path> files = list_shards(plan.parts);
  files.resize(std::min(files.size(), most_files));
  std::error_code absent;
  if (files.empty() && fs::exists(plan.options.output, absent)) {
    files.emplace_back(plan.options.output);
  }
  MeasuredSoFar sum;
  for (const fs::path& file : files) {
    try {
      add_file(file, plan, sum);
    } catch (const StoreError&) {
      // An estimate does without it.
    }
  }
  return sum;
}

}  // namespace

std::string estimate_run(const RunPlan& plan, std::size_t devices) {
  const MeasuredSoFar sum = read_measured(plan);
  if (sum.rows == 0) {
    return "time and size of the file: not known before a point is measured; start the run with a "
           "short --time-budget, and look again\n";
  }
  const auto rows = static_cast<double>(sum.rows);
  const double point_s = sum.elapsed_s / rows;
  auto points = static_cast<double>(plan.points.size());
  std::string what = "all points";
  if (plan.fills_budget()) {
    const auto each = static_cast<double>(plan.points_of_repeat());
    const double repeats =
        std::min(points / each, std::floor(*time_budget_s(plan.options) / (each * point_s)));
    if (repeats < 1) {
      return fmt::format("a repeat takes about {}, more than the time budget of {}\n",
                         duration_text(each * point_s), plan.options.time_budget);
    }
    points = repeats * each;
    what = fmt::format("{:.0f} repeats", repeats);
  }
  return fmt::format(
      "about {} and {} for {}, as {} measured so far took {:.1f} s and {} each on a GPU\n",
      duration_text(points * point_s),
      format_bytes(points * static_cast<double>(devices) * sum.size_bytes / rows), what, sum.rows,
      point_s, format_bytes(sum.size_bytes / rows));
}

}  // namespace sonde
