// Who is charged, and on which ground: by the device itself (links.cpp, health.cpp, units.cpp), by
// its peers (peers.cpp: measured values; quorum.cpp: counted values), by its past (history.cpp,
// drift.cpp, repeats.cpp), by reference values (references.cpp). The functions read groups and
// registry of the analysis, and add charges to it.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/grounds/series.hpp"
#include "analysis/fleet/value_text.hpp"
#include "base/embedded_file.hpp"
#include "base/exit_status.hpp"

#include <optional>

namespace sonde {

/// A device, for charges on the ground of itself.
struct ChargedDevice {
  const DeviceResult& result;
  std::size_t index;
  std::vector<Charge>& charges;

  /// @returns the charge; complete it before the next one is added
  Charge& add(Severity severity, Trouble trouble, std::string metric, std::string value,
              std::string reason) const {
    return charges.emplace_back(Charge{.device = index,
                                       .severity = severity,
                                       .trouble = trouble,
                                       .metric = std::move(metric),
                                       .value = std::move(value),
                                       .reason = std::move(reason)});
  }
  /// 0 if there is no value.
  double number(std::string_view metric) const { return number_of(result, metric).value_or(0); }
};

/// On the ground of the device itself: health before and after the run, conditions of the probes,
/// and failed jobs whose reason concerns the GPU (wrong data, hangs, sticky errors). On the ground
/// of peers: a device with far more errors than its group since its driver was loaded, and a node
/// with fewer GPUs than most nodes.
/// @param conditions of each device
void judge_health(const RunResult& run, const std::vector<DeviceConditions>& conditions,
                  FleetAnalysis& analysis);

/// Most frequent number of GPUs on a node, times the number of nodes; 0 if no majority has it, or
/// if there are fewer than three nodes.
std::size_t usual_device_count(const RunResult& run);

/// The reason that says that the GPU is gone; else "".
std::string gone_reason(const DeviceResult& device);

/// Charges for links and errors, from the jobs `device` and `host`: Xids (remedies.hpp), PCIe
/// replays, NVLink errors, links that are down, narrow or slow, copies that are far slower.
void judge_links(const RunResult& run, FleetAnalysis& analysis);

/// Charges SMs and slices that are worse than all others of their device, in maps with a better
/// direction. Peers do not vote on this. Only if the same unit deviates by a similar amount on more
/// than two thirds of at least five devices, this is by design: then one note says it.
void judge_units(const RunResult& run, FleetAnalysis& analysis);

/// Describes and judges one series. Charges devices that are worse than the majority. Without a
/// majority, or if a device is clearly better than it, warns all devices and names the parts of the
/// group. Adds a note if the metric scatters too much to be judged.
/// @returns its statistics, which are in the analysis
const MetricStatistics& compare_peers(const RunResult& run, const Series& series,
                                      FleetAnalysis& analysis);

/// Statistics of every structural metric and capacity in every group, and charges. A device that
/// differs from the majority fails if both sides are sure. All devices are warned, with all values,
/// if there is no majority, or if the others may be right: one has a better value than the majority
/// or, without a better direction, two or more, and half as many as the majority, agree on a value.
void compare_structure(const RunResult& run, FleetAnalysis& analysis);

/// The files in analysis/fleet/references.
std::span<const EmbeddedFile> reference_files();

/// The reference for a group: the same GPU name, and the same memory within 0.1 % (drivers keep
/// different amounts for themselves). nullptr if there is none, or if the run has options that
/// change values (`--set`, `--sms`, a sweep).
const ModelReference* reference_of(const RunResult& run, const ComparisonGroup& group,
                                   std::span<const ModelReference> references);

/// Charges values that are worse than those of all GPUs of the reference, with more tolerance than
/// among peers, since a reference has other hosts and few GPUs: a warning at the tolerance at which
/// a peer fails, a failure at twice that. Sizes and counts are judged in both directions.
void judge_by_references(const RunResult& run, std::span<const ModelReference> references,
                         FleetAnalysis& analysis);

/// Drifts: fits a least-squares line through the repeats of each continuous metric, and of the SM
/// clock, of each device and setting. A charge "... (drift)" if the line changes by at least the
/// tolerance (and 1.5 cycles, if in whole cycles), and if at most one of a hundred nights of
/// healthy devices has any such line: p-value of the slope (Student's t) x number of lines <= 0.01
/// (Bonferroni). A warning if the change is for the worse, else a note.
/// @param run each repeat is a row
/// @param conditions of each row; leaves out rows without a time, and metrics with fewer than three
/// repeats
/// @returns by device, then metric; devices are rows of centre_of_repeats(run)
std::vector<Charge> drift_charges(const RunResult& run,
                                  const std::vector<DeviceConditions>& conditions,
                                  std::span<const Metric> registry = all_metrics());

/// One metric of one device that changed between two runs.
struct Change {
  std::string uuid = "";
  std::string setting = "";  // of a sweep
  std::string unit = "";     // of the values
  Value before = {};         // empty: not present
  Value after = {};
  std::optional<std::size_t> place = {};  // index in a map: the values are those at this place
  double tolerance = Charge::no_number;   // smaller fractions are no change; NaN: compared exactly
  /// On the ground of the past; a device of the later run, values of both runs. The size is a
  /// fraction of the earlier value; NaN if there is none.
  Charge charge = {.ground = Ground::past};
};

struct RunComparison {
  std::string
      other_options;  // options that differ between the runs; a change of structure then only warns
  std::size_t paired_gpus = 0;           // in both runs by UUID, and in sweeps by setting
  std::vector<std::string> only_before;  // UUIDs; of a sweep "GPU-1a2b3c4d (memory-percent=50)"
  std::vector<std::string> only_after;
  std::vector<Change> changes;  // worst first
};

/// Pairs devices by UUID and, in sweeps, by setting. Structural values must be equal, capacities
/// must agree. Continuous values may change by the tolerance and by `within_factor` of their own
/// scatter. Only here fingerprints are compared element by element: the die is the same.
RunComparison compare_runs(const RunResult& before, const RunResult& after,
                           std::span<const Metric> registry = all_metrics());

/// `verdict` if a change fails a device, `incomplete` if no device is in both runs, else `ok`.
ExitStatus exit_status(const RunComparison& comparison);

/// Rows of a run that repeat the same measurement (other seeds, other times).
using Repeats = std::vector<std::vector<std::size_t>>;

/// One list for each device and setting, in the order of their first repeats.
Repeats repeats_of(const RunResult& run);

/// The run that is compared, shown and exported (the run file keeps each repeat): one row for each
/// device and setting, in the order of first repeats. A number or vector is the median of the
/// repeats (by element). A text, or a number that counts a structure (a line, ways), is the most
/// frequent one; its confidence is multiplied by its share of the repeats. `reproducibility` is the
/// standard deviation between repeats, `repeatability` the median of theirs; samples add up, and
/// each repeat of a number counts as a replicate. The status is the most frequent one. A device is
/// as complete as its worst repeat. A run without repeats is returned unchanged.
RunResult centre_of_repeats(RunResult run);

/// The conditions of each of these rows, as if all probes of its repeats belonged to one run.
/// @param conditions of each row of the run
std::vector<DeviceConditions> centre_of_conditions(const RunResult& run,
                                                   const std::vector<DeviceConditions>& conditions);

}  // namespace sonde
