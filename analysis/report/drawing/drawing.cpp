#include "analysis/report/drawing/drawing.hpp"

#include "analysis/fleet/value_text.hpp"
#include "analysis/report/drawing/sources.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

namespace sonde {
namespace {

/// Longer lists are maps, of which the drawing gives the median.
constexpr std::size_t longest_list = 12;

/// "57-59 MiB".
std::string short_interval(const Interval& interval, std::string_view unit) {
  const DisplayUnit display = display_unit(interval.high, unit);
  return interval.low == interval.high
             ? short_quantity(interval.low, unit)
             : fmt::format("{:.4g}-{:.4g} {}", interval.low / display.divisor,
                           interval.high / display.divisor, display.text);
}

/// The median of a map; the range of a list: "40 GB/s to 43 GB/s".
std::string short_list(const std::vector<double>& values, std::string_view unit) {
  const std::vector<double> known = known_values(values);
  if (known.empty()) return "";
  if (values.size() > longest_list) return short_quantity(median(known), unit);
  const auto [least, most] = std::ranges::minmax(known);
  return short_range(least, most, unit);
}

/// The value as a person reads it; "" if there is none.
std::string shown(const DeviceResult& device, std::string_view metric) {
  const Finding* finding = find_finding(device, metric);
  if (finding == nullptr || finding->status != Status::ok) return "";
  const std::string unit = unit_of(all_metrics(), metric);
  if (finding->interval) return short_interval(*finding->interval, unit);
  if (const auto number = number_of(*finding)) return short_quantity(*number, unit);
  if (const auto* values = vector_of(*finding)) return short_list(*values, unit);
  const auto* text = std::get_if<std::string>(&finding->value);
  return text != nullptr ? *text : "";
}

/// The metric name in a row's text.
std::string metric_of(std::string_view text, std::string_view prefix) {
  if (text.starts_with('.')) return fmt::format("{}{}", prefix, text);
  const std::size_t star = text.find('*');
  if (star == std::string_view::npos) return std::string(text);
  return fmt::format("{}{}{}", text.substr(0, star), prefix.substr(prefix.find('.') + 1),
                     text.substr(star + 1));
}

/// A part that was not resolvable is "?". Nothing if no part has a value.
std::optional<DrawnFact> fact_of(const DeviceResult& device, const drawn::Row& row,
                                 std::string_view prefix) {
  DrawnFact fact{.label = std::string(row.label), .confidence = 1};
  std::vector<std::string> texts;
  std::vector<std::string> remarks;
  bool has_value = false;
  for (const std::string_view part : row.parts) {
    if (part.empty()) continue;
    const std::size_t begin = part.find('{');
    const std::size_t end = part.find('}');
    const std::string metric = metric_of(part.substr(begin + 1, end - begin - 1), prefix);
    const Finding* finding = find_finding(device, metric);
    if (finding == nullptr) continue;
    const std::string value = shown(device, metric);
    if (!value.empty()) {
      has_value = true;
      fact.confidence = std::min(fact.confidence, finding->confidence);
      remarks.push_back(fmt::format("{}: confidence {:.2f}", metric, finding->confidence));
    } else if (finding->status == Status::not_resolvable || finding->status == Status::unstable) {
      remarks.push_back(metric + ": not resolvable");
    } else {
      continue;
    }
    texts.push_back(fmt::format("{}{}{}", part.substr(0, begin), value.empty() ? "?" : value,
                                part.substr(end + 1)));
    if (!finding->reason.empty()) remarks.back() += "; " + finding->reason;
  }
  if (!has_value) return {};
  fact.text = fmt::format("{}", fmt::join(texts, row.separator));
  fact.remark = fmt::format("{}", fmt::join(remarks, "\n"));
  return fact;
}

void add_rows(const DeviceResult& device, std::span<const drawn::Row> rows, std::string_view prefix,
              std::vector<DrawnFact>& facts) {
  for (const drawn::Row& row : rows) {
    if (!row.only_if.empty() && shown(device, row.only_if) != "yes") continue;
    std::optional<DrawnFact> fact = fact_of(device, row, prefix);
    if (!fact || fact->text == "no") continue;
    const auto same = std::ranges::find(facts, fact->label, &DrawnFact::label);
    if (same == facts.end()) {
      facts.push_back(std::move(*fact));
    } else {
      *same = std::move(*fact);
    }
  }
}

/// The loads that the first cache of plain loads serves, if it serves others, too.
std::optional<DrawnFact> loads_of_l1(const DeviceResult& device) {
  DrawnFact serves{.label = "serves", .text = "plain loads", .confidence = 1};
  for (const drawn::Source& source : drawn::sources) {
    if (source.in_l1.empty() || shown(device, source.in_l1) != "yes") continue;
    serves.text += fmt::format(", {}", source.loads_l1);
    serves.remark += fmt::format("{}{}", serves.remark.empty() ? "" : ", ", source.in_l1);
    serves.confidence = std::min(serves.confidence, find_finding(device, source.in_l1)->confidence);
  }
  return serves.remark.empty() ? std::nullopt : std::optional(serves);
}

DrawnUnit draw_unit(const DeviceResult& device, const drawn::Source& source) {
  DrawnUnit unit{.name = std::string(source.name), .kind = source.kind};
  std::vector<DrawnFact>& facts = unit.facts;
  if (!source.prefix.empty()) {
    const std::span<const drawn::Row> common =
        source.kind == "tlb" ? std::span<const drawn::Row>(drawn::tlb_rows) : drawn::cache_rows;
    add_rows(device, common, source.prefix, facts);
  }
  add_rows(device, source.rows, source.prefix, facts);
  const auto size = std::ranges::find_if(
      facts, [](const DrawnFact& fact) { return fact.label == "size" || fact.label == "reach"; });
  if (size != facts.end()) {
    unit.size = size->text;
    facts.erase(size);
  }
  if (source.name == "L1") {
    if (const auto serves = loads_of_l1(device)) facts.insert(facts.begin(), *serves);
  }
  if (source.name == "Shared memory" && device.info.shared_bytes_per_sm > 0) {
    unit.size = format_bytes(device.info.shared_bytes_per_sm);
  }
  unit.wide = source.frame == drawn::device_frame && (source.name == "L2" || source.prefix.empty());
  return unit;
}

/// The frame of a unit, and whether it was measured.
std::pair<std::size_t, bool> place_of(const DeviceResult& device, const drawn::Source& source) {
  if (source.prefix.empty() || source.name == "L2") return {source.frame, true};
  const char* name = source.kind == "tlb" ? ".scope" : "sharing.*.scope";
  const std::string scope = shown(device, metric_of(name, source.prefix));
  for (std::size_t frame = 0; frame < drawn::frame_scopes.size(); ++frame) {
    if (scope == drawn::frame_scopes[frame]) return {frame, true};
  }
  if (scope == "part of a gpc") return {drawn::gpc_frame, true};
  if (scope == "partition") return {drawn::device_frame, true};
  return {source.frame, false};
}

std::string device_title(const DeviceResult& device) {
  std::string name = device.info.name.empty() ? "GPU" : device.info.name;
  const std::string capability = shown(device, "device.compute_capability");
  if (!capability.empty()) name += ", compute capability " + capability;
  const std::string clock = shown(device, "device.max_sm_clock_hz");
  if (!clock.empty()) name += ", up to " + clock;
  return name;
}

/// "132 SMs", "8 GPCs of 16 to 18 SMs"; without the number if it is unknown.
std::string frame_title(const DeviceResult& device, std::size_t frame) {
  constexpr std::array names{"SM", "TPC", "GPC"};
  const std::string count =
      shown(device, fmt::format("topology.{}_count", drawn::frame_scopes[frame]));
  std::string name = count.empty() ? names[frame] : fmt::format("{} {}s", count, names[frame]);
  const std::vector<double> known = known_values(device, "topology.gpc_sizes");
  if (frame != drawn::gpc_frame || known.empty()) return name;
  const auto [least, most] = std::ranges::minmax(known);
  return least == most ? fmt::format("{} of {} SMs", name, most)
                       : fmt::format("{} of {} to {} SMs", name, least, most);
}

}  // namespace

std::string short_quantity(double value, std::string_view unit) {
  const DisplayUnit display = display_unit(value, unit);
  const double scaled = value / display.divisor;
  const std::string number = std::abs(scaled) >= 100 || scaled == std::round(scaled)
                                 ? fmt::format("{:.0f}", scaled)
                                 : fmt::format("{:.3g}", scaled);
  if (display.text.empty()) return number;
  const std::string text = unit == "cycle"        ? "cycles"
                           : unit == "byte/cycle" ? "B/cycle"
                                                  : display.text;
  return number + " " + text;
}

std::string short_range(double low, double high, std::string_view unit) {
  const std::string least = short_quantity(low, unit);
  const std::string most = short_quantity(high, unit);
  return least == most ? most : fmt::format("{} to {}", least, most);
}

std::vector<DrawnFrame> draw_device(const DeviceResult& device) {
  std::vector<DrawnFrame> frames;
  std::array<std::vector<DrawnUnit>, drawn::frame_scopes.size()> placed;
  for (const drawn::Source& source : drawn::sources) {
    if (!source.in_l1.empty() && shown(device, source.in_l1) == "yes") continue;
    DrawnUnit unit = draw_unit(device, source);
    if (unit.size.empty() && unit.facts.empty()) continue;
    const auto [frame, is_known] = place_of(device, source);
    unit.placed = is_known;
    placed[frame].push_back(std::move(unit));
  }
  if (std::ranges::all_of(placed, &std::vector<DrawnUnit>::empty)) return frames;
  for (std::size_t frame = placed.size(); frame-- > 0;) {
    if (frame == drawn::device_frame) {
      frames.push_back({device_title(device), std::move(placed[frame])});
      continue;
    }
    const bool is_counted =
        !shown(device, fmt::format("topology.{}_count", drawn::frame_scopes[frame])).empty();
    if (is_counted || !placed[frame].empty()) {
      frames.push_back({frame_title(device, frame), std::move(placed[frame])});
    }
  }
  return frames;
}

}  // namespace sonde
