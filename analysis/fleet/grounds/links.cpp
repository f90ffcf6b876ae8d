// Charges for links and Xids.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/remedies.hpp"
#include "analysis/peer_links.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sonde {
namespace {

// "dcgmi diag" fails its PCIe test from this number of replays on (its max_pcie_replays).
constexpr double most_pcie_replays = 80;
// The link carries at most half of what slot and GPU allow.
constexpr double failing_link_share = 0.5;
// The tolerances of peer bandwidths in the registry.
constexpr double warning_peer_share = 0.10;
constexpr double failing_peer_share = 0.25;
// Copies reach 0.85 to 0.9 of the link's rate (docs/results: 54.9 of 63 GB/s).
constexpr double slow_copy_share = 0.6;
constexpr double failing_copy_share = 0.35;

using Codes = std::map<int, std::size_t>;  // number of occurrences

Codes codes_of(const ChargedDevice& device, const char* metric) {
  Codes codes;
  const std::vector<double>* list = vector_of(device.result, metric);
  if (list == nullptr) return codes;
  for (const double code : *list) ++codes[static_cast<int>(code)];
  return codes;
}

/// The kernel's log has Xids from before and from during the measurement.
void judge_xids(const ChargedDevice& device) {
  const auto judge = [&](const char* metric, int code, std::size_t count, const char* when) {
    if (count == 0) return;
    const XidMeaning meaning = meaning_of_xid(code);
    Charge& charge = device.add(meaning.severity, Trouble::xid, metric, fmt::format("{}", code),
                                fmt::format("the driver logged Xid {} {} time{} {}: {}", code,
                                            count, count == 1 ? "" : "s", when, meaning.text));
    charge.cause = fmt::format("Xid {}: {}", code, meaning.text);
    charge.evidence = std::string(meaning.remedy);
  };
  Codes now = codes_of(device, "host.new_xids");
  for (const auto& [code, count] : now) {
    judge("host.new_xids", code, count, "while it was measured");
  }
  for (const auto& [code, count] : codes_of(device, "host.xids")) {
    judge("host.xids", code, count - std::min(count, now[code]),
          "before it was measured, since the machine started");
  }
}

void judge_replays(const ChargedDevice& device) {
  const double replays = device.number("host.new_pcie_replays");
  if (!(replays > 0)) return;
  device.add(replays >= most_pcie_replays ? Severity::warn : Severity::info, Trouble::pcie_link,
             "host.new_pcie_replays", fmt::format("{:.0f}", replays),
             fmt::format("{:.0f} PCIe packets were sent again while it was measured", replays));
}

/// The NVLinks for which the predicate holds; `list` has one element per link.
Unit nvlinks_where(const std::vector<double>* list, bool (*predicate)(double)) {
  Unit links{.kind = Unit::Kind::nvlink};
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (predicate((*list)[i])) links.numbers.push_back(static_cast<int>(i));
  }
  return links;
}

void judge_nvlinks(const ChargedDevice& device) {
  const auto* active = vector_of(device.result, "host.nvlink_active");
  const Unit down = nvlinks_where(active, [](double is_active) { return is_active == 0; });
  // If all are down, there is no bridge or no fabric manager; a comparison with peers shows it.
  if (down.is_named() && down.numbers.size() < active->size()) {
    const std::size_t gone = down.numbers.size();
    Charge& charge = device.add(Severity::fail, Trouble::nvlink, "host.nvlink_active",
                                fmt::format("{} of {}", active->size() - gone, active->size()),
                                fmt::format("{} of its {} NVLinks are down", gone, active->size()));
    charge.unit = down;
    charge.cause = to_text(down) + " is down";
  }
  const double errors = device.number("host.new_nvlink_errors");
  if (!(errors > 0)) return;
  Charge& charge = device.add(
      Severity::warn, Trouble::nvlink, "host.new_nvlink_errors", fmt::format("{:.0f}", errors),
      fmt::format("{:.0f} errors on NVLinks (CRC, replays, recoveries) while it was measured",
                  errors));
  charge.unit = nvlinks_where(vector_of(device.result, "host.new_nvlink_errors_by_link"),
                              [](double count) { return count > 0; });
  if (charge.unit.is_named()) charge.cause = to_text(charge.unit) + " has new errors";
}

