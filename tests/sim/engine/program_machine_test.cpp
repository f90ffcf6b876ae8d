// Programs on a simulated Fermi: what the schedulers, the load-store unit and the L1 make of them,
// seen from the counts and times that a device gives.
#include "engine_support.hpp"

#include "device/device_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace sonde::sim {
namespace {

/// A block for each SM, whose threads read a row of 1024 elements each: 32 lines a load.
ProgramProbe rows(std::uint32_t block_warps, std::uint64_t passes = 256) {
  ProgramKernel kernel{.grid_x = 15, .block_x = 32 * block_warps, .inner = {.first = 1024}};
  kernel.body = {
      {.array = 0, .per_block_x = 32 * block_warps * 1024, .per_thread_x = 1024, .per_inner = 1}};
  ProgramProbe probe;
  probe.program = {.name = "rows",
                   .array_elements = {std::uint64_t{15} * 32 * block_warps * 1024},
                   .kernels = {kernel}};
  probe.cached = static_cast<int>(block_warps);
  probe.sm_accesses = passes * block_warps;
  return probe;
}

/// On SM 0 alone, which then makes exactly the accesses asked for.
ProgramProbe alone(ProgramProbe probe) {
  probe.sms = {0};
  return probe;
}

nlohmann::json fermi() { return quiet_json("fermi_dac16"); }

Trace play(const nlohmann::json& model, const ProgramProbe& probe) {
  return open_sim(model)->run(probe);
}

/// Of SM 0.
std::uint64_t count(const Trace& trace, ProgramCount what) {
  return trace.lanes.at(0).counts.at(static_cast<std::size_t>(what));
}

/// Of one SM, or of all.
std::uint64_t accesses(const Trace& trace, std::optional<int> sm = {}) {
  return std::accumulate(trace.lanes.begin(), trace.lanes.end(), std::uint64_t{0},
                         [sm](std::uint64_t sum, const LaneTrace& lane) {
                           return sum + (lane.sm == sm.value_or(lane.sm) ? lane.accesses : 0);
                         });
}

std::uint64_t cycles(const Trace& trace) { return trace.lanes.at(0).elapsed_cycles; }

TEST(ProgramMachineTest, every_line_of_a_load_hits_or_misses) {
  const Trace trace = play(fermi(), rows(8));
  EXPECT_EQ(trace.lanes.size(), 15u * 8);
  EXPECT_EQ(accesses(trace), 15u * 8 * 256);
  EXPECT_EQ(count(trace, ProgramCount::l1_hits) + count(trace, ProgramCount::l1_misses),
            accesses(trace, 0) * 32);
  EXPECT_EQ(count(trace, ProgramCount::instructions), accesses(trace, 0));
  EXPECT_LE(count(trace, ProgramCount::l2_requests), count(trace, ProgramCount::l1_misses));
}

/// Two SMs and two blocks: one reads 1024 elements of its rows, the other one.
ProgramProbe uneven_blocks(std::uint64_t sm_accesses) {
  ProgramProbe probe = rows(1);
  probe.program.kernels[0].grid_x = 2;
  probe.program.kernels[0].inner = {.first = 1024, .per_block = -1023};
  probe.sm_accesses = sm_accesses;
  probe.sms = {0, 1};
  return probe;
}

TEST(ProgramMachineTest, a_block_goes_to_the_sm_that_has_room) {
  const Trace trace = play(fermi(), uneven_blocks(8192));
  EXPECT_EQ(accesses(trace), 2u * 8192);
  // Block 0 first, then each SM takes both kinds by turns: neither is left with the misses.
  const auto longer =
      static_cast<double>(std::max(trace.lanes[0].elapsed_cycles, trace.lanes[1].elapsed_cycles));
  const auto shorter =
      static_cast<double>(std::min(trace.lanes[0].elapsed_cycles, trace.lanes[1].elapsed_cycles));
  EXPECT_GT(shorter, 0.99 * longer) << "all SMs work until all is made";
}

TEST(ProgramMachineTest, a_warp_alone_misses_each_line_once_and_never_fails) {
  ProgramProbe probe = rows(1);
  probe.sms = {0};
  const Trace trace = play(fermi(), probe);
  EXPECT_EQ(count(trace, ProgramCount::l1_misses), 256u / 32 * 32);
  EXPECT_EQ(count(trace, ProgramCount::dram_requests), 256u / 32 * 32);
  EXPECT_EQ(count(trace, ProgramCount::reservation_failures), 0u);
}

TEST(ProgramMachineTest, a_kernel_finds_the_l1_empty_and_what_lies_behind_it_not) {
  ProgramProbe probe = rows(1, 64);
  probe.sms = {0};
  probe.program.kernels.push_back(probe.program.kernels[0]);  // half of the accesses each
  const Trace trace = play(fermi(), probe);
  EXPECT_EQ(count(trace, ProgramCount::l1_misses), 2u * 32);
  EXPECT_EQ(count(trace, ProgramCount::dram_requests), 32u);
}

TEST(ProgramMachineTest, instructions_take_issue_slots) {
  ProgramProbe probe = alone(rows(1));
  const Trace without = play(fermi(), probe);
  probe.program.kernels[0].instructions = 100;
  const Trace with = play(fermi(), probe);
  EXPECT_EQ(count(with, ProgramCount::instructions), 256u * 101);
  EXPECT_NEAR(static_cast<double>(cycles(with) - cycles(without)), 256.0 * 100, 1500);
}

TEST(ProgramMachineTest, misses_fail_when_mshrs_run_out_and_loads_past_the_l1_do_not) {
  nlohmann::json scarce = fermi();
  scarce["lsu"]["mshrs"] = 4;
  const Trace stalled = play(scarce, alone(rows(1)));
  EXPECT_GT(count(stalled, ProgramCount::reservation_failures), 1000u);
  EXPECT_GT(cycles(stalled), 1.5 * static_cast<double>(cycles(play(fermi(), alone(rows(1))))));

  ProgramProbe past = alone(rows(1));
  past.cached = 0;
  const Trace bypassing = play(scarce, past);
  EXPECT_EQ(count(bypassing, ProgramCount::reservation_failures), 0u);
  EXPECT_EQ(count(bypassing, ProgramCount::l1_hits), 0u);
  EXPECT_EQ(count(bypassing, ProgramCount::l2_requests), 256u * 32);
  EXPECT_EQ(cycles(bypassing), cycles(play(fermi(), past))) << "MSHRs are none of their business";
}

TEST(ProgramMachineTest, misses_fail_when_the_miss_queue_is_full) {
  nlohmann::json slow = fermi();
  slow["lsu"]["request_cycles"] = 8;
  const std::uint64_t failures = count(play(slow, rows(1)), ProgramCount::reservation_failures);
  EXPECT_GT(failures, 0u);
  slow["lsu"]["miss_queue_entries"] = 32;
  EXPECT_EQ(count(play(slow, rows(1)), ProgramCount::reservation_failures), 0u);
}

/// All warps of the block load the same lines.
ProgramProbe shared_rows(std::uint32_t warps) {
  ProgramProbe probe = rows(1);
  ProgramKernel& kernel = probe.program.kernels[0];
  kernel.block_y = warps;
  probe.cached = static_cast<int>(warps);
  probe.sm_accesses = 256 * warps;
  return probe;
}

TEST(ProgramMachineTest, loads_of_a_line_on_its_way_merge) {
  const Trace one = play(fermi(), shared_rows(1));
  const Trace four = play(fermi(), shared_rows(4));
  EXPECT_EQ(count(four, ProgramCount::l2_requests), count(one, ProgramCount::l2_requests));
  EXPECT_GT(count(four, ProgramCount::l1_misses), count(one, ProgramCount::l1_misses));
  nlohmann::json single = fermi();
  single["lsu"]["mshr_merges"] = 1;
  EXPECT_GT(count(play(single, shared_rows(4)), ProgramCount::reservation_failures),
            count(four, ProgramCount::reservation_failures));
}

/// A warp loads and stores the same element of its rows.
ProgramProbe updates() {
  ProgramProbe probe = rows(1);
  auto& body = probe.program.kernels[0].body;
  body.push_back(body.front());
  body.back().store = true;
  return probe;
}

TEST(ProgramMachineTest, stores_go_to_the_l2_and_by_policy_leave_or_drop_the_line) {
  const Trace left = play(fermi(), alone(updates()));
  EXPECT_EQ(count(left, ProgramCount::l1_misses), 128u / 32 * 32);
  EXPECT_EQ(count(left, ProgramCount::l2_requests), (128 / 32 + 128) * 32u);
  nlohmann::json evicting = fermi();
  evicting["caches"][0]["write_policy"]["hit"] = "invalidate";
  EXPECT_EQ(count(play(evicting, alone(updates())), ProgramCount::l1_hits), 0u);
}

TEST(ProgramMachineTest, stores_take_entries_of_the_miss_queue_unless_their_warp_bypasses) {
  nlohmann::json slow = fermi();
  slow["lsu"]["request_cycles"] = 8;
  const auto failures = [&](ProgramProbe probe, int cached) {
    probe.cached = cached;
    return count(play(slow, alone(probe)), ProgramCount::reservation_failures);
  };
  EXPECT_GT(failures(updates(), 1), 10 * failures(rows(1, 128), 1)) << "as many loads";
  EXPECT_EQ(failures(updates(), 0), 0u);
}

TEST(ProgramMachineTest, few_active_warps_keep_their_lines) {
  ProgramProbe probe = rows(8);
  const Trace all = play(fermi(), probe);
  probe.active_warps = 2;
  const Trace few = play(fermi(), probe);
  EXPECT_EQ(few.lanes.size(), 15u * 2);
  EXPECT_EQ(accesses(few), 15u * 8 * 256);
  EXPECT_GE(count(few, ProgramCount::l1_hits), accesses(few, 0) * 30);
  EXPECT_LT(count(all, ProgramCount::l1_hits), count(few, ProgramCount::l1_hits));
}

TEST(ProgramMachineTest, xor_spreads_a_power_of_two_and_modulo_does_not) {
  ProgramProbe probe = rows(1, 64);
  ProgramKernel& kernel = probe.program.kernels[0];
  kernel.grid_x = 1;
  kernel.body = {{.array = 0, .per_thread_x = 1 << 10, .per_inner = 1}};
  probe.program.array_elements = {std::uint64_t{1} << 16};
  probe.sms = {0};
  kernel.inner = {.first = 64};
  probe.machine.l1_index = L1Index::modulo;
  EXPECT_EQ(count(play(fermi(), probe), ProgramCount::l1_hits), 0u);
  probe.machine.l1_index = L1Index::xor_bits;
  EXPECT_EQ(count(play(fermi(), probe), ProgramCount::l1_hits), 64u * 31);
}

TEST(ProgramMachineTest, rows_of_16_kib_spread_over_all_sets) {
  ProgramProbe probe = alone(rows(2, 64));  // 64 rows, two lines of each
  probe.program.kernels[0].grid_x = 1;
  probe.program.kernels[0].body[0].per_thread_x = 1 << 12;
  probe.program.array_elements = {std::uint64_t{1} << 20};
  EXPECT_GT(count(play(fermi(), probe), ProgramCount::l1_hits), 64u * 2 * 30);
}

TEST(ProgramMachineTest, the_l1_can_be_left_out_or_made_large) {
  ProgramProbe probe = rows(8);
  probe.machine.l1_bytes = 0;
  const Trace none = play(fermi(), probe);
  EXPECT_EQ(count(none, ProgramCount::l1_hits) + count(none, ProgramCount::l1_misses), 0u);
  EXPECT_EQ(count(none, ProgramCount::reservation_failures), 0u);
  probe.machine.l1_bytes = 8 << 20;
  const Trace large = play(fermi(), probe);
  EXPECT_NEAR(static_cast<double>(count(large, ProgramCount::l2_requests)), 8 * 256, 256)
      << "each line once; some warps are ahead of others";
  EXPECT_LT(cycles(large), cycles(play(fermi(), rows(8))));
}

TEST(ProgramMachineTest, the_dynamic_bypass_finds_how_many_warps_fit) {
  ProgramProbe probe = alone(rows(8, 1024));
  const Trace all = play(fermi(), probe);
  for (bool one_for_all : {false, true}) {
    probe.machine.dynamic = DynamicBypass{.one_for_all = one_for_all};
    const Trace chosen = play(fermi(), probe);
    const double periods = static_cast<double>(count(chosen, ProgramCount::periods));
    EXPECT_EQ(periods, std::floor(8 * 1024 * 32 / 1000));
    const double mean = static_cast<double>(count(chosen, ProgramCount::cached_in_periods));
    EXPECT_GT(mean / periods, 2);
    EXPECT_LT(mean / periods, 6) << "four warps of 32 lines fill 16 KiB";
    EXPECT_GT(count(chosen, ProgramCount::l1_hits), count(all, ProgramCount::l1_hits));
    EXPECT_LT(static_cast<double>(cycles(chosen)), 0.7 * static_cast<double>(cycles(all)));
  }
}

TEST(ProgramMachineTest, protected_lines_survive_what_thrashes) {
  ProgramProbe probe = alone(rows(8, 512));
  const std::uint64_t without = count(play(fermi(), probe), ProgramCount::l1_hits);
  probe.machine.protecting_distance = true;
  const Trace with = play(fermi(), probe);
  EXPECT_GT(count(with, ProgramCount::l1_hits), 1.2 * static_cast<double>(without));
  EXPECT_EQ(count(with, ProgramCount::l1_hits) + count(with, ProgramCount::l1_misses),
            8u * 512 * 32);
}

TEST(ProgramMachineTest, hints_keep_what_they_promise) {
  ProgramProbe probe = alone(rows(1));
  probe.cached = 0;
  probe.bypass_path = BypassPath::no_allocate;
  EXPECT_EQ(count(play(fermi(), probe), ProgramCount::l1_hits), 0u);
  probe.bypass_path = BypassPath::evict_first;
  EXPECT_EQ(count(play(fermi(), probe), ProgramCount::l1_hits), 256u * 31);
  ProgramProbe beside = shared_rows(2);
  beside.cached = 1;
  beside.bypass_path = BypassPath::no_allocate;
  EXPECT_GT(count(play(fermi(), beside), ProgramCount::l1_hits), 256u * 31) << "what others left";
}

TEST(ProgramMachineTest, windows_time_each_load_on_its_own) {
  ProgramProbe probe = rows(1, 64);
  probe.windows = true;
  probe.sms = {0};
  const nlohmann::json model = fermi();
  const Trace trace = play(model, probe);
  const auto windows = latencies(trace, model);
  ASSERT_EQ(windows.size(), 64u);
  // 32 lines follow each other by a cycle: the last one hits 60 cycles after 31 others.
  EXPECT_EQ(windows[1], 60u + 31);
  EXPECT_GE(windows[0], 460u);
  EXPECT_GE(windows[32], 460u);
  EXPECT_EQ(count(trace, ProgramCount::issue_cycles), 64u * 31);
}

TEST(ProgramMachineTest, gpus_without_a_machine_of_their_own_refuse_another_and_count_nothing) {
  const nlohmann::json model = quiet_json("gtx980");
  ProgramProbe probe = rows(4, 32);
  const Trace trace = play(model, probe);
  EXPECT_EQ(trace.lanes.size(), 16u * 4);
  EXPECT_TRUE(trace.lanes[0].counts.empty());
  for (const LaneTrace& lane : trace.lanes) {
    EXPECT_NEAR(static_cast<double>(lane.elapsed_cycles), static_cast<double>(cycles(trace)),
                0.01 * static_cast<double>(cycles(trace)));
  }
  probe.machine.l1_index = L1Index::modulo;
  EXPECT_THROW(play(model, probe), DeviceError);
}

TEST(ProgramMachineTest, what_an_sm_cannot_hold_is_refused) {
  ProgramProbe probe = rows(8, 32);
  probe.resident_blocks = 6;
  EXPECT_NO_THROW(play(fermi(), probe));
  probe.resident_blocks = 7;
  EXPECT_THROW(play(fermi(), probe), DeviceError);
  ProgramProbe idle = rows(1);
  idle.program.kernels[0].inner = {.first = 0, .per_block = 1};  // block 0 makes no pass
  EXPECT_NO_THROW(play(fermi(), idle)) << "blocks without accesses are passed over";
  EXPECT_THROW(play(quiet_json("gtx980"), idle), DeviceError) << "its SM 0 has block 0 alone";
}

}  // namespace
}  // namespace sonde::sim
