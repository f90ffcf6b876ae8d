// Sorts the stamps of a warp by path, and reads orders and costs from them.
#include "analysis/structure/cores/divergence.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

constexpr std::size_t stamps = 4;  // before, path begin, path end, after
constexpr std::size_t half_warp = 16;
constexpr std::size_t warp = 32;

/// Earliest and latest time of some threads; nothing if one of them has no time.
struct Passing {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<Passing> passing_of(std::span<const std::uint64_t> cycles) {
  const auto [first, last] = std::ranges::minmax(cycles);
  if (first == 0) return std::nullopt;
  return Passing{first, last};
}

}  // namespace

WarpStamps read_warp(const LaneTrace& lane, std::span<const int> path_of_thread) {
  const std::vector<std::uint64_t>& cycles = lane.clock_cycles;
  require(!path_of_thread.empty() && cycles.size() == stamps * path_of_thread.size(),
          "a warp of a branch probe has not four stamps for each thread");
  std::map<int, PathSpan> spans;
  WarpStamps result{.paths = {},
                    .before_cycles = cycles[0],
                    .first_behind_cycles = cycles[3],
                    .last_behind_cycles = cycles[3]};
  for (std::size_t thread = 0; thread < path_of_thread.size(); ++thread) {
    const auto own = std::span(cycles).subspan(thread * stamps, stamps);
    result.before_cycles = std::min(result.before_cycles, own[0]);
    result.first_behind_cycles = std::min(result.first_behind_cycles, own[3]);
    result.last_behind_cycles = std::max(result.last_behind_cycles, own[3]);
    const int path = path_of_thread[thread];
    const PathSpan alone{path, own[1], own[2]};
    PathSpan& span = spans.try_emplace(path, alone).first->second;
    span.begin_cycles = std::min(span.begin_cycles, own[1]);
    span.end_cycles = std::max(span.end_cycles, own[2]);
  }
  for (const auto& [path, span] : spans) result.paths.push_back(span);
  std::ranges::stable_sort(result.paths, {}, &PathSpan::begin_cycles);
  return result;
}

std::vector<int> path_order(const WarpStamps& stamps_of_warp) {
  std::vector<int> order;
  for (const PathSpan& span : stamps_of_warp.paths) order.push_back(span.path);
  return order;
}

bool some_overlap(std::span<const PathSpan> paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = i + 1; j < paths.size(); ++j) {
      const std::uint64_t begin = std::max(paths[i].begin_cycles, paths[j].begin_cycles);
      const std::uint64_t end = std::min(paths[i].end_cycles, paths[j].end_cycles);
      const std::uint64_t shorter = std::min(paths[i].end_cycles - paths[i].begin_cycles,
                                             paths[j].end_cycles - paths[j].begin_cycles);
      if (end > begin && 2 * (end - begin) >= shorter) return true;
    }
  }
  return false;
}

std::optional<std::string> first_run(std::span<const int> order) {
  if (order.size() < 2) return std::nullopt;
  if (std::ranges::is_sorted(order)) return "fall_through";
  if (std::ranges::is_sorted(order, std::greater<>{})) return "taken";
  return std::nullopt;
}

double total_cycles(const WarpStamps& stamps_of_warp) {
  return static_cast<double>(stamps_of_warp.last_behind_cycles - stamps_of_warp.before_cycles);
}

double path_cycles(const WarpStamps& stamps_of_warp) {
  double sum = 0;
  for (const PathSpan& span : stamps_of_warp.paths) {
    sum += static_cast<double>(span.end_cycles - span.begin_cycles);
  }
  return sum / static_cast<double>(stamps_of_warp.paths.size());
}

std::optional<std::string> barrier_participant(std::span<const std::uint64_t> cycles) {
  if (cycles.size() != 2 * warp) return std::nullopt;
  const auto lower = passing_of(cycles.first(half_warp));
  const auto upper = passing_of(cycles.subspan(half_warp, half_warp));
  const std::uint64_t arrived_first = cycles[warp];
  const std::uint64_t arrived_again = cycles[warp + 1];
  if (!lower || !upper) return std::nullopt;
  const std::uint64_t first_pass = std::min(lower->first, upper->first);
  const std::uint64_t last_pass = std::max(lower->last, upper->last);
  if (arrived_first == 0 || last_pass < arrived_first) return "path";
  if (first_pass < arrived_first) return std::nullopt;
  if (arrived_again == 0 || last_pass < arrived_again) return "thread";
  const std::uint64_t first_left = std::min(lower->last, upper->last);
  const std::uint64_t second_begins = std::max(lower->first, upper->first);
  const bool one_each = first_left < arrived_again && second_begins >= arrived_again;
  if (one_each && cycles[warp + 2] == 0) return "warp";
  return std::nullopt;
}

}  // namespace sonde
