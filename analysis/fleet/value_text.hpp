// Values as a person reads them, and exact texts that decide whether structural values are equal.
#pragma once

#include "analysis/metrics.hpp"
#include "analysis/results.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

/// "" if the metric is not in the registry.
std::string unit_of(std::span<const Metric> registry, std::string_view metric);

/// "36.5 cycle", "48 KiB", "between 57 and 59 MiB" (a gradual capacity), "lru", "[16, 16, 18]",
/// "[132 values, median 36]"; without a value the status: "not present", "not resolvable", ...
std::string value_text(const Finding& finding, std::string_view unit);

/// Exact text of a structural value, for votes: equal texts are equal values. Empty if the device
/// has no answer (not resolvable, failed, ...); "not present" is an answer.
std::string ballot_text(const Finding& finding);

/// The value if it is a finite number and the status is ok. `finding` may be null.
std::optional<double> number_of(const Finding* finding);
inline std::optional<double> number_of(const Finding& finding) { return number_of(&finding); }
/// The value if it is a vector and the status is ok; else nullptr. `finding` may be null.
const std::vector<double>* vector_of(const Finding* finding);
inline const std::vector<double>* vector_of(const Finding& finding) { return vector_of(&finding); }
/// Of a device's finding in this metric; nothing if it has none.
std::optional<double> number_of(const DeviceResult& device, std::string_view metric);
const std::vector<double>* vector_of(const DeviceResult& device, std::string_view metric);

/// Calls `take` with the finding of each device in this metric. Fast: the devices of a run mostly
/// have it at the same index.
void for_each_finding(const RunResult& run, std::span<const std::size_t> devices,
                      std::string_view metric,
                      const std::function<void(std::size_t device, const Finding& finding)>& take);

/// The finite values of a map, which has NaN for unknown SMs.
std::vector<double> known_values(std::span<const double> values);
/// Of a device's map in this metric; none if it has no map.
std::vector<double> known_values(const DeviceResult& device, std::string_view metric);

/// Standard error of a median / that of a mean: sqrt(pi / 2), for normal values.
inline constexpr double median_error = 1.2533;

/// The interval of a gradual capacity; else the exact value. @pre number_of gives a value
Interval edge_of(const Finding& finding);

/// Standard deviation of the value, which is the robust centre of replicates: at most that of a
/// median of n values, median_error x reproducibility / sqrt(n). 0 for a single replicate.
double reproduced_deviation(const Finding& finding);

/// The same; for a single replicate, that of a median of its `samples`. These share their
/// conditions: at most 16 of them count. 0 if it is unknown.
double repeat_deviation(const Finding& finding);

/// "20 %" of 0.199 and of -0.199; below 10 % with one decimal.
std::string percent_text(double fraction);
/// "-20 %" of -0.199.
std::string signed_percent_text(double fraction);
/// "20 % below" of -0.199.
std::string side_text(double fraction);
/// "6.6 x the tolerance of 3 %" of 0.199 and 0.03.
std::string tolerance_text(double fraction, double tolerance);

/// "node03 rank 2".
std::string place_of(const DeviceResult& device);
/// "a, b and 3 more": the first `most` texts.
std::string join_some(const std::vector<std::string>& texts, std::size_t most);
/// "node01 rank 3, node02 rank 0 and 5 more", sorted by name.
std::string name_devices(const RunResult& run, std::span<const std::size_t> devices);

}  // namespace sonde
