// Values as a person reads them; the same text decides whether two structural values are equal.
#pragma once

#include "analysis/results.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

/// "36.5 cycle", "48 KiB", "between 57 and 59 MiB" (a gradual edge), "lru", "[16, 16, 18]", "[132
/// values, median 36]"; statuses without a value give "not present", "not resolvable", ...
std::string value_text(const Finding& finding, std::string_view unit);

/// Exact text of a structural value, for voting: equal texts are equal values. Empty if the device
/// gave no answer (not resolvable, failed, ...); "not present" is an answer.
std::string ballot_text(const Finding& finding);

/// The value if it is a number and the status ok. Nothing of no finding.
std::optional<double> number_of(const Finding* finding);
inline std::optional<double> number_of(const Finding& finding) { return number_of(&finding); }
/// The value if it is a vector of numbers and the status ok; else nullptr. Nothing of no finding.
const std::vector<double>* vector_of(const Finding* finding);
inline const std::vector<double>* vector_of(const Finding& finding) { return vector_of(&finding); }
/// The same of a device's finding; nothing if it has none of that metric.
std::optional<double> number_of(const DeviceResult& device, std::string_view metric);
const std::vector<double>* vector_of(const DeviceResult& device, std::string_view metric);

/// Calls `take` with the finding in that metric of each of these devices that has it. The devices
/// of a run have it at the same place, mostly: there it is sought first.
void for_each_finding(const RunResult& run, std::span<const std::size_t> devices,
                      std::string_view metric,
                      const std::function<void(std::size_t device, const Finding& finding)>& take);

/// The finite values of a map: of some SMs it may know nothing (NaN).
std::vector<double> known_values(std::span<const double> values);

/// Standard error of a median over that of a mean: sqrt(pi / 2), Gaussian.
inline constexpr double median_error = 1.2533;

/// Where the edge of a capacity lies: its interval, else its value, which is exact. @pre number_of
/// gives something
Interval edge_of(const Finding& finding);

/// Standard deviation of the value itself, the robust centre of replicates that scatter by
/// `reproducibility` (at most that of a median: median_error sigma / sqrt(n)): as if all were
/// measured again in another place. 0 if there is one replicate only.
double reproduced_deviation(const Finding& finding);

/// The same, and where there is one replicate only, that of a median of `samples` with the
/// deviation within it. Those share their conditions, so at most 16 count as independent. 0 if it
/// is not known.
double repeat_deviation(const Finding& finding);

/// "19.9 %" of 0.199 and of -0.199.
std::string percent_text(double fraction);
/// "-19.9 %" of -0.199.
std::string signed_percent_text(double fraction);
/// "19.9 % below" of -0.199.
std::string side_text(double fraction);
/// "6.6 x the tolerance of 3 %" of 0.199 and 0.03.
std::string tolerance_text(double fraction, double tolerance);

/// "node03 rank 2".
std::string place_of(const DeviceResult& device);
/// "a, b and 3 more": the first few of the texts.
std::string join_some(const std::vector<std::string>& texts, std::size_t most);
/// "node01 rank 3, node02 rank 0 and 5 more", in the order of the names.
std::string name_devices(const RunResult& run, std::span<const std::size_t> devices);

}  // namespace sonde
