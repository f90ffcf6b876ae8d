// What is said of a run file and its baseline.
#include "commands/fleet_file.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/drawing/drawing.hpp"
#include "analysis/report/report.hpp"
#include "support/run_file.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::HasSubstr;

/// A GPU, measured with these shares of the memory.
std::filesystem::path write_sweep(const std::filesystem::path& path, const std::string& uuid,
                                  const std::vector<std::string>& percents) {
  RunResult run = maker::healthy_fleet(1, 1);
  run.devices[0].info.uuid = uuid;
  std::vector<std::vector<std::string>> settings;
  for (const std::string& percent : percents) settings.push_back({percent});
  test::write_run_file(
      path, maker::sweep_of(std::move(run), {{.option = "memory-percent", .unit = "1"}}, settings));
  return path;
}

TEST(FleetFileTest, a_baseline_without_the_gpus_is_told_from_one_at_other_settings) {
  const test::TemporaryFolder folder;
  const auto run = write_sweep(folder / "run.h5", "GPU-1", {"50", "100"});
  const auto said_with = [&](const std::filesystem::path& baseline) {
    testing::internal::CaptureStderr();
    read_fleet(run, baseline.string(), Depth::findings);
    return testing::internal::GetCapturedStderr();
  };

  EXPECT_THAT(said_with(write_sweep(folder / "same.h5", "GPU-1", {"25", "75"})),
              HasSubstr("was measured with the same setting in the baseline"));
  EXPECT_THAT(said_with(write_sweep(folder / "other.h5", "GPU-2", {"50", "100"})),
              HasSubstr("was measured with the same setting in the baseline"));
  EXPECT_EQ(said_with(write_sweep(folder / "like.h5", "GPU-1", {"100", "75"})), "");
}

TEST(FleetFileTest, evidence_is_named_by_the_rows_of_the_repeat_that_it_comes_from) {
  const test::TemporaryFolder folder;
  RunResult run = maker::healthy_fleet(2, 1);
  run.devices[0].jobs[0].probes.resize(2);
  run.devices[1].jobs[0].probes.resize(3);
  run.provenance.points = {{.config_hash = "a", .config_json = "{}", .seed = 1},
                           {.config_hash = "b", .config_json = "{}", .seed = 1, .repeat_index = 1}};
  write_run_alone(folder / "run.h5", run.provenance, {}, 4, [&](std::size_t i) {
    DeviceResult device = run.devices[i % 2];
    device.point_index = i / 2;
    if (i == 0) device.jobs.clear();  // it was lost
    return device;
  });

  const Fleet fleet = read_fleet(folder / "run.h5", "", Depth::probes);

  const std::string html = render_html(fleet.run, fleet.analysis);
  EXPECT_THAT(html, HasSubstr("2 probes, rows 3 to 4 of <code>/probes"));
  EXPECT_THAT(html, HasSubstr("3 probes, rows 0 to 2 of <code>/probes"));
}

TEST(FleetFileTest, key_numbers_of_a_large_fleet_are_those_of_all_gpus_and_few_are_drawn) {
  const test::TemporaryFolder folder;
  const RunResult run = maker::healthy_fleet(300, 1);
  test::write_run_file(folder / "run.h5", run);
  std::vector<double> rates;
  for (const DeviceResult& device : run.devices) rates.push_back(*number_of(device, maker::read));
  const auto [least, most] = std::ranges::minmax(rates);

  const Fleet fleet = read_fleet(folder / "run.h5", "");

  const TextTable numbers = key_number_table(fleet.run, fleet.analysis.groups[0]);
  EXPECT_EQ(numbers.rows.at(0).at(2), short_range(least, most, "byte/s"));
  EXPECT_EQ(staircase_chart(fleet.run, fleet.analysis).at("grey").size(), 8u);
}

}  // namespace
}  // namespace sonde
