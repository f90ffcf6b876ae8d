// Lanes that chase through far more memory than the L2 holds, on every SM.
#include "jobs/cache/data_pressure.hpp"

#include "analysis/structure/latency/latency_gaps.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/cache/l2_partitions.hpp"
#include "jobs/run/attempt.hpp"

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t recorded = 512;                            // of the chase
constexpr std::uint64_t fewest_lanes = 14;                         // of an SM
constexpr std::uint64_t most_lanes = 30;                           // with the chase one block each
constexpr std::uint64_t records_per_sm = fewest_lanes * recorded;  // of all lanes of an SM
constexpr std::uint64_t spans_of_l2 = 4;                           // that lanes read in all
constexpr std::uint64_t turnovers_of_l2 = 1;  // between two accesses to a line of the chase

/// Lines of the span in any order, in each somewhere: the L2's may be shorter.
Offsets data_lines(std::uint64_t first_line, std::uint64_t lines, Random& random) {
  Offsets offsets;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const std::uint64_t part = random.below(common_line_bytes / smallest_line_bytes);
    offsets.push_back((first_line + line) * common_line_bytes + part * smallest_line_bytes);
  }
  shuffle(offsets, random);
  return offsets;
}

/// SMs that surely read through the same partition of the L2 as that of the chase, itself included.
std::uint64_t sms_of_one_side(const JobRun& run) {
  constexpr std::uint64_t least_share = 4;  // of many SMs half are on each side
  const auto sms = static_cast<std::uint64_t>(run.info().sm_count);
  return l2_is_divided(run) ? std::max<std::uint64_t>(1, sms / least_share) : sms;
}

/// Lanes on all SMs; none if they are too few to read as many lines as the L2 has while the chase
/// accesses `accesses` lines.
std::vector<ChaseLane> data_lanes(const JobRun& run, std::uint64_t accesses) {
  const auto l2_bytes = static_cast<std::uint64_t>(
      run.number("cache.l2.size_bytes").value_or(static_cast<double>(run.info().l2_bytes)));
  const auto l2_line_bytes = static_cast<std::uint64_t>(
      run.number("cache.l2.line_bytes").value_or(static_cast<double>(common_line_bytes)));
  const std::uint64_t lanes_per_sm =
      std::clamp(records_per_sm / std::min(recorded, accesses), fewest_lanes, most_lanes);
  if (sms_of_one_side(run) * lanes_per_sm * accesses < turnovers_of_l2 * l2_bytes / l2_line_bytes)
    return {};
  const std::uint64_t lane_count = static_cast<std::uint64_t>(run.info().sm_count) * lanes_per_sm;
  const std::uint64_t lines = spans_of_l2 * l2_bytes / common_line_bytes / lane_count + 1;
  Random random(derive_seed(run.seed(), "under data"));
  std::vector<ChaseLane> lanes;
  for (int sm = 0; sm < run.info().sm_count; ++sm) {
    for (std::uint64_t i = 0; i < lanes_per_sm; ++i) {
      lanes.push_back({.sm = sm,
                       .offsets_bytes = data_lines(lanes.size() * lines, lines, random),
                       .path = LoadPath::past_l1});
    }
  }
  return lanes;
}

/// Latencies of a chase over the list while all SMs read. nullopt if they are too few for that, or
/// the device runs no two paths at once.
std::optional<std::vector<double>> chase_list_under_data(JobRun& run, const ChaseSetup& setup,
                                                         const std::string& label, Offsets list) {
  const std::uint64_t length = list.size();
  std::vector<ChaseLane> lanes = data_lanes(run, length);
  if (lanes.empty()) return std::nullopt;
  lanes.insert(lanes.begin(),
               {.sm = setup.sm, .offsets_bytes = std::move(list), .path = setup.path});
  LaneChases chases{.lanes = std::move(lanes),
                    .warmup_accesses = 2 * length,
                    .recorded_accesses = std::min(recorded, length),
                    .most_at_once = std::min(recorded, length),
                    .grouping = Grouping::all_at_once};
  std::optional<std::vector<double>> cycles;
  refusal_of([&] { cycles = record_lanes(run, setup, label, std::move(chases)).front(); });
  return cycles;
}

double share_up_to(const std::vector<double>& cycles, double bound_cycles) {
  return 1 - fraction_above({cycles.size(), cycles}, bound_cycles);
}

// Of a cache that is not the L2 all lines stay, of an LRU one that is none.
constexpr double most_stay = 0.8;
constexpr double most_leave = 0.4;

/// Every second block, at two places of a line in a row: code is fetched part by part, and policies
/// that mark a line when it hits (RRIP) keep it then.
Offsets fetch_by_parts(const Offsets& blocks) {
  Offsets parts;
  for (std::size_t i = 0; i < blocks.size(); i += 2) {
    parts.push_back(blocks[i] / common_line_bytes * common_line_bytes);
    parts.push_back(parts.back() + smallest_line_bytes);
  }
  return parts;
}

void keep_first_of_pairs(std::vector<double>& cycles) {
  for (std::size_t i = 0; 2 * i < cycles.size(); ++i) cycles[i] = cycles[2 * i];
  cycles.resize(cycles.size() / 2);
}

/// Whether the L2 loses lines of data, as many as those of the list, that are chased in the same
/// way: some policies keep what is asked for again and again.
bool l2_loses_data(JobRun& run, LoadPath path, const std::string& path_name, Offsets list) {
  const auto hit_cycles = run.number("cache.l2.hit_latency_cycles");
  const auto miss_cycles = run.number("cache.l2.miss_latency_cycles");
  if (!hit_cycles || !miss_cycles) return false;
  const bool by_parts = path == LoadPath::instruction;
  if (by_parts) list = fetch_by_parts(list);
  std::uint64_t end_bytes = 0;
  for (const ChaseLane& lane : data_lanes(run, list.size())) {
    end_bytes = std::max(end_bytes, std::ranges::max(lane.offsets_bytes) + common_line_bytes);
  }
  for (std::uint64_t& offset : list) offset += end_bytes;
  const ChaseSetup setup = set_up_chase(run, LoadPath::past_l1, RecordSpace::longest);
  auto cycles = chase_list_under_data(run, setup, path_name + " data under data", std::move(list));
  if (cycles && by_parts) keep_first_of_pairs(*cycles);
  return cycles && share_up_to(*cycles, (*hit_cycles + *miss_cycles) / 2) <= most_leave;
}

}  // namespace

UnderData chase_under_data(JobRun& run, const ChaseSetup& setup, const std::string& path_name,
                           const LatencyClass& found, std::uint64_t span_bytes) {
  const Offsets list =
      shuffled_order(span_bytes, std::max(smallest_line_bytes, access_bytes(setup.path)),
                     derive_seed(run.seed(), "under data"));
  auto cycles = chase_list_under_data(run, setup, path_name + " under data", list);
  if (!cycles) return UnderData::not_asked;
  // What inner caches hold is no matter.
  std::erase_if(*cycles,
                [&](double of_load) { return of_load < found.low_cycles - least_hit_gap_cycles; });
  if (cycles->empty()) return UnderData::not_asked;
  const double staying = share_up_to(*cycles, found.high_cycles + least_hit_gap_cycles);
  if (staying <= most_leave) return UnderData::leaves;
  const bool is_clear = staying >= most_stay && l2_loses_data(run, setup.path, path_name, list);
  return is_clear ? UnderData::survives : UnderData::not_told;
}

}  // namespace sonde
