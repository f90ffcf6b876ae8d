// What a search for sets asks of the hardware: one interface, with a child for caches and one for
// levels of a TLB. The search (jobs/sets/search) and the match of replacement policies
// (jobs/sets/replacement) know nothing else. A "line" of a TLB is an entry.
#pragma once

#include "analysis/structure/replacement/match.hpp"
#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "base/error.hpp"
#include "jobs/run/job_run.hpp"

#include <optional>
#include <string>

namespace sonde {

/// The device has been at work on a search for longer than it may, or on more accesses.
class SearchOverTime : public Error {
 public:
  SearchOverTime()
      : Error("the search for sets was ended: the GPU was at work on it for too long") {}
};

/// The inner-level eviction list per pass: accessed in every pass behind each list that a search
/// asks about, it pushes the list's lines out of the inner levels, which would else answer for
/// them. Empty where there are no inner levels.
struct PassEvictors {
  Lines accessed = {};
  Lines co_resident = {};  // lines of the level under test that they take
  Lines excluded = {};   // others that no list may hold: inner levels keep them with those accessed
  std::size_t busy = 0;  // of `accessed`, at its end: they always miss, and keep room taken
};

/// What was found out about the sets of a cache or of a TLB level.
struct SetFindings {
  LinePool pool;
  PassEvictors pass_evictors = {};
  SetLayout layout = {};
  /// As many lines of every set as it has ways, which stay together; empty: not known.
  Lines filled = {};
  std::optional<ReplacementFit> replacement = {};  // if a set could be accessed alone
  double line_confidence = 1;                      // in the lines of the pool; sets are no surer
  std::string reason = {};                         // why metrics are left without a finding

  /// What the cache holds, if those do.
  std::uint64_t filled_bytes() const { return filled.size() * pool.line_bytes; }
  /// Other chases did as these sets predict.
  bool confirmed() const {
    constexpr double least_agreement = 0.95;  // sets contradicted more often are none
    return layout.resolved() && layout.checked.share() >= least_agreement;
  }
};

class SetsProbe {
 public:
  /// What a search is to do that follows from what is under test.
  struct Traits {
    std::string name;  // prefix of the metrics
    LinePool pool;     // lines to search with
    /// Lines of a set to choose each recorded one from: those far apart, out of reach of a
    /// prefetcher.
    std::size_t choice = 1;
    std::size_t most_accesses = 8000;  // of a chase that tells policies apart
    std::uint64_t trace_seed = 0;      // of those chases
    std::uint32_t compared_sets = 3;   // whose policies are compared
    bool may_have_room = false;        // besides its sets, which any overfull one may take
    bool measures_filled = false;  // whether lines of all sets are to be held against the capacity
  };

  virtual ~SetsProbe() = default;
  JobRun& run() const { return run_; }
  const Traits& traits() const { return traits_; }
  const std::string& name() const { return traits_.name; }
  const LinePool& pool() const { return traits_.pool; }

  /// As few lines as possible that end at `end_bytes`, take at most half of the level under test
  /// and push others out of the inner ones. Found by trying, as nothing is known of how those
  /// replace; nullopt if none do.
  virtual std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) = 0;

  /// Others, none of them among the first, to see which sets the first ones lie in. nullopt if
  /// there are none, or where none are needed.
  virtual std::optional<PassEvictors> find_other_pass_evictors(const PassEvictors& /*first*/) {
    return std::nullopt;
  }

  /// Lets several SMs answer at once, if that is shown not to disturb. @pre nothing asked before
  virtual void spread_over_sms(const PassEvictors& /*pass_evictors*/) {}

  /// Chases each list on its own, the pass evictors behind it, until that is steady, and then some
  /// passes more: what missed?
  virtual std::vector<MissCounts> ask(std::span<const Lines> lists,
                                      const PassEvictors& pass_evictors) = 0;

  /// Lines of many more pages, where addresses allow them, that show more bits of the index.
  virtual std::optional<LinePool> widen_pool(const SetFindings& /*found*/) const {
    return std::nullopt;
  }

  /// The inner-level eviction list per access: lines of other sets that, accessed after each access
  /// to one of `lines`, all of one set, push it out of the inner levels before its next access.
  /// nullopt if none are found; empty where there are no inner levels.
  virtual std::optional<Lines> find_access_evictors(const SetFindings& found,
                                                    const Lines& lines) = 0;

  /// Most accesses of one recorded chase; behind each, so many evictors are accessed.
  virtual std::size_t longest_record(std::size_t access_evictors) const = 0;

  /// Whether a single access tells a miss from a hit, as chases of random replacement need.
  virtual bool is_clear() const { return true; }

  /// One chase over `lines` in each of the orders, once, from an empty set. Behind each access the
  /// access evictors are accessed.
  virtual std::vector<AccessRecord> record(const Lines& lines, const Lines& access_evictors,
                                           std::vector<std::vector<std::uint16_t>> orders) = 0;

 protected:
  SetsProbe(JobRun& run, Traits traits) : run_(run), traits_(std::move(traits)) {}

 private:
  JobRun& run_;
  Traits traits_;
};

/// The probe as the oracle of analysis/structure/sets. @pre the probe outlives it
inline MissOracle ask_behind(SetsProbe& probe, PassEvictors pass_evictors) {
  return [&probe, pass_evictors = std::move(pass_evictors)](std::span<const Lines> lists) {
    return probe.ask(lists, pass_evictors);
  };
}

}  // namespace sonde
