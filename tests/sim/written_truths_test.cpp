// Truths that somebody wrote, read as what ought to be found.
#include "sim/written_truths.hpp"

#include "base/error.hpp"
#include "sim/finding_verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>
#include <fstream>

namespace sonde::test {
namespace {

Finding answer(const std::string& metric, Value value) {
  return found(metric, std::move(value), 1, 1);
}

class WrittenTruthsTest : public testing::Test {
 protected:
  ~WrittenTruthsTest() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }

  std::vector<DeclaredValue> read(const std::string& text) {
    std::ofstream(file_) << text;
    return read_written_truths(file_);
  }

  Verdict verdict(const std::string& metric, const std::string& truth, const Finding& found) {
    return judge(read(R"({"metrics": {")" + metric + R"(": )" + truth + "}}").at(0), &found);
  }

 private:
  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) / fmt::format("sonde_truths_{}.json", getpid());
};

TEST_F(WrittenTruthsTest, structure_must_come_back_as_it_stands) {
  EXPECT_EQ(verdict("cache.l1.sets", "64", answer("cache.l1.sets", 64.0)), Verdict::right);
  EXPECT_EQ(verdict("cache.l1.sets", "64", answer("cache.l1.sets", 65.0)), Verdict::wrong);
}

TEST_F(WrittenTruthsTest, latencies_may_differ_by_two_cycles_or_a_hundredth) {
  const auto of = [&](double cycles) {
    return verdict("latency.dram_cycles", "600", answer("latency.dram_cycles", cycles));
  };
  EXPECT_EQ(of(606), Verdict::right);
  EXPECT_EQ(of(594), Verdict::right);
  EXPECT_EQ(of(607), Verdict::wrong);
  EXPECT_EQ(verdict("latency.l1_cycles", "38", answer("latency.l1_cycles", 40.0)), Verdict::right);
  EXPECT_EQ(verdict("latency.l1_cycles", "38", answer("latency.l1_cycles", 40.5)), Verdict::wrong);
}

TEST_F(WrittenTruthsTest, lists_texts_and_absence_are_understood) {
  EXPECT_EQ(verdict("cache.l1.replacement", R"("lru")",
                    answer("cache.l1.replacement", std::string("lru"))),
            Verdict::right);
  EXPECT_EQ(verdict("cache.l1.replacement", R"("lru")",
                    answer("cache.l1.replacement", std::string("fifo"))),
            Verdict::wrong);
  const std::vector<double> ways{4, 4, 2};
  EXPECT_EQ(verdict("cache.l1.ways_per_set", "[4, 4, 2]", answer("cache.l1.ways_per_set", ways)),
            Verdict::right);
  const Finding absent = not_present("tlb.l3.entries", "why");
  EXPECT_EQ(verdict("tlb.l3.entries", R"("not_present")", absent), Verdict::right);
  EXPECT_EQ(verdict("tlb.l3.entries", "4096", absent), Verdict::wrong);
}

TEST_F(WrittenTruthsTest, chances_may_differ_by_three_hundredths) {
  const auto of = [&](std::vector<double> shares) {
    return verdict("cache.l1.way_probability", "[0.25, 0.75]",
                   answer("cache.l1.way_probability", std::move(shares)));
  };
  EXPECT_EQ(of({0.27, 0.73}), Verdict::right);
  EXPECT_EQ(of({0.29, 0.71}), Verdict::wrong);
}

TEST_F(WrittenTruthsTest, metrics_that_nobody_knows_and_broken_files_are_refused) {
  EXPECT_THROW(read(R"({"metrics": {"cache.l1.colour": 3}})"), Error);
  EXPECT_THROW(read(R"({"metrics": {"cache.l1.sets": )"), Error);
  EXPECT_THROW(read(R"({"values": {}})"), Error);
  EXPECT_THROW(read(R"({"metrics": {"cache.l1.sets": true}})"), Error);
  EXPECT_THROW(read_written_truths("/nowhere/at.all.json"), Error);
}

}  // namespace
}  // namespace sonde::test
