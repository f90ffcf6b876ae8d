// The interface between the search for sets and the hardware, with a child for caches and one for
// TLB levels. The search (jobs/sets/search) and the match of replacement policies
// (jobs/sets/replacement) know nothing else. For a TLB, a "line" is an entry.
#pragma once

#include "analysis/structure/replacement/match.hpp"
#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "base/error.hpp"
#include "jobs/run/job_run.hpp"

#include <optional>
#include <string>

namespace sonde {

/// The search exceeded its limit of device time or accesses.
class SearchOverTime : public Error {
 public:
  SearchOverTime() : Error("the search for sets was stopped: it took too much time of the GPU") {}
};

/// The inner-level eviction list per pass. Accessed after each list of a search in every pass, it
/// evicts the list from the inner levels, so that they do not answer. Empty if there are no inner
/// levels.
struct PassEvictors {
  Lines accessed = {};
  Lines co_resident = {};  // lines of the level under test that it occupies
  Lines excluded = {};     // no list may contain them: they share inner lines with `accessed`
  std::size_t busy = 0;    // the last of `accessed`, which always miss and keep extra room occupied
};

/// What is known about the sets of a cache or of a TLB level.
struct SetFindings {
  LinePool pool;
  PassEvictors pass_evictors = {};
  SetLayout layout = {};
  std::optional<ReplacementFit> replacement = {};  // if a set could be accessed alone
  double line_confidence = 1;                      // upper bound of the confidence in sets
  std::string reason = {};                         // why some metrics have no finding

  /// Whether other chases behaved as these sets predict.
  bool confirmed() const {
    constexpr double least_agreement = 0.95;  // sets that are contradicted more often are wrong
    return layout.resolved() && layout.checked.share() >= least_agreement;
  }
};

/// Candidates for each recorded line of a set: the chosen lines lie far apart, out of reach of
/// prefetchers.
inline constexpr std::size_t candidates_of_a_line = 8;

class SetsProbe {
 public:
  /// Properties of the cache or level that determine the search.
  struct Traits {
    std::string name;                  // prefix of the metrics
    LinePool pool;                     // lines to search with
    std::size_t most_accesses = 8000;  // of a chase that distinguishes policies
    std::uint32_t compared_sets = 3;   // number of sets whose policies are compared
    bool may_have_room = false;        // any overfull set may use extra room besides the sets
  };

  virtual ~SetsProbe() = default;
  JobRun& run() const { return run_; }
  const Traits& traits() const { return traits_; }
  const std::string& name() const { return traits_.name; }
  const LinePool& pool() const { return traits_.pool; }

  /// The fewest lines that end at `end_bytes`, evict other lines from the inner levels, and leave a
  /// quarter or more of the level under test free. Found by trial, as the policies of the inner
  /// levels are not known; nullopt if none is found.
  virtual std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) = 0;

  /// Pass evictors without any of the first ones, to find the sets of the first ones. nullopt if
  /// there are none, or none are needed.
  virtual std::optional<PassEvictors> find_other_pass_evictors(const PassEvictors& /*first*/) {
    return std::nullopt;
  }

  /// Lets several SMs answer at once if they do not disturb each other. @pre called before any ask
  virtual void spread_over_sms(const PassEvictors& /*pass_evictors*/) {}

  /// Chases each list, with the pass evictors after it, until it is steady, then counts misses in
  /// some further passes.
  virtual std::vector<MissCounts> ask(std::span<const Lines> lists,
                                      const PassEvictors& pass_evictors) = 0;

  /// Lines of many more pages, which show more bits of the index, if addresses allow that.
  virtual std::optional<LinePool> widen_pool(const SetFindings& /*found*/) const {
    return std::nullopt;
  }

  /// The inner-level eviction list per access: lines of other sets that, accessed after each access
  /// to one of `lines` (all of one set), evict it from the inner levels before its next access.
  /// nullopt if none are found; empty if there are no inner levels.
  virtual std::optional<Lines> find_access_evictors(const SetFindings& found,
                                                    const Lines& lines) = 0;

  /// Most accesses of a recorded chase with this many evictors after each access.
  virtual std::size_t longest_record(std::size_t access_evictors) const = 0;

  /// Whether a single access distinguishes a miss from a hit; random replacement needs that.
  virtual bool is_clear() const { return true; }

  /// Records one chase over `lines` in each order, each once, from an empty set, with the access
  /// evictors after each access.
  virtual std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                           std::vector<std::vector<std::uint16_t>> orders) = 0;

 protected:
  SetsProbe(JobRun& run, Traits traits) : run_(run), traits_(std::move(traits)) {}

 private:
  JobRun& run_;
  Traits traits_;
};

/// The probe in the form that analysis/structure/sets uses. @pre the probe outlives the result
inline MissOracle ask_behind(SetsProbe& probe, PassEvictors pass_evictors) {
  return [&probe, pass_evictors = std::move(pass_evictors)](std::span<const Lines> lists) {
    return probe.ask(lists, pass_evictors);
  };
}

}  // namespace sonde
