// The job `bypass` on a simulated Fermi: bypassing pays where warps thrash the L1 and nothing is
// lost elsewhere (Dai et al., DAC 2016).
#include "sim/job_on_sim.hpp"
#include "sim/shipped_json.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace sonde::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;

/// The Fermi of the paper, all of it divided by three: SMs, partitions of the L2 and channels.
JobOnSim bypass_on_a_third_of_the_papers_fermi() {
  nlohmann::json model = json_of("fermi_dac16");
  model["chip"]["gpcs"] = 1;
  model["programs"]["l2_partitions"] = 2;
  model["device"]["memory_bus_bits"] = 128;
  model["dram"]["channels"] = 2;
  JobOnSim sim(write_model(model, "third_of_fermi"), {"clock"});
  sim.assume("cache.l1.size_bytes", 16384.0);
  sim.run("bypass");
  return sim;
}

/// The rows of the job's vectors.
class Patterns {
 public:
  explicit Patterns(const JobOnSim& sim) : sim_(sim) {
    std::istringstream names(std::get<std::string>(sim.find("bypass.patterns").value));
    for (std::string name; std::getline(names >> std::ws, name, ';');) names_.push_back(name);
  }

  std::size_t count() const { return names_.size(); }

  double number(const char* metric, const char* pattern) const {
    return sim_.vector(metric).at(row_of(pattern));
  }

  /// What stands in a vector over bypass.cached.
  std::vector<double> curve(const char* metric, const char* pattern) const {
    const auto cached = sim_.vector("bypass.cached");
    const auto values = sim_.vector(metric);
    EXPECT_EQ(values.size(), cached.size());
    std::vector<double> curve;
    std::size_t begun = 0;
    for (std::size_t at = 0; at < cached.size(); ++at) {
      begun += cached[at] == 0;
      if (begun == row_of(pattern) + 1) curve.push_back(values[at]);
    }
    EXPECT_EQ(begun, names_.size());
    return curve;
  }

 private:
  std::size_t row_of(const char* pattern) const {
    return static_cast<std::size_t>(std::ranges::find(names_, pattern) - names_.begin());
  }

  const JobOnSim& sim_;
  std::vector<std::string> names_;
};

auto count_unknown(const std::vector<double>& values) {
  return std::ranges::count_if(values, [](double value) { return std::isnan(value); });
}

TEST(BypassSimTest, thrashing_warps_gain_on_the_papers_fermi_and_others_lose_nothing) {
  const JobOnSim sim = bypass_on_a_third_of_the_papers_fermi();
  const Patterns patterns(sim);

  EXPECT_EQ(patterns.count(), 19u);
  const auto cached = patterns.curve("bypass.cached", "kms");
  EXPECT_THAT(cached, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(patterns.number("bypass.units", "kms"), 8);
  const auto performance = patterns.curve("bypass.accesses_per_cycle", "kms");
  const double best_l = patterns.number("bypass.best_l", "kms");
  EXPECT_GE(best_l, 1);
  EXPECT_LE(best_l, 5);
  EXPECT_GT(performance[static_cast<std::size_t>(best_l)], 1.5 * performance[8]);
  EXPECT_GT(performance[static_cast<std::size_t>(best_l)], 1.2 * performance[0]);
  EXPECT_EQ(patterns.number("bypass.none_speedup", "kms"), performance[0] / performance[8]);
  EXPECT_GT(patterns.number("bypass.model_speedup", "kms"), 1.5);
  const auto congestion = patterns.curve("bypass.congestion", "kms");
  EXPECT_GT(congestion.back(), 1.5);
  EXPECT_EQ(count_unknown(congestion), 8) << "only patterns that teach are timed with each L";
  EXPECT_EQ(count_unknown(patterns.curve("bypass.congestion", "atx")), 1)
      << "with none cached no load goes through the L1";
  EXPECT_GT(patterns.number("bypass.best_speedup", "rows_8"), 1.5);
  EXPECT_EQ(patterns.curve("bypass.estimated_hits", "kms").front(), 0);

  EXPECT_LT(patterns.number("bypass.best_speedup", "scp"), 1.1) << "data that nobody uses twice";
  EXPECT_GE(patterns.number("bypass.best_speedup", "scp"), 1);
  EXPECT_GT(patterns.number("bypass.model_speedup", "scp"), 0.95);

  const auto hit_fractions = sim.vector("bypass.path_hit_fractions");
  EXPECT_THAT(hit_fractions, ElementsAre(0, 0, Gt(0.9)));

  EXPECT_THAT(std::get<std::string>(sim.find("bypass.advice").value),
              AllOf(ContainsRegex("kms: . of 8 warps should bypass: [+]"),
                    HasSubstr("2dv: none should bypass")));
  EXPECT_EQ(sim.status("bypass.large_l1_speedup"), Status::not_present);
  EXPECT_GT(sim.number("bypass.gaining_patterns"), 2);
}

TEST(BypassSimTest, unknown_l1_is_an_answer) {
  JobOnSim sim("gtx280", {"clock", "bypass"});
  EXPECT_EQ(sim.status("bypass.best_l"), Status::not_resolvable);
}

}  // namespace
}  // namespace sonde::test
