// Who is charged, and on which ground: by the device itself (links.cpp, health.cpp,
// units.cpp), by its peers, in what is measured (peers.cpp) and in what is counted
// (quorum.cpp), by its past (history.cpp, drift.cpp, repeats.cpp), and by reference values
// (references.cpp). Who judges takes groups and registry from the analysis and adds charges to it.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/grounds/series.hpp"
#include "analysis/fleet/value_text.hpp"
#include "base/embedded_file.hpp"
#include "base/exit_status.hpp"

#include <optional>

namespace sonde {

/// A device that is charged on the ground of itself.
struct ChargedDevice {
  const DeviceResult& result;
  std::size_t index;
  std::vector<Charge>& charges;

  /// @returns the charge, to be completed before the next is added
  Charge& add(Severity severity, Trouble trouble, std::string metric, std::string value,
              std::string reason) const {
    return charges.emplace_back(Charge{.device = index,
                                       .severity = severity,
                                       .trouble = trouble,
                                       .metric = std::move(metric),
                                       .value = std::move(value),
                                       .reason = std::move(reason)});
  }
  /// 0 if the device did not tell.
  double number(std::string_view metric) const { return number_of(result, metric).value_or(0); }
};

/// On the ground of the device itself: the health before and after measuring, the conditions of the
/// probes, and jobs that failed for a reason that says something of the GPU (wrong data, hangs,
/// sticky errors). On the ground of peers: a device with far more errors since its driver was
/// loaded than its group; a node with fewer GPUs than most nodes.
/// @param conditions of each device
void judge_health(const RunResult& run, const std::vector<DeviceConditions>& conditions,
                  FleetAnalysis& analysis);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

/// The reason that says that the GPU is gone; "" if none does.
std::string gone_reason(const DeviceResult& device);

/// What the jobs `device` and `host` were told of links and errors: Xids (remedies.hpp), PCIe
/// replays, NVLink errors, links that are down, narrow or slow, and copies that are far slower than
/// the link.
void judge_links(const RunResult& run, FleetAnalysis& analysis);

/// SMs and slices that stand apart from all others of their device, in maps that have a better
/// direction. What a die shows is not put to a vote: only where the same unit stands apart by the
/// same amount on more than two thirds of five devices or more, GPUs of the model are built so, and
/// one note says it for all.
void judge_units(const RunResult& run, FleetAnalysis& analysis);

/// Describes and judges one series. Who is worse than the majority is charged. Where no majority
/// agrees, or somebody is clearly better than it, all devices of the group are warned, and the
/// parts into which it falls are named. A note says that a metric scatters too much to be judged.
/// @returns its statistics, which the analysis got
const MetricStatistics& compare_peers(const RunResult& run, const Series& series,
                                      FleetAnalysis& analysis);

/// Statistics of every structural metric and capacity of every group, and charges by those that are
/// compared. A device whose value differs from the majority's fails, if both sides are sure. All
/// devices are warned, and the values named, where there is no majority, where one of the others
/// has more (of what more is better of), or where half as many agree on another value.
void compare_structure(const RunResult& run, FleetAnalysis& analysis);

/// The files that `shipped_references` are read from.
std::span<const EmbeddedFile> reference_files();

/// The reference values for the GPUs of a group: those of the same GPU name and, within 0.1 %
/// (what a driver keeps for itself varies), the same memory. nullptr if there is none, or if the
/// run asked for settings that move values (`--set`, `--sms`, a sweep).
const ModelReference* reference_of(const RunResult& run, const ComparisonGroup& group,
                                   std::span<const ModelReference> references);

/// Values that are worse than those of all GPUs of the reference, by more than peers are granted:
/// the tolerance at which a peer fails warns, twice that fails, since other hosts and few GPUs
/// stand behind a reference. Sizes and counts are judged in both directions.
void judge_by_references(const RunResult& run, std::span<const ModelReference> references,
                         FleetAnalysis& analysis);

/// A charge, "... (drift)", for each continuous metric of each device and setting, and for its SM
/// clock, if the least-squares line through its repeats changes by at least the tolerance (and 1.5
/// cycles, of metrics in whole cycles), and only one of a hundred nights of healthy devices would
/// show such a line anywhere: the p-value of the slope (Student's t) times the number of lines is
/// at most 0.01 (Bonferroni). A warning if the change is for the worse, else a note.
/// @param run with each repeat in a row of its own
/// @param conditions of each row; rows without a time, and metrics in fewer than three repeats, are
/// left out
/// @returns by device, then metric; devices are rows of centre_of_repeats(run)
std::vector<Charge> drift_charges(const RunResult& run,
                                  const std::vector<DeviceConditions>& conditions,
                                  std::span<const Metric> registry = all_metrics());

/// One metric of one device that changed between two runs.
struct Change {
  std::string uuid = "";
  std::string setting = "";  // of a sweep
  std::string unit = "";     // of the values
  Value before = {};         // nothing: not present
  Value after = {};
  std::optional<std::size_t> place = {};  // in a map, from 0: the values are those of this place
  double tolerance = Charge::no_number;   // fraction that is no change; NaN: compared exactly
  /// On the ground of the past, with the values of both days. A device of the later run. The size
  /// is a fraction of the earlier value, NaN where there is none.
  Charge charge = {.ground = Ground::past};
};

struct RunComparison {
  std::string other_options;  // what the runs were asked, where not the same; structure then warns
  std::size_t paired_gpus = 0;           // found in both runs by UUID, of sweeps at one setting
  std::vector<std::string> only_before;  // UUIDs; of a sweep "GPU-1a2b3c4d (memory-percent=50)"
  std::vector<std::string> only_after;
  std::vector<Change> changes;  // worst first
};

/// Devices paired by UUID and, of sweeps, by setting. Structural values must be equal, capacities
/// agree; continuous ones may move by the tolerance and by `within_factor` of their own repeat
/// scatter. Fingerprints, which belong to the die, are compared index by index here, and only here.
RunComparison compare_runs(const RunResult& before, const RunResult& after,
                           std::span<const Metric> registry = all_metrics());

/// `verdict` if a value changed so much for the worse that the device fails, `incomplete` if no
/// device is in both runs, else `ok`.
ExitStatus exit_status(const RunComparison& comparison);

/// Rows of a run that are repeats of the same measurement (other seeds, other times).
using Repeats = std::vector<std::vector<std::size_t>>;

/// In the order of the run: one list for each device and setting, in the order of their first
/// repeats.
Repeats repeats_of(const RunResult& run);

/// What is compared between devices, shown and exported; the run file keeps each of them. One row
/// for each device and setting of the sweep, in the order of their first repeats: a number or
/// vector is the median of the repeats (of each element); a text, or a number that counts a
/// structure (a line, ways), is the one that most repeats gave, with a confidence lowered by the
/// share of those that differ. `reproducibility` is the standard deviation of the repeats' values,
/// `repeatability` the median of theirs; samples and replicates add up. The status is the one that
/// most repeats have. A device is as complete as its worst repeat. A run without repeats comes back
/// as it is.
RunResult centre_of_repeats(RunResult run);

/// The conditions of each of these rows, as if the probes of all its repeats were those of one run.
/// @param conditions of each row of the run
std::vector<DeviceConditions> centre_of_conditions(const RunResult& run,
                                                   const std::vector<DeviceConditions>& conditions);

}  // namespace sonde
