// From findings to units in frames: which metrics stand in which box is said here, as tables.
#include "analysis/report/drawing.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace sonde {
namespace {

/// Frames from the inside out; what "device" and wider scopes share lies in the last.
constexpr std::array frame_scopes{"sm", "tpc", "gpc", "device"};
constexpr std::size_t sm_frame = 0;
constexpr std::size_t gpc_frame = 2;
constexpr std::size_t device_frame = 3;

using Placed = std::array<std::vector<DrawnUnit>, frame_scopes.size()>;

/// A cache or TLB of the registry, and where it is drawn as long as nobody knows who shares it.
struct Source {
  const char* prefix;  // of its metrics
  const char* scope;   // metric: who shares it
  const char* name;
  std::size_t frame;
};
constexpr Source caches[] = {
    {"cache.readonly", "sharing.readonly.scope", "Read-only cache", sm_frame},
    {"cache.texture_l1", "sharing.texture_l1.scope", "Texture L1", sm_frame},
    {"cache.constant_l1", "sharing.constant_l1.scope", "Constant L1", sm_frame},
    {"cache.instruction_l0", "sharing.instruction_l0.scope", "Code L0", sm_frame},
    {"cache.instruction_l1", "sharing.instruction_l1.scope", "Code L1", sm_frame},
    {"cache.constant_l2", "sharing.constant_l2.scope", "Constant L2", device_frame},
    {"cache.constant_l3", "sharing.constant_l3.scope", "Constant L3", device_frame},
    {"cache.instruction_l2", "sharing.instruction_l2.scope", "Code L2", device_frame},
    {"cache.instruction_l3", "sharing.instruction_l3.scope", "Code L3", device_frame},
    {"cache.texture_l2", "sharing.texture_l2.scope", "Texture L2", device_frame},
};
constexpr Source tlbs[] = {
    {"tlb.l1", "tlb.l1.scope", "TLB L1", sm_frame},
    {"tlb.texture_l1", "tlb.texture_l1.scope", "Texture TLB L1", sm_frame},
    {"tlb.l2", "tlb.l2.scope", "TLB L2", device_frame},
    {"tlb.texture_l2", "tlb.texture_l2.scope", "Texture TLB L2", device_frame},
    {"tlb.l3", "tlb.l3.scope", "TLB L3", device_frame},
};

bool says_yes(const Facts& facts, std::string_view metric) { return facts.text(metric) == "yes"; }

/// Frame of a unit, and whether that was measured.
std::pair<std::size_t, bool> place_of(const Facts& facts, const Source& source) {
  const std::string scope = facts.text(source.scope);
  for (std::size_t frame = 0; frame < frame_scopes.size(); ++frame) {
    if (scope == frame_scopes[frame]) return {frame, true};
  }
  if (scope == "part of a gpc") return {gpc_frame, true};
  if (scope == "partition") return {device_frame, true};
  return {source.frame, false};
}

DrawnUnit cache_unit(const Facts& facts, const std::string& prefix, std::string name) {
  DrawnUnit unit{.name = std::move(name)};
  unit.size = facts.shown(prefix + ".size_bytes");
  const auto add = adder(unit.facts);
  if (unit.size.empty()) add(facts.fact("size", {{prefix + ".size_bytes"}}));
  add(facts.fact("line/sector", {{prefix + ".line_bytes"}, {prefix + ".sector_bytes"}}, " / "));
  add(facts.fact("fetch", {{prefix + ".fetch_bytes"}}));
  add(facts.fact("sets x ways", {{prefix + ".sets"}, {prefix + ".ways"}}, " x "));
  add(facts.fact("policy", {{prefix + ".replacement"}}));
  return unit;
}

DrawnUnit tlb_unit(const Facts& facts, const std::string& prefix, std::string name) {
  DrawnUnit unit{.name = std::move(name), .kind = UnitKind::tlb};
  unit.size = facts.shown(prefix + ".reach_bytes");
  const auto add = adder(unit.facts);
  if (unit.size.empty()) add(facts.fact("reach", {{prefix + ".reach_bytes"}}));
  add(facts.fact("entries", {{prefix + ".entries"}, {prefix + ".entry_bytes"}}, " of "));
  add(facts.fact("sets x ways", {{prefix + ".sets"}, {prefix + ".ways"}}, " x "));
  add(facts.fact("policy", {{prefix + ".replacement"}}));
  add(facts.fact("a miss", {{prefix + ".miss_penalty_cycles", " more"}}));
  return unit;
}

/// The first cache of plain loads, with the other paths that one array serves.
DrawnUnit first_cache(const Facts& facts, bool readonly_too, bool texture_too) {
  DrawnUnit unit = cache_unit(facts, "cache.l1", "L1");
  DrawnFact serves{.label = "serves",
                   .text = "plain loads",
                   .remark = "sharing.l1_readonly, sharing.l1_texture_l1",
                   .confidence = 1};
  if (readonly_too) {
    serves.text += ", read-only";
    serves.confidence = facts.confidence("sharing.l1_readonly");
  }
  if (texture_too) {
    serves.text += ", texture";
    serves.confidence = std::min(serves.confidence, facts.confidence("sharing.l1_texture_l1"));
  }
  const auto add = adder(unit.facts);
  add(facts.fact("hit", {{"cache.l1.hit_latency_cycles"}}));
  if (readonly_too) add(facts.fact("read-only", {{"cache.readonly.hit_latency_cycles"}}));
  if (texture_too) add(facts.fact("texture", {{"cache.texture_l1.hit_latency_cycles"}}));
  if (readonly_too || texture_too) unit.facts.insert(unit.facts.begin(), serves);
  add(facts.fact("bandwidth", {{"placement.read_l1_bytes_per_cycle"}}));
  if (says_yes(facts, "sharing.l1_shared_memory")) {
    add(facts.span_fact("carve-outs", "cache.l1.size_by_carveout_bytes"));
  }
  return unit;
}

DrawnUnit shared_memory(const Facts& facts) {
  DrawnUnit unit{.name = "Shared memory", .kind = UnitKind::core};
  const double size_bytes = static_cast<double>(facts.device().info.shared_bytes_per_sm);
  if (size_bytes > 0) unit.size = format_bytes(size_bytes);
  const auto add = adder(unit.facts);
  add(facts.fact("banks", {{"shared.bank_count"}, {"shared.bank_bytes"}}, " x "));
  add(facts.fact("hit", {{"shared.latency_cycles"}}));
  add(facts.fact("conflict", {{"shared.conflict_cost_cycles", " a way"}}));
  add(facts.fact("bandwidth", {{"shared.bytes_per_cycle_per_sm"}}));
  return unit;
}

DrawnUnit registers(const Facts& facts) {
  DrawnUnit unit{
      .name = "Registers", .size = facts.shown("registers.per_sm"), .kind = UnitKind::core};
  const auto add = adder(unit.facts);
  add(facts.fact("a thread", {{.metric = "registers.max_per_thread", .prefix = "at most "}}));
  add(facts.fact("resident", {{"registers.max_warps_per_sm", " warps"},
                              {"registers.max_blocks_per_sm", " CTAs"}}));
  return unit;
}

DrawnUnit cluster_memory(const Facts& facts) {
  DrawnUnit unit{.name = "Shared memory of other SMs", .kind = UnitKind::link};
  const auto add = adder(unit.facts);
  add(facts.fact("latency", {{"dsm.latency_cycles"}}));
  add(facts.fact("one SM", {{"dsm.bytes_per_cycle"}}));
  add(facts.fact("all SMs", {{"dsm.joint_bytes_per_s"}}));
  return unit;
}

DrawnUnit second_cache(const Facts& facts) {
  DrawnUnit unit = cache_unit(facts, "cache.l2", "L2");
  unit.wide = true;
  const auto add = adder(unit.facts);
  if (facts.has("latency.l2_near_cycles")) {
    add(facts.fact("hit",
                   {{"latency.l2_near_cycles", " near"}, {"latency.l2_far_cycles", " far"}}));
  } else {
    add(facts.fact("hit", {{"cache.l2.hit_latency_cycles"}}));
  }
  add(facts.fact("one SM",
                 {{.metric = "cache.l2.segment_bytes", .suffix = ", near", .prefix = "keeps "}}));
  add(facts.fact("read", {{"l2.read_bytes_per_s"}}));
  add(facts.fact("written", {{"l2.write_bytes_per_s"}}));
  add(facts.fact("slices", {{"cache.l2.slices"}, {"cache.l2.slice_bytes"}}, " of "));
  add(facts.fact("slice sets", {{"cache.l2.slice_sets"}, {"cache.l2.slice_ways"}}, " x "));
  add(facts.fact("their policy", {{"cache.l2.slice_replacement"}}));
  for (const double slices : facts.numbers("cache.l2.side_slices")) {
    if (slices >= 1 && slices <= most_drawn_slices) {
      unit.slices.push_back(static_cast<std::size_t>(slices));
    }
  }
  return unit;
}

DrawnUnit memory(const Facts& facts) {
  DrawnUnit unit{.name = "Memory",
                 .size = facts.shown("device.memory_bytes"),
                 .kind = UnitKind::memory,
                 .wide = true};
  const auto add = adder(unit.facts);
  add(facts.fact("bus", {{"device.memory_bus_bits", " bit"}, {"device.max_memory_clock_hz"}}));
  if (facts.has("latency.dram_near_cycles")) {
    add(facts.fact("latency",
                   {{"latency.dram_near_cycles", " near"}, {"latency.dram_far_cycles", " far"}}));
  } else {
    add(facts.fact("latency", {{"latency.dram_cycles"}}));
  }
  add(facts.fact("read", {{"global.read_bytes_per_s"}}));
  add(facts.fact("written", {{"global.write_bytes_per_s"}}));
  add(facts.fact("copied", {{"global.copy_bytes_per_s"}}));
  add(facts.fact("page", {{"tlb.page_bytes"}}));
  return unit;
}

DrawnUnit host_link(const Facts& facts) {
  DrawnUnit unit{.name = "PCIe", .kind = UnitKind::link};
  const auto add = adder(unit.facts);
  add(facts.fact("link", {{.metric = "host.link_generation", .prefix = "gen "},
                          {.metric = "host.link_width", .suffix = " lanes"}}));
  add(facts.fact("to GPU", {{"host.to_device_bytes_per_s"}}));
  add(facts.fact("from GPU", {{"host.from_device_bytes_per_s"}}));
  add(facts.fact("both ways", {{"host.both_bytes_per_s"}}));
  add(facts.fact("latency", {{"host.latency_ns"}}));
  return unit;
}

DrawnUnit peer_link(const Facts& facts) {
  DrawnUnit unit{.name = "Other GPUs", .kind = UnitKind::link};
  const auto add = adder(unit.facts);
  add(facts.fact("NVLinks", {{"host.nvlinks", " active"}}));
  add(facts.fact("by", {{"peer.link"}}));
  add(facts.span_fact("read", "peer.read_bytes_per_s"));
  add(facts.span_fact("latency", "peer.latency_cycles"));
  return unit;
}

/// What is not resolvable for one reason is one fact, behind the others and without a label.
void join_unanswered(std::vector<DrawnFact>& facts) {
  std::vector<DrawnFact> joined;
  for (const DrawnFact& fact : facts) {
    if (fact.answered) continue;
    const auto same = std::ranges::find(joined, fact.text, &DrawnFact::text);
    if (same == joined.end()) {
      joined.push_back(fact);
    } else {
      same->label += ", " + fact.label;
      same->remark += "\n" + fact.remark;
    }
  }
  std::erase_if(facts, [](const DrawnFact& fact) { return !fact.answered; });
  for (DrawnFact& fact : joined) {
    fact.text = fact.label + " " + fact.text;
    fact.label = "";
    facts.push_back(std::move(fact));
  }
}

bool any_answered(const DrawnUnit& unit) {
  return !unit.size.empty() || std::ranges::any_of(unit.facts, &DrawnFact::answered);
}

void add_caches(const Facts& facts, const std::set<std::string_view>& in_l1, Placed& placed,
                DeviceDrawing& drawing) {
  for (const Source& source : caches) {
    if (in_l1.contains(source.prefix)) continue;
    const std::string prefix = source.prefix;
    DrawnUnit unit = cache_unit(facts, prefix, source.name);
    const auto add = adder(unit.facts);
    add(facts.fact("hit", {{prefix + ".hit_latency_cycles"}}));
    if (prefix.starts_with("cache.constant_")) {
      add(facts.fact("bandwidth", {{"constant." + prefix.substr(15) + ".sm_bytes_per_cycle"}}));
      const std::string code = "sharing." + prefix.substr(6) + "_code";
      if (facts.text(code) != "no") add(facts.fact("one with", {{code}}));
    }
    if (any_answered(unit)) {
      const auto [frame, is_known] = place_of(facts, source);
      unit.placed = is_known;
      placed[frame].push_back(std::move(unit));
    } else if (!unit.facts.empty()) {
      drawing.unresolved.push_back(
          fmt::format("{}: {}", unit.name, facts.reason(prefix + ".size_bytes")));
    }
  }
}

void add_tlbs(const Facts& facts, Placed& placed) {
  for (const Source& source : tlbs) {
    DrawnUnit unit = tlb_unit(facts, source.prefix, source.name);
    if (!any_answered(unit)) continue;
    const auto [frame, is_known] = place_of(facts, source);
    unit.placed = is_known;
    placed[frame].push_back(std::move(unit));
  }
}

std::string frame_name(const Facts& facts, std::size_t frame) {
  if (frame == device_frame) {
    const DeviceInfo& info = facts.device().info;
    std::string name = info.name.empty() ? "GPU" : info.name;
    const std::string capability = facts.text("device.compute_capability");
    if (!capability.empty()) name += ", compute capability " + capability;
    const std::string clock = facts.shown("device.max_sm_clock_hz");
    if (!clock.empty()) name += ", up to " + clock;
    return name;
  }
  constexpr std::array names{"SM", "TPC", "GPC"};
  const std::string count = facts.shown(fmt::format("topology.{}_count", frame_scopes[frame]));
  std::string name = count.empty() ? names[frame] : fmt::format("{} {}s", count, names[frame]);
  std::vector<double> sizes;
  if (frame == gpc_frame) sizes = facts.numbers("topology.gpc_sizes");
  std::erase_if(sizes, [](double size) { return std::isnan(size); });
  if (sizes.empty()) return name;
  const auto [least, most] = std::ranges::minmax(sizes);
  return least == most ? fmt::format("{} of {} SMs", name, most)
                       : fmt::format("{} of {} to {} SMs", name, least, most);
}

}  // namespace

