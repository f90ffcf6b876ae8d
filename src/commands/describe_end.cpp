#include "commands/describe_end.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace sonde {
namespace {

std::string gpus(std::size_t count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

/// "6 passed, 1 warned, 1 lost"
std::string list_counts(const FleetCounts& counts) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::size_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(counts.passed, "passed");
  add(counts.warned, "warned");
  add(counts.failed, "failed");
  add(counts.incomplete, "incomplete");
  add(counts.lost, "lost");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_well(const FleetCounts& counts, std::size_t all) {
  if (counts.passed < all) return fmt::format("no GPU failed ({})", list_counts(counts));
  return all == 1 ? "the GPU passed" : fmt::format("all {} passed", gpus(all));
}

std::string describe_failure(const FleetCounts& counts, std::size_t all) {
  // Without a GPU that failed, a node did.
  if (counts.failed == 0) return "a node has fewer GPUs than most";
  return fmt::format("{} of {} failed {}", counts.failed, gpus(all),
                     counts.failed == 1 ? "its verdict" : "their verdicts");
}

}  // namespace

std::string describe_end(ExitStatus status, const FleetCounts& counts,
                         const std::string& run_file) {
  const std::size_t all =
      counts.passed + counts.warned + counts.failed + counts.incomplete + counts.lost;
  const int number = static_cast<int>(status);
  if (status == ExitStatus::ok) {
    return fmt::format("status {}: {}", number, describe_well(counts, all));
  }
  const std::string what = status == ExitStatus::verdict
                               ? describe_failure(counts, all)
                               : fmt::format("results are incomplete ({})", list_counts(counts));
  return fmt::format("status {}: {}; see {}", number, what, run_file);
}

}  // namespace sonde
