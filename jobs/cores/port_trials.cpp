// Compares groups of SMs that read at once with what each SM gets alone.
#include "jobs/cores/port_trials.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/cores/chip_map.hpp"
#include "base/error.hpp"
#include "jobs/run/replicates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace sonde {
namespace {

using Units = std::vector<std::size_t>;

/// Other groups that run together with one. More than any GPU has GPCs, so that one of TPCs dealt
/// over the GPCs is in the same GPC; few enough for the L2 of every GPU so far.
constexpr std::size_t most_others = 16;

/// Streams of units (one or more SMs each), alone and together.
class PortTrials {
 public:
  /// Measures each unit alone at two places in memory; their difference is the noise.
  PortTrials(JobRun& run, const std::vector<std::vector<int>>& sms_of_unit)
      : run_(run), sms_of_unit_(sms_of_unit), alone_cycles_(play_alone(0)) {
    const std::vector<double> again = play_alone(1);
    std::vector<double> differences;
    for (std::size_t sm = 0; sm < again.size(); ++sm) {
      if (std::isnan(again[sm])) continue;
      differences.push_back(std::abs(again[sm] / alone_cycles_[sm] - 1));
      alone_cycles_[sm] = (alone_cycles_[sm] + again[sm]) / 2;
    }
    // The median of the absolute difference of two normal values is 0.954 standard deviations.
    const double noise = median(std::move(differences)) / 0.954;
    // A shared port slows its SMs down by a few percent at least; six deviations are no chance.
    fast_ = std::max(1.01, 1 + 3 * noise);
    slow_ = std::max(1.03, 1 + 6 * noise);
  }

  bool all_late(const std::vector<double>& slowdowns) const {
    return std::ranges::min(slowdowns) > slow_;
  }
  bool some_undisturbed(std::span<const double> slowdowns) const {
    return std::ranges::min(slowdowns) < fast_;
  }

  /// Runs all SMs of these units at once. Returns the time of each unit relative to it alone.
  std::vector<double> play(const Units& units) {
    std::vector<int> sms;
    for (const std::size_t unit : units) {
      sms.insert(sms.end(), sms_of_unit_[unit].begin(), sms_of_unit_[unit].end());
    }
    const std::vector<double> cycles = stream("streams at once", sms, 0);
    std::vector<double> slowdowns;
    std::size_t at = 0;
    for (const std::size_t unit : units) {
      double sum = 0;
      for (const int sm : sms_of_unit_[unit]) {
        sum += cycles[at++] / alone_cycles_[static_cast<std::size_t>(sm)];
      }
      slowdowns.push_back(sum / static_cast<double>(sms_of_unit_[unit].size()));
    }
    return slowdowns;
  }

 private:
  std::vector<double> stream(const char* label, const std::vector<int>& sms, std::size_t number) {
    return stream_cycles(run_, label, sms, draw_replicate(run_, "streams", number).place);
  }

  std::vector<double> play_alone(std::size_t number) {
    std::vector<double> cycles(static_cast<std::size_t>(run_.info().sm_count), NAN);
    for (const std::vector<int>& sms : sms_of_unit_) {
      const std::vector<double> alone = stream("stream alone", sms, number);
      for (std::size_t i = 0; i < sms.size(); ++i) {
        cycles[static_cast<std::size_t>(sms[i])] = alone[i];
      }
    }
    return cycles;
  }

  JobRun& run_;
  const std::vector<std::vector<int>>& sms_of_unit_;
  std::vector<double> alone_cycles_;  // by SM, while only its unit streams
  double fast_ = 0;                   // a unit with a smaller slowdown is undisturbed
  double slow_ = 0;                   // a unit with a larger slowdown is late
};

/// Whether a group slows down a unit of another group, tried with one unit each of the next `room`
/// groups. If what all SMs share (L2, memory) slows down every unit, `room` is reduced.
bool is_contradicted(PortTrials& trials, const std::vector<Units>& groups, std::size_t group,
                     std::size_t& room) {
  const std::size_t members = groups[group].size();
  for (;;) {
    Units set = groups[group];
    for (std::size_t i = 1; i <= std::min(room, groups.size() - 1); ++i) {
      set.push_back(groups[(group + i) % groups.size()].front());
    }
    const std::vector<double> slowdowns = trials.play(set);
    const auto of_others = std::span(slowdowns).subspan(members);
    if (of_others.size() <= 1 || trials.some_undisturbed(of_others)) {
      return holds_up_others(slowdowns, members);
    }
    room = of_others.size() / 2;
  }
}

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

PortCheck check_ports(JobRun& run, const std::vector<std::vector<int>>& sms_of_unit,
                      const std::vector<int>& group_of_unit) {
  std::map<int, Units> groups;
  for (std::size_t unit = 0; unit < group_of_unit.size(); ++unit) {
    if (group_of_unit[unit] >= 0) groups[group_of_unit[unit]].push_back(unit);
  }
  std::vector<Units> units_of_group;
  for (auto& [group, units] : groups) units_of_group.push_back(std::move(units));
  PortTrials trials(run, sms_of_unit);
  std::size_t room = most_others;
  PortCheck check;
  for (std::size_t group = 0; group < units_of_group.size(); ++group) {
    if (units_of_group[group].size() < 2) continue;
    ++check.groups;
    if (!trials.all_late(trials.play(units_of_group[group]))) continue;
    ++check.seen;
    check.contradicted += is_contradicted(trials, units_of_group, group, room);
  }
  return check;
}

}  // namespace sonde
