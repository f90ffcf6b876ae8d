#include "analysis/fleet/verdict/reduce.hpp"

#include "analysis/fleet/grounds/grounds.hpp"

#include "base/failure_marks.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <map>

namespace sonde {
namespace {

using maker::dram;
using maker::healthy_fleet;
using maker::options;
using maker::read;
using maker::scale_finding;
using ::testing::HasSubstr;

void fail_job(DeviceResult& device, std::string reason) {
  device.status = DeviceOutcome::incomplete;
  device.jobs.back().status = Status::failed;
  device.jobs.back().reason = std::move(reason);
  device.jobs.back().findings.clear();
}

TEST(ReduceTest, failures_of_the_gpu_fail_it_and_others_are_gaps) {
  struct Case {
    std::string reason;
    Verdict verdict;
    Trouble trouble;
    ExitStatus exit;
  };
  const Case cases[] = {
      {fmt::format("{} lane 3", wrong_data_mark), Verdict::fail, Trouble::wrong_data,
       ExitStatus::verdict},
      {fmt::format("late ({})", hang_mark), Verdict::fail, Trouble::hang, ExitStatus::verdict},
      {fmt::format("716 ({})", sticky_error_mark), Verdict::fail, Trouble::sticky_error,
       ExitStatus::verdict},
      {fmt::format("{} (no answer)", gone_mark), Verdict::lost, Trouble::lost,
       ExitStatus::incomplete},
      {"out of memory", Verdict::incomplete, Trouble::unknown, ExitStatus::incomplete}};
  for (const Case& one : cases) {
    RunResult run = healthy_fleet(4, 1);
    fail_job(run.devices[1], one.reason);

    const FleetAnalysis analysis = reduce_fleet(run, options());

    EXPECT_EQ(analysis.verdicts[1].verdict, one.verdict) << one.reason;
    EXPECT_EQ(analysis.verdicts[1].likely, one.trouble) << one.reason;
    EXPECT_THAT(analysis.verdicts[1].reason, HasSubstr(one.reason));
    EXPECT_EQ(analysis.counts.passed, 3u);
    EXPECT_EQ(exit_status(analysis), one.exit);

    if (one.verdict != Verdict::fail) continue;
    RunResult second_try = healthy_fleet(4, 1);  // which counts as the first
    second_try.devices[1].again = {run.devices[1].jobs.back()};
    EXPECT_EQ(reduce_fleet(second_try, options()).verdicts[1].likely, one.trouble);
  }
}

TEST(ReduceTest, a_failure_that_most_gpus_share_is_charged_to_each_and_remarked_once) {
  RunResult run = healthy_fleet(4, 1);
  for (std::size_t i = 0; i < 3; ++i) fail_job(run.devices[i], std::string(sticky_error_mark));

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.counts.failed, 3u);
  EXPECT_THAT(analysis.charges.back().reason, HasSubstr("3 of 4 GPUs show it"));
  EXPECT_EQ(exit_status(analysis), ExitStatus::verdict);
}

TEST(ReduceTest, outlier_among_many_is_judged_by_its_score) {
  RunResult run = healthy_fleet(64, 1);
  scale_finding(run.devices[40], dram, 1.08);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.verdicts[40].verdict, Verdict::fail);
  EXPECT_THAT(analysis.charges[0].evidence, HasSubstr("healthy groups of 63 stay below 5.3"));
  EXPECT_EQ(analysis.counts.passed, 63u);
}

TEST(ReduceTest, one_that_is_clearly_better_may_be_the_only_healthy_one) {
  RunResult run = healthy_fleet(4, 1);
  scale_finding(run.devices[2], read, 1.2);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.counts.warned, 4u);
  EXPECT_THAT(analysis.verdicts[0].reason, HasSubstr("the group falls into parts, n=4: 1 has 5.4"));

  run = healthy_fleet(4, 1);
  scale_finding(run.devices[2], read, 1.045);
  const FleetAnalysis of_a_little_better = reduce_fleet(run, options());
  EXPECT_EQ(of_a_little_better.counts.passed, 4u);
  EXPECT_EQ(of_a_little_better.charges.at(0).severity, Severity::info);
}

/// Values of replicates scatter by this share of the value.
void set_replicates(DeviceResult& device, double scatter, std::uint64_t count = 4) {
  Finding& finding = maker::finding_of(device, read);
  finding.reproducibility = scatter * std::get<double>(finding.value);
  finding.replicates = count;
}

