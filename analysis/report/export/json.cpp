// The machine-readable report, schema 1 (docs/json-report.md).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/export/json_text.hpp"
#include "analysis/report/report.hpp"
#include "base/units.hpp"
#include "trace/health.hpp"

#include <ostream>
#include <span>
#include <string>
#include <utility>

namespace sonde {
namespace {

Json health_json(const Health& health) {
  Json json;
  for_each_health([&](const char* name, const char*, const char*, auto member) {
    json[name] = health.*member;
  });
  return json;
}

/// The value of each axis of a sweep, as a number if possible.
Json setting_json(const Provenance& provenance, const Point& point) {
  Json setting = Json::object();
  for (std::size_t i = 0; i < provenance.axes.size() && i < point.at.size(); ++i) {
    const Axis& axis = provenance.axes[i];
    const auto number = axis.is_number ? parse_quantity(point.at[i]) : std::nullopt;
    setting[axis.option] = number ? Json(*number) : Json(point.at[i]);
  }
  return setting;
}

Json points_json(const Provenance& provenance) {
  Json points = Json::array();
  for (const Point& point : points_of(provenance)) {
    points.push_back({{"setting", setting_json(provenance, point)},
                      {"seed", point.seed},
                      {"repeat_index", point.repeat_index},
                      {"config_hash", point.config_hash}});
  }
  return points;
}

/// Without findings.
Json device_json(const DeviceResult& device, std::span<const JobResult> shown,
                 const DeviceVerdict& verdict, Json setting) {
  Json jobs = Json::object();
  for (const JobResult& job : shown) {
    jobs[job.job] = {{"status", to_text(job.status)},
                     {"reason", job.reason},
                     {"elapsed_s", job.elapsed_s},
                     {"device_s", job.device_s}};
  }
  return {{"uuid", device.info.uuid},
          {"name", device.info.name},
          {"node", device.node},
          {"rank", device.rank},
          {"setting", std::move(setting)},
          {"repeats", device.repeats},
          {"status", to_text(device.status)},
          {"verdict", to_text(verdict.verdict)},
          {"reason", verdict.reason.empty() ? device.reason : verdict.reason},
          {"likely", to_text(verdict.likely)},
          {"serial", device.info.serial},
          {"pci_bus_id", device.info.pci_bus_id},
          {"health_before", health_json(device.before)},
          {"health_after", health_json(device.after)},
          {"jobs", std::move(jobs)}};
}

Json furthest_json(const RunResult& run, const MetricStatistics& row) {
  Json all = Json::array();
  for (const Standing& standing : row.furthest) {
    const DeviceResult& device = run.devices[standing.device];
    all.push_back({{"uuid", device.info.uuid},
                   {"node", device.node},
                   {"rank", device.rank},
                   {"value", standing.value},
                   {"deviation_fraction", standing.deviation_fraction},
                   {"score", standing.score}});
  }
  return all;
}

Json statistics_json(const RunResult& run, const FleetAnalysis& analysis,
                     const MetricStatistics& row) {
  Json json{{"metric", row.metric},
            {"unit", row.unit},
            {"kind", to_text(row.kind)},
            {"group", analysis.groups[row.group].label},
            {"n", row.n}};
  if (!row.summary.empty()) json["summary"] = row.summary;
  if (is_structure(row.kind)) {
    json["consensus"] = row.ambiguous ? Json(nullptr) : Json(row.consensus);
    json["agreeing"] = row.agreeing;
    json["ambiguous"] = row.ambiguous;
    return json;
  }
  json["median"] = row.median;
  json["mad"] = row.mad;
  json["min"] = row.min;
  json["max"] = row.max;
  json["cv"] = row.cv;
  json["scale"] = row.scale;
  json["threshold"] = row.threshold > 0 ? Json(row.threshold) : Json(nullptr);
  json["furthest"] = furthest_json(run, row);
  return json;
}

Json flag_json(const RunResult& run, const Charge& charge) {
  const bool of_device = charge.device != Charge::no_device;
  return {
      {"uuid", of_device ? Json(run.devices[charge.device].info.uuid) : Json(nullptr)},
      {"node", charge.node},
      {"rank", of_device ? Json(run.devices[charge.device].rank) : Json(nullptr)},
      {"setting",
       of_device ? describe_setting(run.provenance, run.devices[charge.device].point_index) : ""},
      {"metric", charge.metric},
      {"severity", to_text(charge.severity)},
      {"likely", to_text(charge.trouble)},
      {"value", charge.value},
      {"reference", charge.reference},
      {"deviation_fraction", charge.size},
      {"score", charge.score},
      {"n", charge.n},
      {"ground", to_text(charge.ground)},
      {"certainty", charge.certainty},
      {"undecided", charge.undecided},
      {"unit", to_text(charge.unit)},
      {"unit_numbers", charge.unit.numbers},
      {"cause", charge.cause},
      {"reason", charge.reason},
      {"evidence", charge.evidence}};
}

Json provenance_json(const Provenance& from) {
  return {{"sonde_version", from.sonde_version},
          {"git_revision", from.git_revision},
          {"library_versions", from.library_versions},
          {"command_line", from.command_line},
          {"config_hash", from.config_hash},
          {"started_utc", from.started_utc},
          {"slurm_job_id", from.slurm_job_id},
          {"seed", from.seed},
          {"world_size", from.world_size}};
}

Json counts_json(const FleetCounts& counts) {
  return {
      {"expected", counts.expected},     {"seen", counts.seen},     {"audited", counts.audited},
      {"passed", counts.passed},         {"warned", counts.warned}, {"failed", counts.failed},
      {"incomplete", counts.incomplete}, {"lost", counts.lost},     {"flagged", counts.flagged}};
}

/// The last member has the findings, one per line. Joined as text: a tree would search each name.
std::string device_text(const FleetAnalysis& analysis, const DeviceResult& device,
                        std::span<const JobResult> shown, const DeviceVerdict& verdict,
                        Json setting) {
  std::string text = dump(device_json(device, shown, verdict, std::move(setting)));
  text.back() = ',';  // replaces the closing brace
  text += "\"findings\":{";
  const char* before = "\n";
  for (const JobResult& job : shown) {
    for (const Finding& finding : job.findings) {
      const std::string unit = unit_of(analysis.registry, finding.metric);
      Json cells;
      for (const FindingCell& cell : cells_of(finding, unit)) {
        cells[std::string(cell.column)] = json_of(cell.value);
      }
      text.append(before).append(dump(finding.metric)).append(": ").append(dump(cells));
      before = ",\n";
    }
  }
  return text + "}}";
}

/// Everything but the devices.
Json fleet_json(const RunResult& run, const FleetAnalysis& analysis) {
  Json unaudited = Json::array();
  for (const UnauditedDevice& device : run.unaudited) {
    unaudited.push_back({{"node", device.node}, {"uuid", device.uuid}});
  }
  Json fleet = Json::array();
  for (const MetricStatistics& row : analysis.statistics) {
    fleet.push_back(statistics_json(run, analysis, row));
  }
  Json flags = Json::array();
  for (const Charge& charge : analysis.charges) flags.push_back(flag_json(run, charge));
  return {{"schema", 1},
          {"provenance", provenance_json(run.provenance)},
          {"points", points_json(run.provenance)},
          {"counts", counts_json(analysis.counts)},
          {"scope", scope_lines(run, analysis)},
          {"jobs_left_out", jobs_left_out(run, analysis.registry)},
          {"unaudited", std::move(unaudited)},
          {"fleet", std::move(fleet)},
          {"flags", std::move(flags)}};
}

/// @param jobs_of the jobs of a device that are written
template <class JobsOf>
void write_report(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis,
                  const JobsOf& jobs_of) {
  std::string text = dump(fleet_json(run, analysis), 1);
  text.resize(text.size() - 2);  // "\n}"
  out << text << ",\n \"devices\": [";
  const std::vector<Point> points = points_of(run.provenance);
  const char* before = "\n";
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const DeviceResult& device = run.devices[i];
    out << before
        << device_text(analysis, device, jobs_of(device), analysis.verdicts[i],
                       setting_json(run.provenance, points.at(device.point_index)));
    before = ",\n";
  }
  out << "\n]}\n";
}

}  // namespace

void write_json(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis) {
  write_report(out, run, analysis,
               [](const DeviceResult& device) { return std::span(device.jobs); });
}

void write_verdicts(std::ostream& out, const RunResult& run, const FleetAnalysis& analysis) {
  write_report(out, run, analysis, [](const DeviceResult&) { return std::span<JobResult>(); });
}

}  // namespace sonde
