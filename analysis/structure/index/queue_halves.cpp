// Pairs of lines are parted by their distance, and every mask of the page is tried on them.
#include "analysis/structure/index/queue_halves.hpp"

#include "analysis/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

/// In each queue all lines but one add an equation. Of 80 equations, chance lets 68 agree with the
/// best of 2^14 masks three times in a million. Lines of two slices may look alike by chance: on an
/// H200 all agreed (279 of 279 and 280 of 280 pairs).
constexpr double least_agreement = 0.85;
constexpr std::size_t least_equations = 80;

/// Between lines of different queues and of one, where a queue is a slice: 2 and more on an H200.
constexpr double least_contrast = 1.5;

/// Agreement of the best of 2^14 masks with this many equations, if all lines of a queue look
/// alike: it lies four standard deviations and a half above a half.
double chance_agreement(std::size_t equations) {
  return 0.5 + 2.25 / std::sqrt(static_cast<double>(equations));
}

struct Pair {
  std::uint64_t difference = 0;  // of the line numbers, in GF(2)
  double cycles = 0;             // mean over the SMs
};

std::vector<double> beyond_mean(const std::vector<double>& values) {
  const double middle =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  std::vector<double> beyond;
  for (const double value : values) beyond.push_back(value - middle);
  return beyond;
}

std::vector<std::vector<double>> shapes_of(const std::vector<LineLatencies>& lines) {
  std::vector<std::vector<double>> shapes;
  for (const LineLatencies& line : lines) shapes.push_back(beyond_mean(line.cycles_by_sm));
  return shapes;
}

double distance_cycles(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t sm = 0; sm < a.size(); ++sm) sum += std::abs(a[sm] - b[sm]);
  return sum / static_cast<double>(a.size());
}

/// Pairs of lines of one queue, the nearest first.
std::vector<Pair> list_pairs(const std::vector<LineLatencies>& lines) {
  const auto shapes = shapes_of(lines);
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < lines.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (lines[a].queue != lines[b].queue) continue;
      pairs.push_back({.difference = lines[a].line ^ lines[b].line,
                       .cycles = distance_cycles(shapes[a], shapes[b])});
    }
  }
  std::ranges::sort(pairs, {}, &Pair::cycles);
  return pairs;
}

/// Whether lines of other queues are farther than those of one. Of those of other queues half may
/// lie on the other side of the chip: the nearer quarter is asked.
bool queues_look_different(const std::vector<LineLatencies>& lines,
                           const std::vector<Pair>& pairs) {
  const auto shapes = shapes_of(lines);
  std::vector<double> across;
  for (std::size_t a = 0; a < lines.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (lines[a].queue == lines[b].queue) continue;
      across.push_back(distance_cycles(shapes[a], shapes[b]));
    }
  }
  if (across.empty()) return false;
  return quantile(across, 0.25) > least_contrast * pairs[pairs.size() / 2].cycles;
}

/// How many of the nearest pairs make the two parts with the least variance within them (Otsu
/// 1979).
std::size_t count_near(const std::vector<Pair>& pairs) {
  double sum = 0;
  for (const Pair& pair : pairs) sum += pair.cycles;
  double near_sum = 0;
  double best = -1;
  std::size_t near = 0;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    near_sum += pairs[i - 1].cycles;
    const auto below = static_cast<double>(i);
    const auto above = static_cast<double>(pairs.size() - i);
    const double apart = (sum - near_sum) / above - near_sum / below;
    const double between = below * above * apart * apart;
    if (between > best) near = i;
    best = std::max(best, between);
  }
  return near;
}

double mean_cycles(const std::vector<Pair>& pairs, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += pairs[i].cycles;
  return sum / static_cast<double>(end - begin);
}

std::size_t count_queues(const std::vector<LineLatencies>& lines) {
  std::vector<std::uint32_t> queues;
  for (const LineLatencies& line : lines) queues.push_back(line.queue);
  std::ranges::sort(queues);
  return static_cast<std::size_t>(std::unique(queues.begin(), queues.end()) - queues.begin());
}

}  // namespace

QueueHalves find_queue_halves(const std::vector<LineLatencies>& lines, int line_bits) {
  QueueHalves halves;
  const std::size_t equations = lines.size() - count_queues(lines);
  if (equations < least_equations) {
    halves.reason = "too few lines of each queue were timed";
    return halves;
  }
  const std::vector<Pair> pairs = list_pairs(lines);
  const std::size_t near = count_near(pairs);
  halves.pairs = pairs.size();
  halves.together_cycles = mean_cycles(pairs, 0, near);
  halves.apart_cycles = mean_cycles(pairs, near, pairs.size());
  std::size_t most = 0;
  for (std::uint64_t mask = 1; mask < std::uint64_t{1} << line_bits; ++mask) {
    std::size_t explained = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool is_odd = std::popcount(pairs[i].difference & mask) % 2 != 0;
      explained += is_odd == (i >= near);
    }
    if (explained > most) halves.mask = mask;
    most = std::max(most, explained);
  }
  halves.agreement = static_cast<double>(most) / static_cast<double>(pairs.size());
  if (halves.agreement >= least_agreement) {
    halves.slices = SlicesOfQueue::two;
    return halves;
  }
  halves.mask = 0;
  if (!queues_look_different(lines, pairs)) {
    halves.reason = "from SM to SM, lines of different queues differ no more than lines of one";
  } else if (halves.agreement > chance_agreement(equations)) {
    halves.reason =
        "from SM to SM, some lines of a queue differ more than others, but not by a parity of "
        "address bits";
  } else {
    halves.slices = SlicesOfQueue::one;
  }
  return halves;
}

}  // namespace sonde