TEST(ReduceTest, scatter_between_replicates_excuses_a_deviation_else_that_of_samples) {
  RunResult run = healthy_fleet(8, 1);
  scale_finding(run.devices[2], read, 0.9);
  maker::finding_of(run.devices[2], read).repeatability = 0.2 * 4.52e12;
  EXPECT_EQ(reduce_fleet(run, options()).counts.passed, 8u);

  run = healthy_fleet(8, 1);
  for (DeviceResult& device : run.devices) set_replicates(device, 0.001);
  scale_finding(run.devices[2], read, 0.9);
  EXPECT_EQ(reduce_fleet(run, options()).counts.failed, 1u);

  // 10 % away; 0.06 x 1.2533 / sqrt(4) = 3.8 %, of which 3.3 are needed.
  set_replicates(run.devices[2], 0.06);
  EXPECT_EQ(reduce_fleet(run, options()).counts.passed, 8u);
}

TEST(ReduceTest, a_metric_that_scatters_as_much_as_its_tolerance_is_not_judged) {
  // 0.02 x 1.2533 / sqrt(4) = 1.25 %: three of them are more than the tolerance of 3 %.
  RunResult run = healthy_fleet(8, 1);
  for (DeviceResult& device : run.devices) set_replicates(device, 0.02);
  scale_finding(run.devices[2], read, 0.8);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.counts.passed, 8u);
  ASSERT_EQ(analysis.charges.size(), 1u);
  EXPECT_EQ(analysis.charges[0].metric, read);
  EXPECT_EQ(analysis.charges[0].device, Charge::no_device);
  EXPECT_EQ(analysis.charges[0].severity, Severity::info);
  EXPECT_THAT(analysis.charges[0].reason,
              HasSubstr("not judged: its tolerance of 3 % is less than 3 times the 1.3 %"));

  // More replicates make the same scatter good enough.
  for (DeviceResult& device : run.devices) set_replicates(device, 0.02, 9);
  EXPECT_EQ(reduce_fleet(run, options()).counts.failed, 1u);
}

TEST(ReduceTest, one_device_that_scatters_does_not_take_a_metric_from_its_peers) {
  RunResult run = healthy_fleet(8, 1);
  for (DeviceResult& device : run.devices) set_replicates(device, 0.002);
  set_replicates(run.devices[5], 0.5);
  scale_finding(run.devices[2], read, 0.8);

  EXPECT_EQ(reduce_fleet(run, options()).verdicts[2].verdict, Verdict::fail);
}

TEST(ReduceTest, a_pair_differs_by_three_errors_of_both_together) {
  RunResult run = healthy_fleet(2, 1);
  maker::finding_of(run.devices[0], read).value = 4.5e12;
  maker::finding_of(run.devices[1], read).value = 4.5e12 * 0.965;
  // Each 0.8 %: 3.33 of one are less than 3.6 % of the middle, 3 of both together are 3.4 %.
  for (DeviceResult& device : run.devices) set_replicates(device, 2 * 0.008 / 1.2533);
  const FleetAnalysis analysis = reduce_fleet(run, options());
  EXPECT_EQ(analysis.counts.warned, 2u);
  EXPECT_THAT(analysis.verdicts[0].reason, HasSubstr("n=2: cannot tell which is wrong"));
  EXPECT_EQ(exit_status(analysis), ExitStatus::ok);

  for (DeviceResult& device : run.devices) set_replicates(device, 2 * 0.009 / 1.2533);
  EXPECT_EQ(reduce_fleet(run, options()).counts.passed, 2u);
}

TEST(ReduceTest, between_the_tolerances_of_the_metric_it_warns) {
  RunResult run = healthy_fleet(8, 2);
  scale_finding(run.devices[2], dram, 1.08);
  const auto verdict_with = [&](double warn, double fail) {
    const std::vector<Metric> registry = maker::registry_with(warn, fail);
    return reduce_fleet(run, options(registry)).verdicts[2].verdict;
  };
  EXPECT_EQ(verdict_with(0.03, 0.05), Verdict::fail);
  EXPECT_EQ(verdict_with(0.03, 0.2), Verdict::warn);
  EXPECT_EQ(verdict_with(0.15, 0.3), Verdict::pass);
}

TEST(ReduceTest, a_metric_that_left_the_comparison_gives_no_finding) {
  for (const char* metric : {read, "cache.l1.replacement"}) {
    const std::vector<Metric> registry = maker::registry_without(metric);
    RunResult run = healthy_fleet(8, 1);
    Value& value = maker::finding_of(run.devices[2], metric).value;
    value = metric == read ? Value(1e12) : Value("fifo");

    const FleetAnalysis analysis = reduce_fleet(run, options(registry));

    EXPECT_EQ(analysis.counts.passed, 8u);
    EXPECT_TRUE(analysis.charges.empty());
    EXPECT_EQ(std::ranges::count(analysis.statistics, metric, &MetricStatistics::metric), 1);
  }
}