DeviceDrawing draw_device(const DeviceResult& device) {
  const Facts facts(device);
  DeviceDrawing drawing;
  Placed placed;
  const auto place = [&](std::size_t frame, DrawnUnit unit) {
    if (any_answered(unit)) placed[frame].push_back(std::move(unit));
  };
  std::set<std::string_view> in_l1;
  if (says_yes(facts, "sharing.l1_readonly")) in_l1.insert("cache.readonly");
  if (says_yes(facts, "sharing.l1_texture_l1")) in_l1.insert("cache.texture_l1");
  DrawnUnit l1 =
      first_cache(facts, in_l1.contains("cache.readonly"), in_l1.contains("cache.texture_l1"));
  l1.placed = facts.text("sharing.l1.scope") == "sm";
  place(sm_frame, std::move(l1));
  place(sm_frame, shared_memory(facts));
  add_caches(facts, in_l1, placed, drawing);
  add_tlbs(facts, placed);
  place(sm_frame, registers(facts));
  place(gpc_frame, cluster_memory(facts));
  place(device_frame, second_cache(facts));
  place(device_frame, memory(facts));
  place(device_frame, host_link(facts));
  place(device_frame, peer_link(facts));
  for (std::size_t frame = placed.size(); frame-- > 0;) {
    if (placed[frame].empty() && frame != device_frame &&
        facts.shown(fmt::format("topology.{}_count", frame_scopes[frame])).empty()) {
      continue;
    }
    for (DrawnUnit& unit : placed[frame]) join_unanswered(unit.facts);
    drawing.frames.push_back({frame_name(facts, frame), std::move(placed[frame])});
  }
  const auto has_units = [](const DrawnFrame& frame) { return !frame.units.empty(); };
  if (std::ranges::none_of(drawing.frames, has_units)) drawing.frames.clear();
  return drawing;
}

}  // namespace sonde
