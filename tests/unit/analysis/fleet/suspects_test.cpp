#include "analysis/fleet/verdict/reduce.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace sonde {
namespace {

using maker::healthy_fleet;
using maker::options;
using maker::read;
using maker::scale_finding;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* l2_map = "placement.l2_latency_cycles";

/// The job of that metric measured again, with its value at first times the factor.
void measure_again(DeviceResult& device, std::string_view metric, double factor) {
  for (const JobResult& job : device.jobs) {
    if (find_finding(job.findings, metric) == nullptr) continue;
    DeviceResult second;
    second.jobs = {job};
    scale_finding(second, metric, factor);
    device.again.push_back(second.jobs.front());
  }
}

FleetAnalysis analyze(const RunResult& run) { return reduce_fleet(run, options()); }

TEST(SuspectsTest, what_was_measured_is_measured_again_once_by_the_job_of_its_metric) {
  RunResult run = healthy_fleet(8, 1);
  EXPECT_TRUE(find_suspects(analyze(run), run).empty());

  scale_finding(run.devices[5], read, 0.8);
  maker::slow_sm(run.devices[4], l2_map, 17, 400);  // moves several numbers of the map
  maker::finding_of(run.devices[1], "device.sm_count").value = 130.0;
  run.devices[2].after.ecc_uncorrected = 1;
  maker::finding_of(run.devices[3], "cache.l1.size_bytes").value = 131072.0;
  const FleetAnalysis analysis = analyze(run);

  EXPECT_EQ(analysis.counts.failed, 5u);
  std::set<std::string> found;
  for (const Suspect& one : find_suspects(analysis, run)) {
    found.insert(fmt::format("{} {} {} {}", one.device, one.group, one.metric, one.job));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre("5 0 global.read_bytes_per_s global.throughput",
                                                   "4 0 placement.l2_latency_cycles placement",
                                                   "3 0 cache.l1.size_bytes cache.l1"));
}

TEST(SuspectsTest, the_peer_is_in_the_middle_and_no_suspect) {
  RunResult run = healthy_fleet(5, 1);
  const double factors[] = {0.997, 1.002, 1.0, 0.8, 1.004};
  const Interval edges_mib[] = {{39, 41}, {56, 60}, {57, 58.6}, {57.5, 59}, {57.2, 59.4}};
  for (std::size_t i = 0; i < 5; ++i) {
    maker::finding_of(run.devices[i], read).value = 4.5e12 * factors[i];
    Finding& size = maker::finding_of(run.devices[i], "cache.l2.size_bytes");
    size.value = (edges_mib[i].low + edges_mib[i].high) / 2 * (1 << 20);
    size.interval = {.low = edges_mib[i].low * (1 << 20), .high = edges_mib[i].high * (1 << 20)};
  }
  maker::finding_of(run.devices[0], "cache.l1.replacement").value = "fifo";
  const FleetAnalysis analysis = analyze(run);

  EXPECT_EQ(median_peer(analysis, run, 0, read), 2u);
  EXPECT_EQ(median_peer(analysis, run, 0, "cache.l2.size_bytes"), 1u);
  EXPECT_EQ(median_peer(analysis, run, 0, "cache.l1.replacement"), 1u);
}

TEST(SuspectsTest, both_of_a_pair_are_suspects_and_no_peer_is_left) {
  RunResult run = healthy_fleet(2, 1);
  scale_finding(run.devices[1], read, 0.8);

  const FleetAnalysis analysis = analyze(run);

  EXPECT_EQ(find_suspects(analysis, run).size(), 2u);
  EXPECT_EQ(median_peer(analysis, run, 0, read), std::nullopt);
}

/// The last device reads 20 % less at first.
TEST(SuspectsTest, the_second_look_settles_what_the_first_one_saw) {
  struct Case {
    std::size_t devices;
    std::map<std::size_t, double> again;  // by device: the second value as a share of the first
    const char* verdicts;
    const char* says;
  };
  const Case cases[] = {{6, {{5, 1.25}}, "pppppp", "did not come back when measured again (4."},
                        {6, {{5, 1.01}, {2, 1.001}}, "pppppf", "measured again, 3."},
                        {6, {{5, 1.0}, {2, 0.8}}, "pppppp", "a peer measured with it deviated too"},
                        {2, {{0, 1.0}, {1, 1.25}}, "pp", "did not come back"},
                        {2, {{0, 1.0}, {1, 1.0}}, "ww", "measured again"}};
  for (const Case& one : cases) {
    RunResult run = healthy_fleet(one.devices, 1);
    scale_finding(run.devices.back(), read, 0.8);
    for (const auto& [device, share] : one.again) measure_again(run.devices[device], read, share);

    const FleetAnalysis analysis = analyze(run);

    EXPECT_EQ(maker::verdicts_of(analysis), one.verdicts) << one.says;
    EXPECT_THAT(analysis.charges.at(0).reason + analysis.charges.at(0).evidence,
                HasSubstr(one.says));
    EXPECT_TRUE(find_suspects(analysis, run).empty());
  }
}

TEST(SuspectsTest, the_milder_of_two_looks_counts) {
  const std::vector<Metric> registry = maker::registry_with(0.02, 0.1);
  RunResult run = healthy_fleet(8, 1);
  scale_finding(run.devices[5], read, 0.8);
  measure_again(run.devices[5], read, 0.96 / 0.8);

  EXPECT_EQ(reduce_fleet(run, options(registry)).verdicts[5].verdict, Verdict::warn);
}

TEST(SuspectsTest, a_second_try_without_an_answer_changes_nothing) {
  RunResult run = healthy_fleet(8, 1);
  scale_finding(run.devices[5], read, 0.8);
  run.devices[5].again = {maker::job("global.throughput", {no_answer(read, Status::failed, "x")})};

  const FleetAnalysis analysis = analyze(run);

  EXPECT_EQ(analysis.verdicts[5].verdict, Verdict::fail);
  EXPECT_THAT(analysis.charges[0].evidence, Not(HasSubstr("measured again")));
}

/// Latencies of 47 slices, one of them slow.
JobResult slices_with(std::size_t slow, double cycles_more) {
  std::vector<double> cycles;
  for (int slice = 0; slice < 47; ++slice) cycles.push_back(264 + slice % 3);
  cycles[slow] += cycles_more;
  return maker::job("slices", {found("cache.l2.slice_latency_cycles", cycles, 1, 64)});
}

/// Each run numbers slices anew.
TEST(SuspectsTest, a_slow_slice_comes_back_under_another_number) {
  RunResult run = healthy_fleet(3, 1);
  run.devices[1].jobs.push_back(slices_with(46, 25));
  run.devices[1].again = {slices_with(15, 20)};

  const FleetAnalysis analysis = reduce_fleet(run);

  ASSERT_EQ(analysis.verdicts[1].verdict, Verdict::fail) << analysis.verdicts[1].reason;
  EXPECT_EQ(analysis.charges[0].unit.numbers, std::vector<int>{46});
  EXPECT_THAT(analysis.charges[0].evidence, HasSubstr("measured again, 284"));

  run.devices[1].again = {slices_with(15, 4)};
  EXPECT_EQ(reduce_fleet(run).counts.passed, 3u);
}

/// Copies are compared with the link, which a second try does not measure.
TEST(SuspectsTest, slow_copies_come_back_and_narrow_links_are_no_matter_of_a_second_look) {
  RunResult run = healthy_fleet(1, 1);
  const std::vector<Finding> findings{
      found("host.to_device_bytes_per_s", 14e9, 1, 9), found("host.link_bytes_per_s", 63e9, 1, 1),
      found("host.link_width", 8.0, 1, 1), found("host.most_link_width", 16.0, 1, 1)};
  run.devices[0].jobs.push_back(maker::job("host", findings));
  run.devices[0].again = {run.devices[0].jobs.back()};

  const FleetAnalysis analysis = reduce_fleet(run, options(all_metrics()));

  for (const char* metric : {"host.to_device_bytes_per_s", "host.link_width"}) {
    EXPECT_TRUE(std::ranges::any_of(analysis.charges, [&](const Charge& charge) {
      return charge.metric == metric && charge.severity == Severity::fail;
    })) << metric;
  }
}

}  // namespace
}  // namespace sonde
