// Makes lists longer or shorter until two of them overfill their cache, and one does not.
#include "jobs/sharing/overfill.hpp"

#include "analysis/sharing.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

// Chases of longer lists would take seconds: 64 Ki loads of an L2 last 10 ms.
constexpr std::uint64_t longest_list = 65536;

/// What two chases on SM 0 missed.
struct Trial {
  double held_before = 0;
  double alone = 0;  // the more of the two
  double both = 0;   // the less of the two
  bool both_lose = false;

  /// Why chases tell nothing of this cache; empty if they do.
  std::string obstacle() const {
    if (held_before > most_held_before) {
      return fmt::format("caches before it answer {:.0f} % of a chase that is to fill it",
                         100 * held_before);
    }
    if (both_lose) return {};
    return fmt::format(
        "a chase that is to fill it misses {:.0f} % alone and {:.0f} % beside a second one on the "
        "same SM",
        100 * alone, 100 * both);
  }
};

Trial try_two(JobRun& run, const CoRunCache& cache) {
  const std::string label = cache.name + " twice";
  const CoRunDraw draw = draw_co_run(run, label, 0);
  const ListChase first{&cache, 0, 0};
  const ListChase second{&cache, 0, second_list_bytes(cache)};
  const AccessShares one = co_run(run, label, {first}, draw).front();
  const AccessShares other = co_run(run, label, {second}, draw).front();
  Trial trial{.held_before = std::max(one.held_before, other.held_before),
              .alone = std::max(one.missed, other.missed)};
  if (trial.held_before > most_held_before) return trial;
  const auto both = co_run(run, label, {first, second}, draw);
  trial.both = std::min(both[0].missed, both[1].missed);
  trial.both_lose = judge_loss(one.missed, both[0].missed) == Loss::some &&
                    judge_loss(other.missed, both[1].missed) == Loss::some;
  return trial;
}

/// Why lists of this length cannot be asked; empty if they can.
std::string explain_length(const CoRunCache& cache) {
  if (cache.size_bytes == 0) return "its size is not known";
  if (cache.listed_lines() > longest_list) {
    return fmt::format("it holds {} lines: chases would take seconds", cache.listed_lines());
  }
  if (cache.space_bytes > 0 && 2 * cache.list_bytes() > cache.space_bytes) {
    return fmt::format("two chases cannot overfill it with {} of constants or code",
                       format_bytes(static_cast<double>(cache.space_bytes)));
  }
  return {};
}

/// Two lists may need all constants there are. Of 1.25 caches and more even the best policy misses
/// a fifth, as much as counts as lost (analysis/sharing); of less, lists as long as usual are too
/// long.
double most_filling(const CoRunCache& cache) {
  constexpr double least_filling = 0.625;
  const std::uint64_t half_bytes = cache.space_bytes / 2 - cache.line_bytes;
  const double half = static_cast<double>(half_bytes) / cache.size_bytes;
  return cache.space_bytes > 0 && half >= least_filling ? half : cache.filling;
}

/// A size may be a bracket, and hashed sets fill unevenly.
std::string find_filling(JobRun& run, CoRunCache& cache) {
  constexpr double step = 1.5;
  constexpr int most_steps = 8;
  constexpr double much_missed = 0.15;
  cache.filling = std::min(cache.filling, most_filling(cache));
  const double first_filling = cache.filling;
  std::string first_obstacle = explain_length(cache);
  bool longer = true;
  for (int i = 0; i <= most_steps && explain_length(cache).empty(); ++i) {
    const Trial trial = try_two(run, cache);
    if (trial.obstacle().empty()) return {};
    const bool stays = trial.alone <= much_missed;
    if (i == 0) {
      first_obstacle = trial.obstacle();
      longer = stays;
    }
    if (longer != stays) break;
    cache.filling *= longer ? step : 1 / step;
  }
  cache.filling = first_filling;
  return first_obstacle;
}

}  // namespace

std::uint64_t second_list_bytes(const CoRunCache& cache) {
  const std::uint64_t aligned_bytes = std::bit_ceil(cache.list_bytes());
  const bool fits =
      cache.space_bytes == 0 || aligned_bytes + cache.list_bytes() <= cache.space_bytes;
  return fits ? aligned_bytes : cache.list_bytes();
}

std::string fit_lists(JobRun& run, CoRunCache& cache) {
  std::string obstacle;
  const auto refusal = refusal_of([&] { obstacle = find_filling(run, cache); });
  return refusal.value_or(obstacle);
}

}  // namespace sonde
