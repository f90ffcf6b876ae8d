// Reports what the driver told of PCIe, NVLink and Xid errors.
#include "jobs/host/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr const char* not_told = "the driver does not tell";

/// A link that is slower than it could be may save power: it was asked while copies ran, but a look
/// may have come too late.
constexpr double confidence_of_reduced = 0.85;

void report_link_number(JobRun& run, const char* metric, std::optional<int> number,
                        std::optional<int> most) {
  if (!number) return run.report(not_resolvable(metric, not_told));
  const bool reduced = most && *number < *most;
  run.report(found(metric, static_cast<double>(*number), reduced ? confidence_of_reduced : 1, 1),
             reduced ? fmt::format("slot and GPU can have {}", *most) : "");
}

/// A counter, and by how much it rose. A counter that fell was set to 0 by others meanwhile.
void report_counter(JobRun& run, const char* total, const char* added,
                    std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
  if (!before || !after) {
    run.report(not_resolvable(total, not_told));
    return run.report(not_resolvable(added, not_told));
  }
  run.report(found(total, static_cast<double>(*after), 1, 1));
  if (*after < *before) {
    return run.report(not_resolvable(added, "the counter was reset while it was watched"));
  }
  run.report(found(added, static_cast<double>(*after - *before), 1, 1));
}

using LinkCounter = std::optional<std::uint64_t> NvLink::*;
constexpr std::array<std::pair<const char*, LinkCounter>, 3> nvlink_counters{
    {{"host.nvlink_crc_errors", &NvLink::crc_errors},
     {"host.nvlink_replays", &NvLink::replays},
     {"host.nvlink_recoveries", &NvLink::recoveries}}};

/// One counter of all links; nothing if one of them does not tell.
std::optional<std::vector<double>> counts_of(const std::vector<NvLink>& links,
                                             LinkCounter counter) {
  std::vector<double> counts;
  for (const NvLink& link : links) {
    if (!(link.*counter)) return std::nullopt;
    counts.push_back(static_cast<double>(*(link.*counter)));
  }
  return counts;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Errors of all kinds and links between two looks, as far as they are told.
void report_new_errors(JobRun& run, const Links& before, const Links& after) {
  const std::string metric = "host.new_nvlink_errors";
  double added = 0;
  bool told = false;
  for (const auto& [name, counter] : nvlink_counters) {
    const auto first = counts_of(before.nvlinks, counter);
    const auto last = counts_of(after.nvlinks, counter);
    if (!first || !last || first->size() != last->size()) continue;
    told = true;
    added += sum(*last) - sum(*first);
  }
  if (!told) return run.report(not_resolvable(metric, not_told));
  if (added < 0) {
    return run.report(not_resolvable(metric, "a counter was reset while it was watched"));
  }
  run.report(found(metric, added, 1, after.nvlinks.size()));
}

void report_nvlinks(JobRun& run, const Links& before, const Links& after) {
  const std::vector<NvLink>& links = after.nvlinks;
  if (links.empty()) {
    const Status status = after.pcie.width ? Status::not_present : Status::not_resolvable;
    run.report_rest("host.nvlink", status, "the driver knows of no NVLink");
    return run.report_rest("host.new_nvlink", status, "the driver knows of no NVLink");
  }
  std::vector<double> active;
  std::vector<int> down;
  for (const NvLink& link : links) {
    active.push_back(link.active ? 1 : 0);
    if (!link.active) down.push_back(link.number);
  }
  const std::string remark = down.empty() ? "" : fmt::format("inactive: {}", fmt::join(down, ", "));
  run.report(found("host.nvlinks", sum(active), 1, links.size()), remark);
  run.report(found("host.nvlink_active", std::move(active), 1, links.size()), remark);
  for (const auto& [name, counter] : nvlink_counters) {
    auto counts = counts_of(links, counter);
    run.report(counts ? found(name, std::move(*counts), 1, links.size())
                      : not_resolvable(name, not_told));
  }
  report_new_errors(run, before, after);
}

}  // namespace

LinkWatch::LinkWatch(Device& device)
    : device_(device), before_(device.links()), now_(before_), best_(before_.pcie) {}

void LinkWatch::look() {
  now_ = device_.links();
  best_.generation = std::max(best_.generation, now_.pcie.generation);
  best_.width = std::max(best_.width, now_.pcie.width);
}

void LinkWatch::report(JobRun& run) const {
  const PcieLink& last = now_.pcie;
  report_link_number(run, "host.link_generation", best_.generation, last.most_generation);
  report_link_number(run, "host.link_width", best_.width, last.most_width);
  report_link_number(run, "host.most_link_generation", last.most_generation, {});
  report_link_number(run, "host.most_link_width", last.most_width, {});
  const double bytes_per_s =
      best_.generation && best_.width ? pcie_bytes_per_s(*best_.generation, *best_.width) : 0;
  run.report(bytes_per_s > 0 ? found("host.link_bytes_per_s", bytes_per_s, 1, 1)
                             : not_resolvable("host.link_bytes_per_s", not_told));
  report_counter(run, "host.pcie_replays", "host.new_pcie_replays", before_.pcie.replays,
                 last.replays);
  report_nvlinks(run, before_, now_);
}

double pcie_bytes_per_s(int generation, int width) {
  constexpr std::array bits_per_s{2.5e9 * 8 / 10,    5e9 * 8 / 10,      8e9 * 128 / 130,
                                  16e9 * 128 / 130., 32e9 * 128 / 130., 64e9 * 242 / 256};
  if (generation < 1 || generation > std::ssize(bits_per_s)) return 0;
  return bits_per_s[static_cast<std::size_t>(generation - 1)] / 8 * width;
}

void report_xids(JobRun& run) {
  const XidLog log = run.device().xids();
  if (!log.unreadable.empty()) {
    return run.report(not_resolvable("host.xids", log.unreadable));
  }
  std::map<int, int> counts;
  for (int code : log.codes) ++counts[code];
  std::vector<std::string> parts;
  for (const auto& [code, count] : counts) parts.push_back(fmt::format("Xid {}: {}", code, count));
  // The first lines of a log are written within seconds of boot.
  constexpr double boot_s = 60;
  if (log.begins_after_s > boot_s) {
    parts.push_back(fmt::format("the log begins {:.0f} s after boot", log.begins_after_s));
  }
  run.report(found("host.xids", static_cast<double>(log.codes.size()), 1, 1),
             fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace sonde
