// A charge: what is wrong with which part of which GPU. Verdicts follow from charges.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

enum class Severity { info, warn, fail };

/// Of a device, from good to bad: the worst one that applies counts.
enum class Verdict { pass, warn, incomplete, fail, lost };

/// What a charge is based on.
enum class Ground {
  itself,    // health, error counters, a unit that is worse than others of its die, a failed job
  past,      // an earlier measurement of the same GPU
  peers,     // other GPUs of the group
  reference  // reference values from other GPUs of this model
};

/// What is broken, in the order of causes: of two equally bad charges the first trouble leads.
enum class Trouble {
  contention,
  lost,
  hang,
  sticky_error,
  wrong_data,
  ecc_uncorrected,
  remap_failure,
  xid,
  thermal,
  power,
  clock,
  pcie_link,
  nvlink,
  host_rate,
  peer_rate,
  ecc_corrected,
  remap_pending,
  memory_rate,
  slice,
  sm,
  structure,
  fewer_gpus,
  unknown
};

constexpr bool is_of_clock(Trouble trouble) {
  return trouble == Trouble::thermal || trouble == Trouble::power || trouble == Trouble::clock;
}

std::string_view to_text(Severity severity);
std::string_view to_text(Verdict verdict);
/// "by itself, whatever its peers do", "compared with its peers", ...
std::string_view to_text(Ground ground);
/// The class in reports and drain reasons: "memory", "link", "SM", "ECC", ...
std::string_view to_text(Trouble trouble);
/// The name of the enumerator, as docs/remedies.md uses it.
std::string_view key_of(Trouble trouble);

/// The part of a GPU that a charge is about. No numbers: no single part.
struct Unit {
  enum class Kind { gpu, sm, slice, nvlink };
  Kind kind = Kind::gpu;
  std::vector<int> numbers = {};

  bool is_named() const { return !numbers.empty(); }
  bool operator==(const Unit&) const = default;
};
/// "SM 17, 18", "slice 3", "NVLink 2"; "GPU" without numbers.
std::string to_text(const Unit& unit);

struct Charge {
  static constexpr std::size_t no_device = static_cast<std::size_t>(-1);
  static constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

  std::size_t device = no_device;  // row of the run; no_device: a node, or all GPUs of a group
  std::string node = "";           // of the device; set by decide()
  Ground ground = Ground::itself;
  Severity severity = Severity::info;
  Trouble trouble = Trouble::unknown;
  Unit unit = {};
  std::string metric = "";     // may be a summary of a map: "placement.l2_latency_cycles (median)"
  std::string value = "";      // as a person reads it
  std::string reference = "";  // what it is compared with, as a person reads it
  double size = no_number;     // relative deviation from the reference
  double score = no_number;    // the deviation in robust standard deviations
  double certainty = 1;        // confidence of the finding
  std::size_t n = 0;           // number of compared devices, or units of the device
  bool undecided = false;      // peers differ, and it is unknown which of them are wrong
  bool best = false;           // if undecided: no peer has a better value
  std::string cause = "";      // the headline, if it says more than metric and reason
  std::string reason = "";     // one sentence: the difference and its size
  std::string evidence = "";   // how sure it is, and the conditions

  bool weighs() const { return severity != Severity::info; }
  /// The metric; for a summary of a map, the map.
  std::string_view base_metric() const {
    return std::string_view(metric).substr(0, metric.find(' '));
  }
};

}  // namespace sonde
