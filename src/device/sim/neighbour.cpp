// Draws the SMs that work for two processes, and makes their lanes late.
#include "device/sim/neighbour.hpp"

#include "base/random.hpp"
#include "device/sim/play/launch.hpp"

#include <algorithm>
#include <map>

namespace sonde::sim {
namespace {

constexpr double least_factor = 1.5;
constexpr double most_factor = 2.6;
/// Of the SMs, for each unit of the neighbour's share.
constexpr double shared_sms = 0.1;

std::uint64_t scale(std::uint64_t cycles, double factor, std::uint64_t most) {
  return std::min(most, static_cast<std::uint64_t>(static_cast<double>(cycles) * factor));
}

void delay(LaneTrace& lane, double factor) {
  constexpr std::uint64_t unbounded = std::uint64_t{1} << 60;
  lane.elapsed_cycles = scale(lane.elapsed_cycles, factor, unbounded);
  for (std::uint32_t& cycles : lane.window_cycles) {
    cycles = static_cast<std::uint32_t>(scale(cycles, factor, longest_window_cycles));
  }
  if (lane.histogram.empty()) return;
  std::vector<std::uint64_t> counts(histogram_bins);
  for (const WindowCount& bin : lane.histogram) {
    counts[scale(bin.window_cycles, factor, histogram_bins - 1)] += bin.accesses;
  }
  lane.histogram = to_histogram<std::uint64_t>(counts);
}

}  // namespace

void share_sms(const Neighbour& neighbour, int sm_count, std::uint64_t seed_of_die,
               std::uint64_t seed, Trace& trace) {
  Random sms(derive_seed(seed_of_die, "SMs of the neighbour"));
  Random probe(derive_seed(seed, "turns of the neighbour"));
  const auto count = static_cast<std::uint64_t>(sm_count);
  std::map<int, double> factors;  // by SM
  for (auto left = 1 + static_cast<int>(neighbour.share * shared_sms * sm_count); left > 0;
       --left) {
    const int sm = static_cast<int>(sms.below(count));
    const bool is_late = probe.unit() < neighbour.share;
    const double factor = least_factor + (most_factor - least_factor) * probe.unit();
    if (is_late) factors.try_emplace(sm, factor);
  }
  for (LaneTrace& lane : trace.lanes) {
    const auto late = factors.find(lane.sm);
    if (late != factors.end()) delay(lane, late->second);
  }
}

}  // namespace sonde::sim
