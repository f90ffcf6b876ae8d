// Pairs of SMs into the group that shares a TLB.
#include "jobs/tlb/scope.hpp"

#include "analysis/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Each of two SMs fills so much of the level: one alone fits, two do not, and even if one chases
// half as fast as the other, all entries of the other come in between its accesses.
constexpr double filling = 0.7;
// Together they overfill every set of a level that replaces the oldest: all entries miss. Where
// victims are drawn, fewer do.
constexpr double disturbed_share = 0.25;
constexpr std::uint64_t short_list = 256;
// SMs of one TPC (two; three on GT200) have numbers in a row.
constexpr std::size_t widest_tpc = 4;
// GPCs of GPUs with so many SMs that eight GPCs would fill them have at least as many: on an H200
// six SMs share the second TLB level, of sixteen or eighteen in a GPC.
constexpr std::size_t smallest_large_gpc = 8;

class PairChases {
 public:
  PairChases(JobRun& run, const PageChaseSetup& setup, const TlbGeometry& shape)
      : run_(run), shape_(shape) {
    const auto each = static_cast<std::uint64_t>(filling * static_cast<double>(shape.entries) + 1);
    span_bytes_ = 2 * each * shape.entry_bytes;
    setup_ = with_buffer(setup, std::max(span_bytes_, setup.chase.buffer_bytes));
    lists_ = {list(0, each), list(each, each)};
  }

  std::uint64_t span_bytes() const { return span_bytes_; }
  std::uint64_t entries() const { return lists_[0].size(); }

  /// Share of the entries that miss, for each lane. @param second: nobody, if negative
  std::vector<double> missing_shares(std::vector<PairLane> lanes) const {
    PairPasses passes{.warmup = 2, .timed = 15};
    if (entries() > short_list) passes = {.warmup = 2, .timed = 1, .most_pairs = 1024};
    const auto costs = pair_costs(run_, setup_, shape_.tlb.name + " scope", lanes, passes);
    std::vector<double> shares;
    for (const std::vector<double>& of_lane : costs) shares.push_back(missing_share(of_lane));
    return shares;
  }

  PairLane lane(int sm, std::size_t number) const { return {sm, lists_[number]}; }

 private:
  Offsets list(std::uint64_t first, std::uint64_t count) const {
    Lines entries;
    for (std::uint64_t i = first; i < first + count; ++i) entries.push_back(i * shape_.entry_bytes);
    Offsets places;
    for (std::size_t i : spread_accesses(shape_, entries)) {
      places.push_back(line_under(shape_, entries[i]));
    }
    return places;
  }

  double missing_share(const std::vector<double>& costs) const {
    const std::size_t positions = std::min<std::size_t>(entries(), costs.size());
    std::size_t missing = 0;
    for (std::size_t position = 0; position < positions; ++position) {
      std::vector<double> of_position;
      for (std::size_t i = position; i < costs.size(); i += positions) {
        of_position.push_back(costs[i]);
      }
      missing += median(std::move(of_position)) > shape_.tlb.level.threshold_cycles;
    }
    return static_cast<double>(missing) / static_cast<double>(positions);
  }

  JobRun& run_;
  const TlbGeometry& shape_;
  PageChaseSetup setup_;
  std::uint64_t span_bytes_ = 0;
  std::vector<Offsets> lists_;
};

/// What SM 0 and those that share with it are.
std::string_view name_scope(const std::vector<int>& sharing, int sm_count) {
  const auto count = sharing.size();
  if (count == 1) return "sm";
  if (count == static_cast<std::size_t>(sm_count)) return "device";
  const bool in_a_row = sharing.back() == static_cast<int>(count) - 1;
  if (in_a_row && count <= widest_tpc) return "tpc";
  const bool many_sms = static_cast<std::size_t>(sm_count) >= 8 * smallest_large_gpc;
  return many_sms && count < smallest_large_gpc ? "part of a gpc" : "gpc";
}

struct Sharing {
  std::vector<int> sms{0};
  std::size_t clear = 0;  // pairs of which both SMs, or neither, were disturbed
};

Sharing find_sharing(const PairChases& chases, int sm_count) {
  Sharing sharing;
  for (int sm = 1; sm < sm_count; ++sm) {
    const auto shares = chases.missing_shares({chases.lane(0, 0), chases.lane(sm, 1)});
    const bool first = shares[0] > disturbed_share;
    const bool second = shares[1] > disturbed_share;
    sharing.clear += first == second;
    if (first && second) sharing.sms.push_back(sm);
  }
  return sharing;
}

}  // namespace

void report_tlb_scope(JobRun& run, const PageChaseSetup& setup, const TlbGeometry& shape) {
  const std::string metric = shape.tlb.name + ".scope";
  const PairChases chases(run, setup, shape);
  const int sm_count = run.info().sm_count;
  if (chases.span_bytes() > setup.limit_bytes || chases.entries() <= shape.tlb.inner_entries) {
    run.report(not_resolvable(metric, chases.span_bytes() > setup.limit_bytes
                                          ? "two SMs cannot overfill it with the memory there is"
                                          : "what one SM may fill of it fits a nearer level"));
    return;
  }
  const double alone = std::max(chases.missing_shares({chases.lane(0, 0)})[0],
                                chases.missing_shares({chases.lane(0, 1)})[0]);
  const auto both = chases.missing_shares({chases.lane(0, 0), chases.lane(0, 1)});
  if (alone > disturbed_share || both[0] <= disturbed_share || both[1] <= disturbed_share) {
    run.report(not_resolvable(
        metric, fmt::format("of {} entries {:.0f} % miss when one SM walks them alone, and {:.0f} "
                            "% beside as many others of the same SM",
                            chases.entries(), 100 * alone, 100 * std::min(both[0], both[1]))));
    return;
  }
  const Sharing sharing = find_sharing(chases, sm_count);
  const auto pairs = static_cast<std::uint64_t>(sm_count - 1);
  const double confidence =
      pairs == 0 ? 0 : static_cast<double>(sharing.clear) / static_cast<double>(pairs);
  Finding scope = found(metric, std::string(name_scope(sharing.sms, sm_count)), confidence, pairs);
  scope.reason = fmt::format("of {} SMs, {} share it with SM 0", sm_count, sharing.sms.size() - 1);
  run.report(std::move(scope));
}

}  // namespace sonde
