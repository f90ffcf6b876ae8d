#include "analysis/report/drawing/drawing.hpp"

#include "analysis/report/page/sections.hpp"

#include "unit/analysis/fleet/fleet_maker.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace sonde {
namespace {

using ::testing::HasSubstr;

DeviceResult device_with(std::vector<Finding> findings) {
  DeviceResult device;
  device.info.name = "NVIDIA H200";
  device.jobs.push_back(maker::job("cache.l1", std::move(findings)));
  return device;
}

using Frames = std::vector<DrawnFrame>;

const DrawnUnit* unit_of(const Frames& drawing, std::string_view frame, std::string_view name) {
  for (const DrawnFrame& one : drawing) {
    if (!one.name.starts_with(frame)) continue;
    const auto at = std::ranges::find(one.units, name, &DrawnUnit::name);
    if (at != one.units.end()) return &*at;
  }
  return nullptr;
}

const DrawnFact* fact_of(const DrawnUnit& unit, std::string_view label) {
  const auto at = std::ranges::find(unit.facts, label, &DrawnFact::label);
  return at == unit.facts.end() ? nullptr : &*at;
}

TEST(DrawingTest, a_cache_has_size_line_ways_policy_and_its_lowest_confidence) {
  const Frames drawing = draw_device(device_with(
      {found("cache.l1.size_bytes", 253952.0, 1, 1), found("cache.l1.line_bytes", 128.0, 0.52, 1),
       found("cache.l1.sector_bytes", 32.0, 1, 1), found("cache.l1.sets", 512.0, 1, 1),
       found("cache.l1.ways", 4.0, 0.9, 1),
       found("cache.l1.replacement", std::string("LRU"), 0.99, 1),
       found("sharing.l1.scope", std::string("sm"), 1, 1)}));

  const DrawnUnit* l1 = unit_of(drawing, "SM", "L1");
  ASSERT_NE(l1, nullptr);
  EXPECT_TRUE(l1->placed);
  EXPECT_EQ(l1->size, "248 KiB");
  EXPECT_EQ(fact_of(*l1, "line/sector")->text, "128 B / 32 B");
  EXPECT_EQ(fact_of(*l1, "line/sector")->confidence, 0.52);
  EXPECT_EQ(fact_of(*l1, "sets x ways")->text, "512 x 4");
  EXPECT_EQ(fact_of(*l1, "policy")->text, "LRU");
}

TEST(DrawingTest, what_was_not_resolvable_is_left_out) {
  const Frames drawing = draw_device(
      device_with({not_resolvable("cache.constant_l2.size_bytes", "holds the whole bank"),
                   not_resolvable("cache.constant_l2.sets", "holds the whole bank"),
                   found("cache.constant_l2.hit_latency_cycles", 104.0, 1, 1)}));

  const DrawnUnit* l2 = unit_of(drawing, "NVIDIA H200", "Constant L2");
  ASSERT_NE(l2, nullptr);
  EXPECT_FALSE(l2->placed) << "nobody knows who shares it";
  ASSERT_EQ(l2->facts.size(), 1u);
  EXPECT_EQ(l2->facts[0].text, "104 cycles");
}

TEST(DrawingTest, an_l2_that_footprints_do_not_end_is_as_large_as_all_of_its_slices) {
  const Frames drawing = draw_device(
      device_with({not_resolvable("cache.l2.size_bytes", "lines are lost little by little"),
                   found("cache.l2.slice_total_bytes", 61603840.0, 1, 1),
                   found("device.reported_l2_bytes", 62914560.0, 1, 1)}));

  const DrawnUnit* l2 = unit_of(drawing, "NVIDIA H200", "L2");
  ASSERT_NE(l2, nullptr);
  EXPECT_EQ(l2->size, "58.8 MiB");
  EXPECT_EQ(fact_of(*l2, "driver says")->text, "60 MiB");
}

TEST(DrawingTest, absent_skipped_and_unknown_units_are_not_drawn) {
  Finding skipped = no_answer("cache.l2.size_bytes", Status::skipped, "not in this suite");
  const Frames drawing = draw_device(
      device_with({not_present("tlb.l3.reach_bytes", "no further rise"), skipped,
                   not_resolvable("cache.constant_l3.size_bytes", "behind one that holds all"),
                   found("shared.latency_cycles", 23.0, 1, 1)}));

  EXPECT_EQ(unit_of(drawing, "NVIDIA H200", "TLB L3"), nullptr);
  EXPECT_EQ(unit_of(drawing, "NVIDIA H200", "L2"), nullptr);
  EXPECT_EQ(unit_of(drawing, "NVIDIA H200", "Constant L3"), nullptr);
  EXPECT_NE(unit_of(drawing, "SM", "Shared memory"), nullptr);
}

TEST(DrawingTest, units_lie_in_the_frame_of_those_who_share_them) {
  const Frames drawing = draw_device(device_with(
      {found("tlb.l2.reach_bytes", 67108864.0, 1, 1),
       found("tlb.l2.scope", std::string("gpc"), 1, 1), found("topology.gpc_count", 8.0, 1, 1),
       found("cache.instruction_l1.size_bytes", 131072.0, 1, 1),
       found("sharing.instruction_l1.scope", std::string("tpc"), 1, 1)}));

  ASSERT_EQ(drawing.size(), 3u);
  EXPECT_NE(unit_of(drawing, "8 GPCs", "TLB L2"), nullptr);
  EXPECT_NE(unit_of(drawing, "TPC", "Code L1"), nullptr);
}

TEST(DrawingTest, one_array_for_several_paths_is_one_box) {
  const std::vector<Finding> apart{found("cache.l1.size_bytes", 24576.0, 1, 1),
                                   found("cache.readonly.size_bytes", 24576.0, 1, 1)};
  std::vector<Finding> shared = apart;
  shared.push_back(found("sharing.l1_readonly", std::string("yes"), 0.97, 1));

  EXPECT_NE(unit_of(draw_device(device_with(apart)), "SM", "Read-only cache"), nullptr);
  const Frames drawing = draw_device(device_with(shared));
  EXPECT_EQ(unit_of(drawing, "SM", "Read-only cache"), nullptr);
  EXPECT_EQ(fact_of(*unit_of(drawing, "SM", "L1"), "serves")->text, "plain loads, read-only");
  EXPECT_EQ(fact_of(*unit_of(drawing, "SM", "L1"), "serves")->confidence, 0.97);
}

TEST(DrawingTest, a_device_without_findings_has_no_drawing) {
  EXPECT_TRUE(draw_device(device_with({})).empty());
  EXPECT_EQ(drawing_html(draw_device(device_with({}))), "");
}

TEST(ConsensusTest, most_devices_speak_and_numbers_give_the_median) {
  RunResult run;
  for (const double latency : {30.0, 90.0, 31.0}) {
    run.devices.push_back(device_with(
        {found("cache.l1.hit_latency_cycles", latency, 1, 1),
         found("cache.l1.replacement", std::string(latency > 50 ? "random" : "LRU"), 1, 1)}));
  }
  run.devices[0].jobs[0].findings.push_back(found("cache.l1.sets", 4.0, 1, 1));
  run.devices[1].jobs[0].findings.push_back(not_resolvable("cache.l1.sets", "noise"));
  run.devices[2].jobs[0].findings.push_back(not_resolvable("cache.l1.sets", "noise"));

  const DeviceResult most = consensus_of(run, std::vector<std::size_t>{0, 1, 2});

  EXPECT_EQ(std::get<double>(find_finding(most, "cache.l1.hit_latency_cycles")->value), 31.0);
  EXPECT_EQ(std::get<std::string>(find_finding(most, "cache.l1.replacement")->value), "LRU");
  EXPECT_EQ(find_finding(most, "cache.l1.sets")->status, Status::not_resolvable);
}

TEST(DrawingHtmlTest, only_low_confidence_is_told) {
  const std::string html = drawing_html(draw_device(device_with(
      {found("cache.l1.size_bytes", 253952.0, 1, 1), found("cache.l1.line_bytes", 128.0, 0.52, 1),
       found("cache.l2.size_bytes", 62914560.0, 1, 1),
       found("cache.l2.side_slices", std::vector<double>{23, 24}, 1, 1)})));
  EXPECT_THAT(html, HasSubstr("<dt>each side</dt><dd>23 to 24 slices</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>line/sector</dt><dd>128 B <small>0.52</small></dd>"));
  EXPECT_LT(html.find("<b>L2</b>"), html.find("<b>L1</b>")) << "from the outside in";
}

}  // namespace
}  // namespace sonde