TEST(ReduceTest, unlike_devices_are_not_compared) {
  RunResult run = healthy_fleet(4, 1);
  run.devices[3].info.name = "NVIDIA H100 PCIe";
  scale_finding(run.devices[3], read, 0.45);
  run.devices[2].info.ecc = false;
  scale_finding(run.devices[2], read, 1.1);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  ASSERT_EQ(analysis.groups.size(), 3u);
  EXPECT_EQ(analysis.groups[0].label, "NVIDIA H200, 140 GiB, ECC on, driver 550");
  EXPECT_EQ(analysis.counts.passed, 4u);
  EXPECT_EQ(exit_status(analysis), ExitStatus::ok);
}

TEST(ReduceTest, lost_and_incomplete_devices_say_why) {
  RunResult run = healthy_fleet(4, 1);
  run.devices[1].status = DeviceOutcome::lost;
  run.devices[1].reason = "no sign of life for 120 s in job latency";
  run.devices[1].jobs.resize(1);
  run.devices[2].status = DeviceOutcome::incomplete;
  run.devices[2].jobs[4].status = Status::failed;
  run.devices[2].jobs[4].reason = "out of memory";

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::lost);
  EXPECT_THAT(analysis.verdicts[1].reason, HasSubstr("no sign of life"));
  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::incomplete);
  EXPECT_THAT(analysis.verdicts[2].reason, HasSubstr("global.throughput failed (out of memory)"));
  EXPECT_EQ(analysis.counts.missing, 1u);
  EXPECT_EQ(analysis.counts.audited, 3u);
  EXPECT_EQ(exit_status(analysis), ExitStatus::incomplete);
}

TEST(ReduceTest, slow_clock_explains_a_throughput_but_not_cycles) {
  RunResult run = healthy_fleet(4, 1);
  run.devices[2].after.sm_clock_hz = 1.29e9;
  run.devices[2].after.throttle_reasons = 0x40;
  scale_finding(run.devices[2], read, 0.7);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.verdicts[2].likely, Trouble::thermal);
  EXPECT_THAT(analysis.verdicts[2].reason,
              testing::StartsWith("SM clock 35 % below its peers' at 58 C, throttled: thermal; "
                                  "global.read_bytes_per_s: "));
  EXPECT_THAT(analysis.charges[0].evidence, HasSubstr("SM clock 1.29 GHz (35 % below peers)"));
  EXPECT_THAT(analysis.charges[0].evidence, HasSubstr("throttled: thermal"));
}

TEST(ReduceTest, of_two_gpus_the_one_that_is_not_throttled_passes) {
  RunResult run = healthy_fleet(2, 1);
  run.devices[1].after.sm_clock_hz = 1.584e9;
  run.devices[1].after.throttle_reasons = 0x40;
  scale_finding(run.devices[1], read, 0.8);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::pass) << analysis.verdicts[0].reason;
  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::warn);
  EXPECT_EQ(analysis.verdicts[1].likely, Trouble::thermal);
  EXPECT_THAT(analysis.verdicts[1].reason, testing::StartsWith("SM clock 20 % below its peers'"));
}

/// The best of a divided group is cleared only if each of the others has a fault that explains it.
TEST(ReduceTest, a_slow_sm_explains_slow_memory_of_its_own_gpu_alone) {
  for (const bool other_is_slow : {false, true}) {
    RunResult run = healthy_fleet(other_is_slow ? 3 : 2, 1);
    const std::size_t best = run.devices.size() - 1;
    maker::slow_sm(run.devices[0], "placement.l1_latency_cycles", 43, 60);
    scale_finding(run.devices[0], read, 0.8);
    if (other_is_slow) scale_finding(run.devices[1], read, 0.9);

    const FleetAnalysis analysis = reduce_fleet(run, options());

    for (std::size_t i = 0; i < best; ++i) EXPECT_NE(analysis.verdicts[i].verdict, Verdict::pass);
    EXPECT_EQ(analysis.verdicts[best].verdict == Verdict::pass, !other_is_slow)
        << analysis.verdicts[best].reason;
  }
}

