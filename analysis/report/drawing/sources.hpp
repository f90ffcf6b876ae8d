// Tables: the metrics in each box of the drawing.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace sonde::drawn {

/// Frames from the inside out; the last one has units of "device" and wider scopes.
inline constexpr std::array frame_scopes{"sm", "tpc", "gpc", "device"};
inline constexpr std::size_t sm_frame = 0;
inline constexpr std::size_t gpc_frame = 2;
inline constexpr std::size_t device_frame = 3;

/// A row of a box: metrics in braces, and text around their values. "{.sets}" is a metric of the
/// unit itself; * stands for its name after the first dot. If two rows have the same label, the
/// later one replaces the earlier one if it has an answer.
struct Row {
  std::string_view label;
  std::array<std::string_view, 2> parts;
  std::string_view separator = ", ";
  std::string_view only_if = "";  // a metric that must say "yes"
};

inline constexpr Row cache_rows[] = {
    {"size", {"{.size_bytes}"}},       {"line/sector", {"{.line_bytes}", "{.sector_bytes}"}, " / "},
    {"fetch", {"{.fetch_bytes}"}},     {"sets x ways", {"{.sets}", "{.ways}"}, " x "},
    {"policy", {"{.replacement}"}},    {"hit", {"{.hit_latency_cycles}"}},
    {"one with", {"{sharing.*_code}"}}};
inline constexpr Row tlb_rows[] = {{"reach", {"{.reach_bytes}"}},
                                   {"entries", {"{.entries}", "{.entry_bytes}"}, " of "},
                                   {"sets x ways", {"{.sets}", "{.ways}"}, " x "},
                                   {"policy", {"{.replacement}"}},
                                   {"a miss", {"{.miss_penalty_cycles} more"}}};
inline constexpr Row l1_rows[] = {
    {"read-only", {"{cache.readonly.hit_latency_cycles}"}, "", "sharing.l1_readonly"},
    {"texture", {"{cache.texture_l1.hit_latency_cycles}"}, "", "sharing.l1_texture_l1"},
    {"bandwidth", {"{placement.read_l1_bytes_per_cycle}"}},
    {"carve-outs", {"{cache.l1.size_by_carveout_bytes}"}, "", "sharing.l1_shared_memory"}};
inline constexpr Row shared_rows[] = {
    {"banks", {"{shared.bank_count}", "{shared.bank_bytes}"}, " x "},
    {"hit", {"{shared.latency_cycles}"}},
    {"conflict", {"{shared.conflict_cost_cycles} a way"}},
    {"bandwidth", {"{shared.bytes_per_cycle_per_sm}"}}};
inline constexpr Row constant_l1_rows[] = {{"bandwidth", {"{constant.l1.sm_bytes_per_cycle}"}}};
inline constexpr Row constant_l2_rows[] = {{"bandwidth", {"{constant.l2.sm_bytes_per_cycle}"}}};
inline constexpr Row constant_l3_rows[] = {{"bandwidth", {"{constant.l3.sm_bytes_per_cycle}"}}};
inline constexpr Row register_rows[] = {
    {"size", {"{registers.per_sm}"}},
    {"a thread", {"at most {registers.max_per_thread}"}},
    {"resident", {"{registers.max_warps_per_sm} warps", "{registers.max_blocks_per_sm} CTAs"}}};
inline constexpr Row cluster_rows[] = {{"latency", {"{dsm.latency_cycles}"}},
                                       {"one SM", {"{dsm.bytes_per_cycle}"}},
                                       {"all SMs", {"{dsm.joint_bytes_per_s}"}}};
inline constexpr Row l2_rows[] = {
    {"size", {"{cache.l2.slice_total_bytes}"}},
    {"driver says", {"{device.reported_l2_bytes}"}},
    {"hit", {"{latency.l2_near_cycles} near", "{latency.l2_far_cycles} far"}},
    {"one SM", {"keeps {cache.l2.segment_bytes}, near"}},
    {"read", {"{l2.read_bytes_per_s}"}},
    {"written", {"{l2.write_bytes_per_s}"}},
    {"slices", {"{cache.l2.slices} a partition", "{cache.l2.slice_bytes} each"}},
    {"each side", {"{cache.l2.side_slices} slices"}},
    {"slice sets", {"{cache.l2.slice_sets}", "{cache.l2.slice_ways} in a slice"}, " x "},
    {"their policy", {"{cache.l2.slice_replacement}"}}};