/// A link to the host that is slower than slot and GPU allow. A link of a lower generation may save
/// power, and the reading may come too late: half the rate only warns.
void judge_pcie(const ChargedDevice& device) {
  const auto compare = [&](const char* metric, const char* most_metric, bool is_generation) {
    const double now = device.number(metric);
    const double most = device.number(most_metric);
    if (!(now > 0) || now >= most) return;
    const double share = is_generation ? std::exp2(now - most) : now / most;
    const bool fails = share <= (is_generation ? failing_link_share / 2 : failing_link_share);
    Charge& charge = device.add(
        fails ? Severity::fail : Severity::warn, Trouble::pcie_link, metric, fmt::format("{}", now),
        fmt::format("the link to the host {} where slot and GPU can have {}",
                    is_generation ? fmt::format("is of generation {}", now)
                                  : fmt::format("has {} lanes", now),
                    most));
    charge.reference = fmt::format("{}", most);
    charge.size = share - 1;
  };
  compare("host.link_width", "host.most_link_width", false);
  compare("host.link_generation", "host.most_link_generation", true);
}

/// A link to another GPU that is slower than the links to the rest of the node.
void judge_peer_links(const ChargedDevice& device) {
  for (const char* metric : {"peer.read_bytes_per_s", "peer.write_bytes_per_s"}) {
    const Finding* finding = find_finding(device.result, metric);
    const std::vector<double>* rates = vector_of(finding);
    if (rates == nullptr) continue;
    const double noise = finding->reproducibility / median(known_values(*rates));
    const std::vector<SlowLink> slow = find_slow_links(*rates, noise);
    if (slow.empty() || slow.front().fraction < warning_peer_share) continue;
    const SlowLink& worst = slow.front();
    const std::vector<double>* ranks = vector_of(device.result, "peer.ranks");
    const double rank =
        ranks != nullptr && worst.place < ranks->size() ? (*ranks)[worst.place] : -1;
    const std::string rate = format_quantity((*rates)[worst.place], "byte/s");
    const std::string usual = format_quantity(worst.usual, "byte/s");
    Charge& charge =
        device.add(worst.fraction >= failing_peer_share ? Severity::fail : Severity::warn,
                   Trouble::peer_rate, metric, rate,
                   fmt::format("{} to rank {:.0f} where the links to its other peers carry {}",
                               rate, rank, usual));
    charge.reference = usual;
    charge.size = -worst.fraction;
    charge.cause = fmt::format("the link to rank {:.0f} is {} slower than the others", rank,
                               percent_text(worst.fraction));
  }
}

/// Copies far slower than the link.
void judge_copies(const ChargedDevice& device) {
  const double link = device.number("host.link_bytes_per_s");
  for (const char* metric : {"host.to_device_bytes_per_s", "host.from_device_bytes_per_s"}) {
    const double rate = device.number(metric);
    if (!(rate > 0) || !(link > 0) || rate >= slow_copy_share * link) continue;
    const std::string reached = format_quantity(rate, "byte/s");
    const std::string carried = format_quantity(link, "byte/s");
    Charge& charge = device.add(
        rate < failing_copy_share * link ? Severity::fail : Severity::warn, Trouble::host_rate,
        metric, reached, fmt::format("{} where its link to the host carries {}", reached, carried));
    charge.reference = carried;
    charge.size = rate / link - 1;
    charge.cause = fmt::format("copies {} the host reach {} of what the link carries",
                               std::string_view(metric).starts_with("host.to") ? "from" : "to",
                               percent_text(rate / link));
  }
}

}  // namespace

void judge_links(const RunResult& run, FleetAnalysis& analysis) {
  constexpr std::array rules{judge_xids, judge_replays, judge_nvlinks,
                             judge_pcie, judge_copies,  judge_peer_links};
  for (std::size_t index = 0; index < run.devices.size(); ++index) {
    for (const auto rule : rules) rule({run.devices[index], index, analysis.charges});
  }
}

}  // namespace sonde
