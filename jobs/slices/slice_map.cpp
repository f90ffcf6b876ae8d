// Some lines of every slice are drawn and timed by each SM in turn.
#include "jobs/slices/slice_map.hpp"

#include "analysis/structure/index/remainder_hash.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/run/clock_window.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

namespace sonde {
namespace {

constexpr std::uint64_t passes = 3;
constexpr std::size_t lines_of_parity = 4;  // of each slice

/// Lines of each slice, drawn at random from those of either parity.
std::vector<std::vector<std::uint64_t>> draw_lines(const SliceLabels& labels, std::uint64_t mask,
                                                   std::uint64_t seed) {
  std::vector<std::uint64_t> order(labels.labels.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  Random random(seed);
  shuffle(order, random);
  std::vector<std::array<std::size_t, 2>> taken(labels.slices);
  std::vector<std::vector<std::uint64_t>> lines(labels.slices);
  const std::size_t most = mask == 0 ? 2 * lines_of_parity : lines_of_parity;
  for (const std::uint64_t line : order) {
    const std::uint32_t slice = labels.labels[line];
    if (slice == unknown_slice) continue;
    std::size_t& count = taken[slice][std::popcount(line & mask) % 2];
    if (count == most) continue;
    ++count;
    lines[slice].push_back(line);
  }
  return lines;
}

/// Hits of lines past the L1, [SM][line].
std::vector<std::vector<double>> time_hits(JobRun& run, const Draw& draw, const std::string& label,
                                           const Offsets& offsets) {
  const ChaseSetup setup = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest);
  ChaseProbe probe;
  probe.buffer_bytes = large_page_bytes;
  probe.place = draw.place;
  probe.warmup_accesses = 2 * offsets.size();
  probe.timed_accesses = probe.recorded_accesses = passes * offsets.size();
  probe.concurrency = Concurrency::in_turn;
  probe.shared_carveout_bytes = setup.shared_carveout_bytes;
  probe.lanes = lanes_of_all_sms(run, LoadPath::past_l1, offsets);
  const Trace& trace = run.run(label, probe);
  std::vector<std::vector<double>> hits;
  for (const LaneTrace& lane : trace.lanes) {
    ChaseLatencies of_lane{offsets.size(), {}};
    for (const std::uint32_t window : lane.window_cycles) {
      of_lane.cycles.push_back(window - setup.overhead_cycles);
    }
    hits.push_back(position_medians(of_lane));
  }
  return hits;
}

Offsets offsets_of(const std::vector<std::vector<std::uint64_t>>& lines, std::uint64_t line_bytes) {
  Offsets offsets;
  for (const auto& of_slice : lines) {
    for (const std::uint64_t line : of_slice) offsets.push_back(line * line_bytes);
  }
  return offsets;
}

double variance(const std::vector<std::vector<double>>& map) {
  const AdditiveFit fit = fit_additive(map);
  double sum = 0;
  for (const auto& row : map) {
    for (const double value : row) sum += std::pow(value - fit.mean_cycles, 2);
  }
  return sum / static_cast<double>(map.size() * map.front().size());
}

}  // namespace

SliceMap map_slices(JobRun& run, const Draw& draw, const SliceLabels& labels,
                    std::uint64_t line_bytes, std::uint64_t mask) {
  const std::uint32_t slices = labels.slices;
  const auto lines = draw_lines(labels, mask / line_bytes, draw.seed);
  const auto hits =
      time_hits(run, draw, "slices: L2 hits by SM and slice", offsets_of(lines, line_bytes));
  std::vector<std::vector<double>> map;
  for (const auto& of_sm : hits) {
    std::vector<double>& row = map.emplace_back(slices);
    std::size_t at = 0;
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      for (std::size_t i = 0; i < lines[slice].size(); ++i) {
        row[slice] += of_sm[at++] / static_cast<double>(lines[slice].size());
      }
    }
  }
  SliceMap result{.sides = find_two_sides(map), .fit = {}};
  const double all = variance(map);
  for (std::size_t sm = 0; sm < map.size() && !result.sides.side_of_row.empty(); ++sm) {
    for (std::size_t slice = 0; slice < slices; ++slice) {
      if (result.sides.side_of_row[sm] == result.sides.side_of_column[slice]) continue;
      map[sm][slice] -= result.sides.far_cycles;
    }
  }
  result.fit = fit_additive(map);
  if (all > 0) result.fit.r2 = 1 - std::pow(result.fit.residual_cycles, 2) / all;
  result.samples = map.size() * slices;
  return result;
}

}  // namespace sonde