TEST(ReduceTest, an_outlier_is_found_behind_a_metric_that_splits_the_group) {
  RunResult run = healthy_fleet(24, 1);
  for (std::size_t device = 0; device < 12; ++device) {
    scale_finding(run.devices[device], "latency.dram_cycles", 1.5);
  }
  scale_finding(run.devices[17], read, 0.8);

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.counts.failed, 1u);
  EXPECT_EQ(analysis.verdicts[17].verdict, Verdict::fail);
  EXPECT_THAT(analysis.verdicts[0].reason, HasSubstr("falls into parts"));
}

TEST(ReduceTest, links_are_judged_by_what_they_cost) {
  struct Case {
    const char* metric;
    Value value;
    Verdict verdict;
    const char* says;
  };
  const std::vector<double> one_down{1, 1, 0, 1};
  const Case cases[] = {
      {"host.nvlink_active", one_down, Verdict::fail, "NVLink 2 is down"},
      {"host.nvlink_active", std::vector<double>{0, 0}, Verdict::pass, ""},
      {"host.new_nvlink_errors", 3.0, Verdict::warn, "3 errors on NVLinks"},
      {"host.new_pcie_replays", 3.0, Verdict::pass, ""},
      {"host.new_pcie_replays", 200.0, Verdict::warn, "200 PCIe packets"},
      {"host.to_device_bytes_per_s", 54e9, Verdict::pass, ""},
      {"host.to_device_bytes_per_s", 14e9, Verdict::fail, "copies from the host reach 22 %"},
      {"host.link_width", 8.0, Verdict::fail, "8 lanes where slot and GPU can have 16"},
      {"host.link_width", 16.0, Verdict::pass, ""},
      {"host.xids", std::vector<double>{79, 79}, Verdict::fail, "logged Xid 79 2 times before"},
      {"host.new_xids", std::vector<double>{13}, Verdict::pass, ""}};
  for (const Case& one : cases) {
    RunResult run = healthy_fleet(1, 1);
    run.devices[0].jobs.push_back(maker::job(
        "host", {found(one.metric, one.value, 1, 1), found("host.most_link_width", 16.0, 1, 1),
                 found("host.link_bytes_per_s", 63e9, 1, 1)}));

    const DeviceVerdict verdict = reduce_fleet(run, options()).verdicts[0];

    EXPECT_EQ(verdict.verdict, one.verdict) << one.metric << " " << verdict.reason;
    EXPECT_THAT(verdict.reason, HasSubstr(one.says));
  }
}

TEST(ReduceTest, beside_another_process_nothing_is_judged_and_nobody_else_blamed) {
  RunResult run = healthy_fleet(3, 1);
  run.devices[1].after.foreign_processes = 1;
  scale_finding(run.devices[1], read, 0.5);
  maker::slow_sm(run.devices[1], "placement.l1_latency_cycles", 43, 60);
  maker::finding_of(run.devices[1], "cache.l2.size_bytes").value = 58720256.0;

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::incomplete);
  EXPECT_EQ(analysis.verdicts[1].likely, Trouble::contention);
  EXPECT_THAT(analysis.verdicts[1].reason, testing::StartsWith("another process was on this GPU"));
  EXPECT_EQ(analysis.counts.passed, 2u);
  EXPECT_EQ(analysis.counts.audited, 2u);
  ASSERT_EQ(analysis.groups.size(), 1u);
  EXPECT_EQ(analysis.groups[0].devices, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(exit_status(analysis), ExitStatus::incomplete);
}

TEST(ReduceTest, the_past_tells_which_part_of_a_group_is_wrong) {
  RunResult before = healthy_fleet(2, 1);
  RunResult run = before;
  scale_finding(run.devices[1], read, 0.8);
  FleetAnalysis analysis = reduce_fleet(run, options());
  ASSERT_EQ(analysis.counts.warned, 2u);

  judge_by_baseline(run, compare_runs(before, run, maker::registry), analysis);

  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::pass);
  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::fail);
}

/// @param down how many of the links are down
void add_nvlinks(DeviceResult& device, std::size_t links, std::size_t down) {
  std::vector<double> active(links, 1);
  std::fill_n(active.begin(), down, 0);
  device.jobs.push_back(
      maker::job("host", {found("host.nvlinks", static_cast<double>(links - down), 1, 1),
                          found("host.nvlink_active", std::move(active), 1, links)}));
}

