// Reports what the driver says about PCIe, NVLink and Xid errors.
#include "jobs/host/links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr const char* not_told = "the driver does not report it";
constexpr const char* no_nvlink = "the driver knows of no NVLink";
constexpr const char* not_told_before = "the driver did not report it when the job device ran";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A link below its maximum may be saving power: the driver was asked while copies ran, but perhaps
/// too late.
constexpr double confidence_of_reduced = 0.85;

/// Reports a number if the driver reports it.
void report_if_told(JobRun& run, const char* metric, std::optional<double> number) {
  if (number) return run.report(metric, *number, 1);
  run.leave_open(metric, not_told);
}

/// Reports the present generation or width of a link. @param most the maximum of slot and GPU
void report_link_number(JobRun& run, const char* metric, std::optional<int> number,
                        std::optional<int> most) {
  if (!number || !most || *number >= *most) return report_if_told(run, metric, number);
  run.report(found(metric, static_cast<double>(*number), confidence_of_reduced, 1),
             fmt::format("slot and GPU can have {}", *most));
}

using LinkCounter = std::optional<std::uint64_t> NvLink::*;
constexpr std::array<std::pair<const char*, LinkCounter>, 3> nvlink_counters{
    {{"host.nvlink_crc_errors", &NvLink::crc_errors},
     {"host.nvlink_replays", &NvLink::replays},
     {"host.nvlink_recoveries", &NvLink::recoveries}}};

/// One counter of all links; NaN for a link without it, such as an inactive link.
std::vector<double> counts_of(const std::vector<NvLink>& links, LinkCounter counter) {
  std::vector<double> counts;
  for (const NvLink& link : links) {
    const std::optional<std::uint64_t>& count = link.*counter;
    counts.push_back(count ? static_cast<double>(*count) : unknown);
  }
  return counts;
}

/// Sum of all known counters of each link.
std::vector<double> errors_by_link(const std::vector<NvLink>& links) {
  std::vector<double> errors(links.size(), unknown);
  for (const auto& [name, counter] : nvlink_counters) {
    const std::vector<double> counts = counts_of(links, counter);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (!std::isnan(counts[i])) errors[i] = (std::isnan(errors[i]) ? 0 : errors[i]) + counts[i];
    }
  }
  return errors;
}

bool is_told(const std::vector<double>& counts) {
  return !std::ranges::all_of(counts, [](double count) { return std::isnan(count); });
}

double sum_known(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::isnan(value) ? 0 : value;
  return sum;
}

void report_counts(JobRun& run, const char* metric, std::vector<double> counts) {
  const std::size_t links = counts.size();
  if (!is_told(counts)) return run.leave_open(metric, not_told);
  run.report(metric, std::move(counts), links);
}

/// NaN if one of both is.
double count_new(double before, double after) { return after < before ? after : after - before; }

void report_new_replays(JobRun& run) {
  const auto before = run.number("device.pcie_replays");
  const auto after = run.number("host.pcie_replays");
  const char* metric = "host.new_pcie_replays";
  if (!after) return run.leave_open(metric, not_told);
  if (!before) return run.leave_open(metric, not_told_before);
  run.report(metric, count_new(*before, *after), 1);
}

void report_new_nvlink_errors(JobRun& run, const std::vector<NvLink>& links) {
  std::vector<double> added = errors_by_link(links);
  if (!is_told(added)) {
    return run.leave_open("host.new_nvlink", not_told);
  }
  const auto before = run.vector("device.nvlink_errors");
  if (!before || before->size() != added.size()) {
    return run.leave_open("host.new_nvlink", not_told_before);
  }
  for (std::size_t i = 0; i < added.size(); ++i) added[i] = count_new((*before)[i], added[i]);
  run.report("host.new_nvlink_errors", sum_known(added), links.size());
  report_counts(run, "host.new_nvlink_errors_by_link", std::move(added));
}

/// A driver that reports PCIe would also report NVLinks.
Status status_without_nvlinks(const Links& links) {
  return links.pcie.width ? Status::not_present : Status::not_resolvable;
}

