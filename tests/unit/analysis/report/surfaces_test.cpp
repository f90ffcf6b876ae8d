// Surfaces of throughput become heat maps, whole or not at all.
#include "analysis/report/charts/charts.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sonde {
namespace {

using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A run of two devices, of which the second one has these lists.
class Surfaces {
 public:
  Surfaces() : run_(maker::healthy_fleet(2, 7)) { run_.devices[1].info.sm_count = 132; }

  Surfaces& add(const std::string& metric, std::vector<double> values) {
    run_.devices[1].jobs[0].findings.push_back(found(metric, std::move(values), 1, 1));
    return *this;
  }
  Surfaces& add_global(const std::string& prefix, const std::vector<double>& blocks,
                       std::vector<double> rates) {
    add(prefix + "_block_threads", std::vector<double>(blocks.size(), 256));
    add(prefix + "_ilp", std::vector<double>(blocks.size(), 4));
    add(prefix + "_blocks", blocks);
    return add(prefix + "_bytes_per_s", std::move(rates));
  }
  Json charts() const { return surface_charts(run_.devices[1], label()); }
  std::string label() const { return chart_label(run_.devices[1]); }

 private:
  RunResult run_;
};

const Json& cells_of(const Json& chart) { return chart.at("cells"); }

TEST(SurfacesTest, without_surfaces_there_is_none) { EXPECT_TRUE(Surfaces().charts().empty()); }

TEST(SurfacesTest, each_surface_of_global_memory_has_its_map) {
  Surfaces surfaces;
  for (const char* prefix : {"global.surface", "global.write_surface", "global.copy_surface"}) {
    surfaces.add_global(prefix, {132, 264}, {1e12, 2e12});
  }
  const Json charts = surfaces.charts();
  ASSERT_EQ(charts.size(), 3u);
  const char* titles[] = {"Read", "Written", "Copied"};
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const std::string title = charts.at(i).at("title");
    EXPECT_THAT(title, HasSubstr(titles[i]));
    EXPECT_THAT(title, HasSubstr(surfaces.label()));
    ASSERT_EQ(cells_of(charts.at(i)).size(), 2u);
  }
  const Json& cell = cells_of(charts.at(0)).at(1);
  EXPECT_EQ(cell.at("panel"), "ILP 4");
  EXPECT_EQ(cell.at("row"), "256");
  EXPECT_EQ(cell.at("column"), "2");  // of each SM
  EXPECT_EQ(cell.at("value"), 2e12);
}

TEST(SurfacesTest, grids_that_do_not_fit_at_once_are_one_column) {
  Surfaces surfaces;
  surfaces.add_global("global.surface", {132, 30720, 61440}, {1e12, 3e12, 2e12});
  const Json charts = surfaces.charts();
  ASSERT_EQ(charts.size(), 1u);
  ASSERT_EQ(cells_of(charts.at(0)).size(), 2u);
  EXPECT_EQ(cells_of(charts.at(0)).at(1).at("column"), "> 64");
  EXPECT_EQ(cells_of(charts.at(0)).at(1).at("value"), 3e12);
}

TEST(SurfacesTest, shared_memory_has_a_map_by_shape_and_one_by_warps) {
  Surfaces surfaces;
  surfaces.add("shared.surface_block_threads", {64, 128})
      .add("shared.surface_blocks_per_sm", {1, 1})
      .add("shared.surface_ilp", {1, 2})
      .add("shared.surface_bytes_per_cycle", {20, 80})
      .add("shared.matrix_warps", {2, 4})
      .add("shared.matrix_ilp", {1, 2})
      .add("shared.matrix_bytes_per_cycle", {20, 80});
  const Json charts = surfaces.charts();
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(cells_of(charts.at(0)).at(0).at("panel"), "ILP 1");
  EXPECT_EQ(cells_of(charts.at(1)).at(1).at("panel"), "");
  EXPECT_EQ(cells_of(charts.at(1)).at(1).at("row"), "2");
  EXPECT_EQ(cells_of(charts.at(1)).at(1).at("column"), "4");
}

TEST(SurfacesTest, lists_that_do_not_fit_are_not_drawn) {
  Surfaces unequal;
  unequal.add_global("global.surface", {132, 264}, {1e12});
  EXPECT_TRUE(unequal.charts().empty());

  Surfaces no_numbers;
  no_numbers.add_global("global.surface", {132, nan}, {nan, 1e12});
  EXPECT_TRUE(no_numbers.charts().empty());

  Surfaces endless;
  std::vector<double> warps;
  for (int i = 0; i < 5000; ++i) warps.push_back(i);
  endless.add("shared.matrix_warps", warps)
      .add("shared.matrix_ilp", warps)
      .add("shared.matrix_bytes_per_cycle", warps);
  EXPECT_TRUE(endless.charts().empty());
}

}  // namespace
}  // namespace sonde
