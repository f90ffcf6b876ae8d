// What a run file keeps of its analysis: every column that docs/file-format.md promises is filled.
#include "store/analysis_file.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "store/hdf5/stored_tables.hpp"
#include "store/run_reader.hpp"
#include "support/run_file.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

/// Columns of `/analysis`.
class AnalysisFileTest : public testing::Test {
 protected:
  void analyze() {
    run_.provenance = test::some_provenance();
    test::write_run_file(path_, run_);
    append_analysis(path_, run_, {});  // is replaced
    append_analysis(path_, run_, reduce_fleet(run_, maker::options()));
  }

  std::vector<std::string> texts(const TableKey& key, const std::string& column) const {
    const hdf5::Handle file = hdf5::open_to_read(path_);
    const StoredTables tables(file, "analysis/");
    std::vector<std::string> all;
    for (const std::uint32_t row : numbers<std::uint32_t>(key, column)) {
      all.emplace_back(tables.names().at(row));
    }
    return all;
  }
  template <class T = double>
  std::vector<T> numbers(const TableKey& key, const std::string& column) const {
    const hdf5::Handle file = hdf5::open_to_read(path_);
    const StoredTables tables(file, "analysis/");
    const Table wanted{key, {{column, "", "", std::vector<T>{}}}};
    const Table read = tables.read(wanted, {0, tables.rows(key)});
    return std::get<std::vector<T>>(read.columns.front().values);
  }
  std::size_t row_of(const std::string& metric) const {
    const auto metrics = texts(fleet_, "metric");
    return static_cast<std::size_t>(std::ranges::find(metrics, metric) - metrics.begin());
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "run.h5";
  const TableKey fleet_{"fleet", "statistic"};
  const TableKey flags_{"flags", "flag"};
  const TableKey verdicts_{"verdicts", "verdict_row"};
  RunResult run_ = maker::healthy_fleet(4, 1);
};

TEST_F(AnalysisFileTest, a_structural_metric_has_its_consensus_and_who_agrees) {
  maker::finding_of(run_.devices[2], "cache.l1.size_bytes").value = 131072.0;
  analyze();
  const std::size_t row = row_of("cache.l1.size_bytes");

  EXPECT_EQ(texts(fleet_, "unit").at(row), "byte");
  EXPECT_EQ(numbers<std::uint64_t>(fleet_, "n").at(row), 4U);
  EXPECT_EQ(numbers<std::uint64_t>(fleet_, "agreeing").at(row), 3U);
  EXPECT_EQ(texts(fleet_, "consensus").at(row), "192 KiB");
}

TEST_F(AnalysisFileTest, a_continuous_metric_has_its_statistics_and_outliers_and_they_a_verdict) {
  maker::scale_finding(run_.devices[2], "global.read_bytes_per_s", 0.8);
  analyze();
  const std::size_t row = row_of("global.read_bytes_per_s");
  const std::string& slow = run_.devices[2].info.uuid;
  const double median = numbers(fleet_, "median").at(row);

  EXPECT_EQ(texts(fleet_, "group").at(row), "NVIDIA H200, 140 GiB, ECC on, driver 550");
  EXPECT_EQ(texts(fleet_, "unit").at(row), "byte/s");
  EXPECT_NEAR(median, 4.5e12, 0.1e12);
  EXPECT_LT(numbers(fleet_, "min").at(row), 0.9 * median);
  EXPECT_GE(numbers(fleet_, "max").at(row), median);
  EXPECT_TRUE(texts(fleet_, "outliers").at(row).starts_with(slow));
  EXPECT_EQ(texts(fleet_, "consensus").at(row), "");
  EXPECT_EQ(texts(flags_, "uuid").at(0), slow);
  EXPECT_EQ(texts(flags_, "severity").at(0), "fail");
  EXPECT_NEAR(numbers(flags_, "deviation_fraction").at(0), -0.2, 0.02);
  ASSERT_EQ(texts(verdicts_, "uuid").size(), 4U);
  EXPECT_EQ(texts(verdicts_, "uuid")[2], slow);
  EXPECT_EQ(texts(verdicts_, "verdict")[2], "fail");
  EXPECT_EQ(texts(verdicts_, "likely_class")[2], "memory");
  EXPECT_EQ(test::print(read_run(path_, Depth::traces)),
            test::print(RunResult{run_.provenance, run_.devices, {}}));
}

}  // namespace
}  // namespace sonde