/// Links that are down tell by themselves who is wrong, however many GPUs have them.
TEST(ReduceTest, what_a_gpu_shows_by_itself_tells_which_part_of_a_group_is_wrong) {
  RunResult run = healthy_fleet(4, 1);
  for (std::size_t i = 0; i < 4; ++i) add_nvlinks(run.devices[i], 18, i == 2 ? 0 : 1);

  const FleetAnalysis analysis = reduce_fleet(run);

  EXPECT_EQ(analysis.counts.failed, 3u);
  EXPECT_EQ(analysis.verdicts[2].verdict, Verdict::pass) << analysis.verdicts[2].reason;
}

/// One with fewer links still, none of which is down, is not acquitted by its peer's fault.
TEST(ReduceTest, what_another_gpu_shows_by_itself_clears_none_that_is_worse) {
  RunResult run = healthy_fleet(2, 1);
  add_nvlinks(run.devices[0], 18, 1);
  add_nvlinks(run.devices[1], 12, 0);

  const FleetAnalysis analysis = reduce_fleet(run);

  EXPECT_EQ(analysis.verdicts[0].verdict, Verdict::fail);
  EXPECT_EQ(analysis.verdicts[1].verdict, Verdict::warn) << analysis.verdicts[1].reason;
}

/// Law 5. The rule of a counter is a charge that names the metric beside it.
TEST(ReduceTest, each_counter_of_errors_has_a_rule) {
  const std::map<std::string_view, std::string_view> rules{
      {"device.throttle_reasons", "health.throttle_reasons"},
      {"device.ecc_corrected", "health.ecc_corrected"},
      {"device.ecc_uncorrected", "health.ecc_uncorrected"},
      {"device.remapped_rows", "health.remapped_rows"},
      {"device.remap_pending", "health.remap_pending"},
      {"device.remap_failure", "health.remap_failure"},
      {"device.pcie_replays", "host.new_pcie_replays"},
      {"device.nvlink_errors", "host.new_nvlink_errors"},
      {"device.xids", "host.xids"},
      {"host.pcie_replays", "host.new_pcie_replays"},
      {"host.new_pcie_replays", "host.new_pcie_replays"},
      {"host.nvlink_crc_errors", "host.new_nvlink_errors"},
      {"host.nvlink_replays", "host.new_nvlink_errors"},
      {"host.nvlink_recoveries", "host.new_nvlink_errors"},
      {"host.new_nvlink_errors", "host.new_nvlink_errors"},
      {"host.new_nvlink_errors_by_link", "host.new_nvlink_errors"},
      {"host.xids", "host.xids"},
      {"host.new_xids", "host.new_xids"},
      {"soak.throttle_reasons", "health.throttle_reasons"}};
  for (const Metric& metric : all_metrics()) {
    const bool is_alarm = metric.kind == MetricKind::inventory && metric.better == Better::lower &&
                          metric.unit == "1" && !metric.name.ends_with("_fraction");
    const auto counts = [&](const char* what) {
      return metric.name.find(what) != std::string::npos;
    };
    if (is_alarm || counts("errors") || counts("xids") || counts("replays") ||
        counts("recoveries")) {
      EXPECT_TRUE(rules.contains(metric.name)) << metric.name;
    }
  }
  RunResult run = healthy_fleet(4, 1);
  DeviceResult& device = run.devices[1];
  device.before.throttle_reasons = 0x40;
  device.before.remap_failure = device.before.remap_pending = true;
  device.after.ecc_corrected = device.after.ecc_uncorrected = device.after.remapped_rows = 100;
  device.jobs.push_back(maker::job(
      "host",
      {found("host.new_pcie_replays", 3.0, 1, 1), found("host.new_nvlink_errors", 3.0, 1, 1),
       found("host.xids", std::vector<double>{79}, 1, 1),
       found("host.new_xids", std::vector<double>{13}, 1, 1)}));
  const FleetAnalysis analysis = reduce_fleet(run, options());
  for (const auto& [counter, judged_by] : rules) {
    EXPECT_NE(std::ranges::find(analysis.charges, judged_by, &Charge::metric),
              analysis.charges.end())
        << counter;
  }
}

TEST(ReduceTest, node_with_a_gpu_missing_is_found) {
  RunResult run = healthy_fleet(12, 1);
  run.devices.pop_back();

  const FleetAnalysis analysis = reduce_fleet(run, options());

  EXPECT_EQ(analysis.counts.expected, 12u);
  EXPECT_EQ(analysis.counts.seen, 11u);
  ASSERT_FALSE(analysis.charges.empty());
  EXPECT_EQ(analysis.charges[0].metric, "health.gpus_on_node");
  EXPECT_EQ(analysis.charges[0].node, "node03");
  EXPECT_EQ(exit_status(analysis), ExitStatus::verdict);
}

}  // namespace
}  // namespace sonde