inline constexpr Row memory_rows[] = {
    {"size", {"{device.memory_bytes}"}},
    {"bus", {"{device.memory_bus_bits} bit", "{device.max_memory_clock_hz}"}},
    {"latency", {"{latency.dram_cycles}"}},
    {"latency", {"{latency.dram_near_cycles} near", "{latency.dram_far_cycles} far"}},
    {"read", {"{global.read_bytes_per_s}"}},
    {"written", {"{global.write_bytes_per_s}"}},
    {"copied", {"{global.copy_bytes_per_s}"}},
    {"page", {"{tlb.page_bytes}"}}};
inline constexpr Row host_rows[] = {
    {"link", {"gen {host.link_generation}", "{host.link_width} lanes"}},
    {"to GPU", {"{host.to_device_bytes_per_s}"}},
    {"from GPU", {"{host.from_device_bytes_per_s}"}},
    {"both ways", {"{host.both_bytes_per_s}"}},
    {"latency", {"{host.latency_ns}"}}};
inline constexpr Row peer_rows[] = {{"NVLinks", {"{host.nvlinks} active"}},
                                    {"by", {"{peer.link}"}},
                                    {"read", {"{peer.read_bytes_per_s}"}},
                                    {"latency", {"{peer.latency_cycles}"}}};

/// A unit, and its frame if the sharing SMs are unknown.
struct Source {
  std::string_view name;
  std::string_view kind;
  std::size_t frame;
  std::string_view prefix = "";  // of its metrics, for caches and TLBs
  std::span<const Row> rows = {};
  std::string_view in_l1 =
      "";  // metric that says whether the first cache of plain loads also serves it
  std::string_view loads_l1 = "";  // name of these loads there
};

inline constexpr std::span<const Row> no_rows{};

inline constexpr Source sources[] = {
    {"L1", "cache", sm_frame, "cache.l1", l1_rows},
    {"Shared memory", "core", sm_frame, "", shared_rows},
    {"Read-only cache", "cache", sm_frame, "cache.readonly", no_rows, "sharing.l1_readonly",
     "read-only"},
    {"Texture L1", "cache", sm_frame, "cache.texture_l1", no_rows, "sharing.l1_texture_l1",
     "texture"},
    {"Constant L1", "cache", sm_frame, "cache.constant_l1", constant_l1_rows},
    {"Code L0", "cache", sm_frame, "cache.instruction_l0"},
    {"Code L1", "cache", sm_frame, "cache.instruction_l1"},
    {"Constant L2", "cache", device_frame, "cache.constant_l2", constant_l2_rows},
    {"Constant L3", "cache", device_frame, "cache.constant_l3", constant_l3_rows},
    {"Code L2", "cache", device_frame, "cache.instruction_l2"},
    {"Code L3", "cache", device_frame, "cache.instruction_l3"},
    {"Texture L2", "cache", device_frame, "cache.texture_l2"},
    {"TLB L1", "tlb", sm_frame, "tlb.l1"},
    {"Texture TLB L1", "tlb", sm_frame, "tlb.texture_l1"},
    {"TLB L2", "tlb", device_frame, "tlb.l2"},
    {"Texture TLB L2", "tlb", device_frame, "tlb.texture_l2"},
    {"TLB L3", "tlb", device_frame, "tlb.l3"},
    {"Registers", "core", sm_frame, "", register_rows},
    {"Shared memory of other SMs", "link", gpc_frame, "", cluster_rows},
    {"L2", "cache", device_frame, "cache.l2", l2_rows},
    {"Memory", "memory", device_frame, "", memory_rows},
    {"PCIe", "link", device_frame, "", host_rows},
    {"Other GPUs", "link", device_frame, "", peer_rows}};

}  // namespace sonde::drawn
