// Streams on chosen SMs, and how many of them the GPU bears at once.
#include "jobs/cores/port_trials.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde {
namespace {

// Sets of units grow by this factor; of each size so many may be late as a whole, by ports that
// their units happen to share, before the size counts as too large.
constexpr double growth = 1.25;
constexpr int sets_of_size = 3;

}  // namespace

std::vector<double> stream_cycles(JobRun& run, const std::string& label,
                                  const std::vector<int>& sms, Place place,
                                  const SmStream& stream) {
  StreamProbe probe;
  const int under_way_bytes = stream.block_threads * stream.ilp * probe.element_bytes;
  require(stream.piece_bytes % static_cast<std::uint64_t>(under_way_bytes) == 0,
          "a piece of a stream must be whole");
  probe.path = stream.path;
  probe.blocks = run.info().sm_count;
  probe.block_threads = std::min(stream.block_threads, run.info().max_threads_per_block);
  probe.ilp = stream.ilp;
  probe.footprint_bytes = sms.size() * stream.piece_bytes;
  probe.passes = stream.passes;
  probe.place = place;
  probe.sms = sms;
  const Trace trace = run.ask(label, probe);
  std::vector<double> cycles;
  for (const int sm : sms) {
    const auto lane = std::ranges::find(trace.lanes, sm, &LaneTrace::sm);
    require(lane != trace.lanes.end(), "a stream left out one of its SMs");
    cycles.push_back(static_cast<double>(lane->elapsed_cycles));
  }
  return cycles;
}

PortTrials::PortTrials(JobRun& run, std::vector<std::vector<int>> sms_of_unit)
    : run_(run), sms_of_unit_(std::move(sms_of_unit)) {
  alone_cycles_ = play_alone(draw_replicate(run, "streams", 0).place);
  const std::vector<double> again = play_alone(draw_replicate(run, "streams", 1).place);
  std::vector<double> differences;
  for (std::size_t sm = 0; sm < again.size(); ++sm) {
    if (std::isnan(again[sm])) continue;
    differences.push_back(std::abs(again[sm] / alone_cycles_[sm] - 1));
    alone_cycles_[sm] = (alone_cycles_[sm] + again[sm]) / 2;
  }
  // The median of the absolute difference of two normal values is 0.954 standard deviations.
  limits_ = choose_limits(median(std::move(differences)) / 0.954);
}

std::vector<double> PortTrials::play_alone(Place place) {
  std::vector<double> cycles(static_cast<std::size_t>(run_.info().sm_count), NAN);
  for (const std::vector<int>& sms : sms_of_unit_) {
    const std::vector<double> alone = stream_cycles(run_, "stream alone", sms, place);
    for (std::size_t i = 0; i < sms.size(); ++i) {
      cycles[static_cast<std::size_t>(sms[i])] = alone[i];
    }
  }
  return cycles;
}

PortTrial PortTrials::play(std::vector<std::size_t> units) {
  std::vector<int> sms;
  for (const std::size_t unit : units) {
    sms.insert(sms.end(), sms_of_unit_[unit].begin(), sms_of_unit_[unit].end());
  }
  const std::vector<double> cycles =
      stream_cycles(run_, "streams at once", sms, draw_replicate(run_, "streams", 0).place);
  PortTrial trial{std::move(units), {}};
  std::size_t at = 0;
  for (const std::size_t unit : trial.units) {
    double sum = 0;
    for (const int sm : sms_of_unit_[unit]) {
      sum += cycles[at++] / alone_cycles_[static_cast<std::size_t>(sm)];
    }
    trial.slowdowns.push_back(sum / static_cast<double>(sms_of_unit_[unit].size()));
  }
  return trial;
}

std::size_t PortTrials::find_most_at_once(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::size_t> all(units());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::size_t most = 1;
  for (double size = 2; most < units(); size *= growth) {
    const std::size_t wanted = std::min(units(), static_cast<std::size_t>(size));
    if (wanted == most) continue;
    bool is_borne = false;
    for (int i = 0; i < sets_of_size && !is_borne; ++i) {
      shuffle(all, random);
      const PortTrial trial =
          play({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted)});
      is_borne = !split_paces(trial, limits_).fast.empty();
    }
    if (!is_borne) return most;
    most = wanted;
  }
  return most;
}

}  // namespace sonde
