// Cuts the delays in their widest gap, slice by slice.
#include "analysis/structure/index/slice_labels.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/index/slice_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

// Queues of an H200 cost hundreds of cycles; smaller delays may come from paths of different
// length, or from outliers.
constexpr double least_wait_cycles = 20;
constexpr double least_wait_in_scatters = 8;
/// Far more than any GPU has: 94 on an H200, 96 on an H100.
constexpr std::uint32_t most_slices = 1024;
/// Fraction of the slice of the median line. Labels with fewer lines consist of overlooked lines.
constexpr double least_lines = 0.25;
/// Largest fraction of lines with such labels; with more, no label is trusted.
constexpr double most_unknown = 0.01;

/// Lines of labels with few lines become unknown; the other labels are renumbered from 0.
void drop_small_labels(SliceLabels& slices) {
  std::vector<double> sizes(slices.slices);
  for (const std::uint32_t label : slices.labels) ++sizes[label];
  std::vector<double>
      size_of_line;  // a weight for each line: small labels may be many, but have few lines
  for (const std::uint32_t label : slices.labels) size_of_line.push_back(sizes[label]);
  const double least = least_lines * median_in_place(size_of_line);
  std::vector<std::uint32_t> number(sizes.size(), unknown_slice);
  slices.slices = 0;
  for (std::size_t label = 0; label < sizes.size(); ++label) {
    if (sizes[label] >= least) number[label] = slices.slices++;
  }
  for (std::uint32_t& label : slices.labels) label = number[label];
}

/// Middle of the widest gap between values from `low` to `high`.
double widest_gap(std::vector<double> values, double low, double high) {
  std::erase_if(values, [&](double value) { return value < low || value > high; });
  std::ranges::sort(values);
  double widest = 0;
  double middle = (low + high) / 2;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] <= widest) continue;
    widest = values[i] - values[i - 1];
    middle = (values[i] + values[i - 1]) / 2;
  }
  return middle;
}

SliceLabels no_slices(std::string reason) {
  SliceLabels none;
  none.reason = std::move(reason);
  return none;
}

}  // namespace

WaitingLines find_waiting_lines(std::span<const double> alone, std::span<const double> contended,
                                std::size_t own) {
  std::vector<double> excess;
  for (std::size_t i = 0; i < alone.size(); ++i) excess.push_back(contended[i] - alone[i]);
  // With two slices half of the lines wait; those in the lowest quarter surely do not.
  const double common = quantile(excess, 0.25);
  std::vector<double> below;
  for (const double cycles : excess) {
    if (cycles <= common) below.push_back(common - cycles);
  }
  WaitingLines waiting{.waits = {},
                       .wait_cycles = excess[own] - common,
                       .scatter_cycles = normal_scale * median(std::move(below))};
  waiting.is_clear = waiting.wait_cycles >=
                     std::max(least_wait_cycles, least_wait_in_scatters * waiting.scatter_cycles);
  const double cut = widest_gap(excess, common, excess[own]);
  for (const double cycles : excess) waiting.waits.push_back(cycles > cut);
  return waiting;
}

SliceLabels label_lines(std::span<const double> alone, const ContendedLatencies& ask) {
  SliceLabels slices{.labels = std::vector(alone.size(), unknown_slice), .reason = {}};
  std::vector<std::size_t> left(alone.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<double> waits;
  // Lines of the first slice, for comparison: the last slice has no other lines left.
  std::vector<std::size_t> others;
  while (!left.empty()) {
    const std::size_t own =
        *std::ranges::min_element(left, {}, [&](std::size_t line) { return alone[line]; });
    std::vector<std::size_t> lines = left;
    lines.insert(lines.end(), others.begin(), others.end());
    std::vector<double> alone_of_lines;
    for (const std::size_t line : lines) alone_of_lines.push_back(alone[line]);
    const auto place = static_cast<std::size_t>(std::ranges::find(lines, own) - lines.begin());
    const WaitingLines waiting = find_waiting_lines(alone_of_lines, ask(lines, own), place);
    if (!waiting.is_clear) {
      return no_slices(
          fmt::format("reductions on a line delay its own loads by {:.0f} cycles beyond the common "
                      "delay: too little against a scatter of {:.1f}",
                      waiting.wait_cycles, waiting.scatter_cycles));
    }
    if (slices.slices == most_slices) {
      return no_slices(fmt::format("more than {} groups of lines share a queue", most_slices));
    }
    waits.push_back(waiting.wait_cycles);
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (waiting.waits[i]) {
        slices.labels[left[i]] = slices.slices;
      } else {
        rest.push_back(left[i]);
      }
    }
    if (slices.slices == 0) {
      for (const std::size_t line : left) {
        if (slices.labels[line] == 0) others.push_back(line);
      }
    }
    left = std::move(rest);
    ++slices.slices;
  }
  slices.wait_cycles = median(std::move(waits));
  drop_small_labels(slices);
  const auto unknown = std::ranges::count(slices.labels, unknown_slice);
  if (static_cast<double>(unknown) > most_unknown * static_cast<double>(alone.size())) {
    return no_slices(fmt::format("{} of {} lines share a queue with hardly any other line", unknown,
                                 alone.size()));
  }
  return slices;
}

}  // namespace sonde
