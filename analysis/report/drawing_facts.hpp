// Findings of a device as the facts of a drawing.
#pragma once

#include "analysis/metrics.hpp"
#include "analysis/results.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// One thing that is known of a unit: a row of its box.
struct DrawnFact {
  std::string label = "";   // "sets x ways"
  std::string text = "";    // "512 x 4"; "not resolvable" where nothing was found out
  std::string remark = "";  // metrics behind it and why they have no value: shown under the pointer
  double confidence = 0;    // the lowest of the metrics behind it
  bool answered = true;
};

/// A metric in a fact, and what stands behind its value.
struct FactPart {
  std::string metric;
  std::string suffix = "";
  std::string prefix = "";
};

/// More slices or list entries than this are no picture.
inline constexpr std::size_t most_drawn_slices = 256;

class Facts {
 public:
  /// @pre the device outlives the facts
  explicit Facts(const DeviceResult& device);

  const DeviceResult& device() const { return device_; }

  /// Whether there is a value.
  bool has(std::string_view metric) const;
  /// The value as a person reads it, "" if there is none. Of a per-SM map it is the median.
  std::string shown(std::string_view metric) const;
  /// The value if it is a text, else "".
  std::string text(std::string_view metric) const;
  /// The values if it is a list, else none.
  std::vector<double> numbers(std::string_view metric) const;
  /// 0 if there is no such finding.
  double confidence(std::string_view metric) const;
  /// Why there is no value, "" if nothing is said.
  std::string reason(std::string_view metric) const;

  /// The values with the separator between them. One that was not resolvable is "?"; if none was
  /// resolvable the fact says so and why. Nothing if there is neither a value nor one that was not
  /// resolvable.
  std::optional<DrawnFact> fact(std::string label, const std::vector<FactPart>& parts,
                                std::string_view separator = ", ") const;
  /// "40 GB/s to 43 GB/s": least and most of a list.
  std::optional<DrawnFact> span_fact(std::string label, const std::string& metric) const;

 private:
  const Finding* find(std::string_view metric) const;

  const DeviceResult& device_;
  std::map<std::string_view, const Finding*> findings_;
};

/// Appends what it is given, if that is anything.
inline auto adder(std::vector<DrawnFact>& facts) {
  return [&facts](std::optional<DrawnFact> fact) {
    if (fact) facts.push_back(std::move(*fact));
  };
}

}  // namespace sonde
