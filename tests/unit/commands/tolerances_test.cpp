#include "commands/tolerances.hpp"

#include "analysis/fleet/tolerance.hpp"
#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(TolerancesTest, the_longest_prefix_counts_and_one_number_warns) {
  ReduceOptions options;
  options.tolerances = parse_tolerances({"latency=2", "latency.cg=6/8", "l2.read_bytes_per_s=0.5"});

  EXPECT_DOUBLE_EQ(tolerance_for(*find_metric("latency.ca.l1_cycles"), options).warn, 0.02);
  EXPECT_DOUBLE_EQ(tolerance_for(*find_metric("latency.ca.l1_cycles"), options).fail, 0.02 * 5 / 3);
  EXPECT_DOUBLE_EQ(tolerance_for(*find_metric("latency.cg.p4_cycles"), options).warn, 0.06);
  EXPECT_DOUBLE_EQ(tolerance_for(*find_metric("latency.cg.p4_cycles"), options).fail, 0.08);
  EXPECT_DOUBLE_EQ(tolerance_for(*find_metric("l2.read_bytes_per_s"), options).warn, 0.005);
  EXPECT_DOUBLE_EQ(tolerance_for(*find_metric("l2.write_bytes_per_s"), options).warn, 0.03);
}

TEST(TolerancesTest, what_no_metric_begins_with_or_is_no_percent_is_refused) {
  for (const char* item : {"latency", "latency=", "=2", "latency=two", "latency=-1", "latency=4/2",
                           "latency=2/", "latency=0", "latency=nan"}) {
    EXPECT_THROW(parse_tolerances({item}), ConfigError) << item;
  }
  try {
    parse_tolerances({"latncy=2"});
    FAIL() << "no metric is called so";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'latncy'"));
  }
}

TEST(TolerancesTest, a_run_remembers_its_own_and_older_ones_have_none) {
  Provenance provenance;
  provenance.config_json = R"({"suite": "quick", "tolerance": ["tlb=10/20"]})";
  const auto kept = tolerances_of(provenance);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].prefix, "tlb");
  EXPECT_DOUBLE_EQ(kept[0].warn, 0.1);
  EXPECT_DOUBLE_EQ(kept[0].fail, 0.2);
  provenance.config_json = R"({"suite": "quick"})";
  EXPECT_TRUE(tolerances_of(provenance).empty());
  provenance.config_json = "";
  EXPECT_TRUE(tolerances_of(provenance).empty());
}

}  // namespace
}  // namespace sonde