void report_nvlinks(JobRun& run, const Links& now) {
  const std::vector<NvLink>& links = now.nvlinks;
  if (links.empty()) {
    for (const char* prefix : {"host.nvlink", "host.new_nvlink"}) {
      run.report_rest(prefix, status_without_nvlinks(now), no_nvlink);
    }
    return;
  }
  std::vector<double> active;
  std::vector<int> down;
  for (const NvLink& link : links) {
    active.push_back(link.active ? 1 : 0);
    if (!link.active) down.push_back(link.number);
  }
  const std::string remark = down.empty() ? "" : fmt::format("inactive: {}", fmt::join(down, ", "));
  run.report(found("host.nvlinks", sum_known(active), 1, links.size()), remark);
  run.report(found("host.nvlink_active", std::move(active), 1, links.size()), remark);
  for (const auto& [name, counter] : nvlink_counters) {
    report_counts(run, name, counts_of(links, counter));
  }
  report_new_nvlink_errors(run, links);
}

/// Number of errors of each code, and the begin of the log if its oldest lines are gone.
std::string remark_of(const XidLog& log) {
  std::map<int, int> counts;
  for (const int code : log.codes) ++counts[code];
  std::vector<std::string> parts;
  for (const auto& [code, count] : counts) parts.push_back(fmt::format("Xid {}: {}", code, count));
  // The first lines of a log are written within seconds of boot.
  constexpr double boot_s = 60;
  if (log.begins_after_s > boot_s) {
    parts.push_back(fmt::format("the log begins {:.0f} s after boot", log.begins_after_s));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Reports the codes in the order of the log. @returns them; nullopt if the log cannot be read
std::optional<std::vector<double>> report_codes(JobRun& run, const char* metric) {
  const XidLog log = run.device().xids();
  if (!log.unreadable.empty()) {
    run.leave_open(metric, log.unreadable);
    return std::nullopt;
  }
  std::vector<double> codes(log.codes.begin(), log.codes.end());
  run.report(found(metric, codes, 1, 1), remark_of(log));
  return codes;
}

/// New codes since `before`. The log may have lost its oldest lines: the longest end of `before`
/// with which `after` begins is the common part.
std::vector<double> codes_since(std::vector<double> before, const std::vector<double>& after) {
  while (before.size() > after.size() || !std::equal(before.begin(), before.end(), after.begin())) {
    before.erase(before.begin());
  }
  return {after.begin() + static_cast<std::ptrdiff_t>(before.size()), after.end()};
}

}  // namespace

void report_errors_before(JobRun& run) {
  const Links links = run.device().links();
  report_if_told(run, "device.pcie_replays", links.pcie.replays);
  if (links.nvlinks.empty()) {
    run.report_rest("device.nvlink_errors", status_without_nvlinks(links), no_nvlink);
  } else {
    report_counts(run, "device.nvlink_errors", errors_by_link(links.nvlinks));
  }
  report_codes(run, "device.xids");
}

void report_links_and_errors(JobRun& run) {
  const Links now = run.device().links();
  const PcieLink& pcie = now.pcie;
  report_link_number(run, "host.link_generation", pcie.generation, pcie.most_generation);
  report_link_number(run, "host.link_width", pcie.width, pcie.most_width);
  report_if_told(run, "host.most_link_generation", pcie.most_generation);
  report_if_told(run, "host.most_link_width", pcie.most_width);
  const double bytes_per_s =
      pcie.generation && pcie.width ? pcie_bytes_per_s(*pcie.generation, *pcie.width) : 0;
  report_if_told(run, "host.link_bytes_per_s",
                 bytes_per_s > 0 ? std::optional(bytes_per_s) : std::nullopt);
  report_if_told(run, "host.pcie_replays", pcie.replays);
  report_new_replays(run);
  report_nvlinks(run, now);
  const auto codes = report_codes(run, "host.xids");
  const auto before = run.vector("device.xids");
  if (!codes || !before) {
    return run.leave_open("host.new_xids", codes ? not_told_before : not_told);
  }
  run.report("host.new_xids", codes_since(*before, *codes), 1);
}

double pcie_bytes_per_s(int generation, int width) {
  constexpr std::array bits_per_s{2.5e9 * 8 / 10,    5e9 * 8 / 10,      8e9 * 128 / 130,
                                  16e9 * 128 / 130., 32e9 * 128 / 130., 64e9 * 242 / 256};
  if (generation < 1 || generation > std::ssize(bits_per_s)) return 0;
  return bits_per_s[static_cast<std::size_t>(generation - 1)] / 8 * width;
}

}  // namespace sonde
