// docs/metrics.md is generated: this test fails when the registry has moved on.
#include "analysis/report/report.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sonde {
namespace {

TEST(MetricsDocTest, the_committed_page_is_what_the_registry_gives) {
  std::ifstream file(SONDE_DOCS "/metrics.md");
  std::stringstream committed;
  committed << file.rdbuf();

  EXPECT_EQ(committed.str(), render_metric_list(ListFormat::markdown))
      << "run: sonde list metrics --format markdown > docs/metrics.md";
}

TEST(MetricsDocTest, each_metric_is_registered_once) {
  for (const Metric& metric : all_metrics()) {
    EXPECT_EQ(find_metric(metric.name), &metric) << metric.name;
  }
}

}  // namespace
}  // namespace sonde
