// What a verdict is made of: a charge says what is wrong with which part of which GPU, and what it
// is compared with.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

enum class Severity { info, warn, fail };

/// Of a device. Ordered from good to bad: it gets the worst that applies.
enum class Verdict { pass, warn, incomplete, fail, lost };

/// What a charge rests on.
enum class Ground {
  itself,    // health, error counters, a unit that stands out on its own die, a failed job
  past,      // an earlier measurement of the same GPU
  peers,     // other GPUs of the group
  reference  // values of GPUs of this model, measured before
};

/// What is broken, in the order of causes: of two that are equally bad the first one leads.
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
/// In plain words: "by itself", "compared with its peers", ...
std::string_view to_text(Ground ground);
/// The class that reports and drain reasons name: "memory", "link", "SM", "ECC", ...
std::string_view to_text(Trouble trouble);
/// As in the enum: what docs/remedies.md names it by.
std::string_view key_of(Trouble trouble);

/// The part of a GPU that a charge is about. No numbers: not one part alone.
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
  std::string node = "";           // of a device: decide() adds it
  Ground ground = Ground::itself;
  Severity severity = Severity::info;
  Trouble trouble = Trouble::unknown;
  Unit unit = {};
  std::string metric = "";     // of a map "placement.l2_latency_cycles (median)", too
  std::string value = "";      // as a person reads it
  std::string reference = "";  // what it is compared with, likewise
  double size = no_number;     // deviation from the reference, as a fraction of it
  double score = no_number;    // the same in robust standard deviations
  double certainty = 1;        // confidence of the finding behind it
  std::size_t n = 0;           // devices, or units of the device, that were compared
  bool undecided = false;      // peers differ, and nothing tells which of them are wrong
  bool best = false;           // of an undecided one: no peer has a better value
  std::string cause = "";      // the headline, where it is more than metric and reason
  std::string reason = "";     // one sentence: what differs, by how much
  std::string evidence = "";   // how sure, and what the conditions were

  bool weighs() const { return severity != Severity::info; }
  /// Of a summary of a map, the map.
  std::string_view base_metric() const {
    return std::string_view(metric).substr(0, metric.find(' '));
  }
};

}  // namespace sonde
