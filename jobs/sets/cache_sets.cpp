// From conflicts to findings on sets.
#include "jobs/sets/cache_sets.hpp"

#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/sets/inner_evictors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

namespace sonde {
namespace {

// Physical memory is contiguous within pages of this size at least (CUDA driver API).
constexpr std::uint64_t large_page_bytes = 2_MiB;
constexpr std::uint64_t spans_of_cache = 16;
// Each set has twice as many lines in a large page as it has ways: enough to overfill any.
constexpr std::uint64_t least_spans = 2;
// Sets that other chases contradict so often are none.
constexpr double least_agreement = 0.95;
constexpr std::array set_metrics{".sets", ".ways", ".ways_per_set", ".tag_reach_bytes",
                                 ".index_function"};
constexpr std::array replacement_metrics{".replacement", ".way_probability"};

std::string explain(const SetLayout& sets) {
  constexpr std::size_t most_listed = 20;
  const Lines& lines = sets.conflict->lines;
  std::string text = fmt::format("{} lines make the smallest set that overflows", lines.size());
  if (lines.size() <= most_listed) text += fmt::format(" (at {:#x})", fmt::join(lines, ", "));
  text += fmt::format("; {:.2f} % of {} sets in other walks did as predicted", 100 * sets.agreement,
                      sets.checked_sets);
  return text;
}

/// What the winner explains, and the best of the others.
std::string explain(const ReplacementFit& fit) {
  const PolicyScore* second = nullptr;
  for (const PolicyScore& score : fit.scores) {
    if (score.policy != *fit.policy && (!second || score.agreement > second->agreement)) {
      second = &score;
    }
  }
  std::string text = fit.reason.empty() ? std::string() : fit.reason + "; ";
  text += fmt::format("explains {:.2f} % of the visits", 100 * fit.agreement);
  if (second != nullptr) {
    text += fmt::format(", {} {:.2f} %", to_text(second->policy), 100 * second->agreement);
  }
  return text;
}

bool is_confirmed(const SetLayout& sets) {
  return sets.resolved() && sets.agreement >= least_agreement;
}

double mean_ways(const SetLayout& sets) {
  return static_cast<double>(sets.lines()) / static_cast<double>(sets.ways_per_set.size());
}

}  // namespace

bool SetFindings::confirmed() const { return is_confirmed(sets); }

LinePool choose_line_pool(const CacheUnderTest& cache, std::uint64_t size_bytes,
                          std::uint64_t line_bytes, std::uint64_t span_limit_bytes) {
  // Beyond one large page, physical pages may lie elsewhere at every launch.
  const std::uint64_t wanted = size_bytes * least_spans <= large_page_bytes
                                   ? large_page_bytes
                                   : std::bit_ceil(size_bytes * spans_of_cache);
  const std::uint64_t span = std::min(wanted, std::bit_floor(span_limit_bytes));
  return {.line_bytes = line_bytes,
          .span_bytes = span,
          .cached_lines = size_bytes / line_bytes,
          .seed = derive_seed(cache.seed, "sets")};
}

SetLayout measure_sets(JobRun& run, const ConflictSetup& setup, const LinePool& space) {
  return find_set_layout(space, ask_device(run, setup));
}

double confirm_sets(JobRun& run, const ConflictSetup& setup, const LinePool& space,
                    const SetLayout& sets) {
  constexpr std::uint64_t asked_sets = 32;
  if (sets.index.kind == IndexKind::unresolved) return 0;
  const std::size_t ways = sets.conflict->ways();
  std::vector<Lines> lists;
  Random random(derive_seed(space.seed, "confirm"));
  for (std::uint64_t i = 0; i < asked_sets; ++i) {
    const std::uint64_t set = random.below(sets.index.sets);
    lists.push_back(lines_of_set(sets.index, space, set, ways));
    lists.push_back(lines_of_set(sets.index, space, set, ways + 1));
  }
  const std::vector<MissCounts> answers = ask_device(run, setup)(lists);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    right += overflows(answers[i]) == (lists[i].size() > ways);
  }
  return static_cast<double>(right) / static_cast<double>(lists.size());
}

std::uint64_t measure_filled(JobRun& run, const ConflictSetup& setup, const LinePool& space,
                             const SetLayout& sets) {
  constexpr std::size_t lines_per_slow_one = 1000;  // a slow hit hardly repeats at its line
  if (!sets.resolved() || sets.index.kind == IndexKind::unresolved || !space.co_resident.empty() ||
      sets.ways_per_set.front() != sets.ways_per_set.back()) {
    return 0;
  }
  std::vector<std::uint32_t> ways_left(sets.index.sets, sets.ways_per_set.front());
  Lines lines;
  for (std::uint64_t line = 0; line < space.span_bytes && lines.size() < sets.lines();
       line += space.line_bytes) {
    std::uint32_t& left = ways_left[set_of(sets.index, line)];
    if (left == 0) continue;
    --left;
    lines.push_back(line);
  }
  if (lines.size() < sets.lines()) return 0;
  const MissCounts counts = ask_device(run, setup)(std::span(&lines, 1)).front();
  std::size_t missing = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) missing += misses_again(counts, i);
  return missing * lines_per_slow_one <= lines.size() ? lines.size() * space.line_bytes : 0;
}

void report_sets(JobRun& run, const std::string& cache, const SetLayout& sets,
                 std::uint64_t line_bytes) {
  if (!sets.resolved()) {
    for (const char* metric : set_metrics) {
      run.report(not_resolvable(cache + metric, sets.reason));
    }
    return;
  }
  if (!is_confirmed(sets)) {
    for (const char* metric : set_metrics) {
      run.report(not_resolvable(cache + metric, "found, but not confirmed: " + explain(sets)));
    }
    return;
  }
  const auto report = [&](const char* metric, Value value, std::string reason) {
    Finding finding = found(cache + metric, std::move(value), sets.agreement, sets.checked_sets);
    finding.reason = std::move(reason);
    run.report(std::move(finding));
  };
  report(".sets", static_cast<double>(sets.ways_per_set.size()), explain(sets));
  report(".ways", mean_ways(sets), {});
  report(".ways_per_set", std::vector<double>(sets.ways_per_set.begin(), sets.ways_per_set.end()),
         {});
  report(".tag_reach_bytes", static_cast<double>(sets.lines() * line_bytes), {});
  if (sets.index.kind == IndexKind::unresolved) {
    run.report(not_resolvable(cache + ".index_function", sets.index.reason));
    return;
  }
  std::string seen =
      fmt::format("seen of the address: bits {}-{}", std::countr_zero(sets.index.known_bits),
                  std::bit_width(sets.index.known_bits) - 1);
  if (sets.index.origin_bytes > 0) {
    seen += fmt::format(", if the buffer starts at {}",
                        format_bytes(static_cast<double>(sets.index.origin_bytes)));
  }
  report(".index_function", describe(sets.index), std::move(seen));
}

void report_replacement(JobRun& run, const std::string& cache, const ReplacementFit& fit) {
  const auto samples = static_cast<std::uint64_t>(fit.scores.size());
  if (!fit.policy || !fit.alike.empty()) {
    run.report(not_resolvable(cache + ".replacement", fit.reason));
  } else {
    Finding finding =
        found(cache + ".replacement", std::string(to_text(*fit.policy)), fit.confidence, samples);
    finding.reason = explain(fit);
    run.report(std::move(finding));
  }
  if (!fit.policy && fit.alike.empty()) {
    run.report(not_resolvable(cache + ".way_probability", fit.reason));
    return;
  }
  if (fit.way_probability.empty()) {
    run.report(not_present(cache + ".way_probability", "victims are not drawn by lot"));
    return;
  }
  run.report(found(cache + ".way_probability", fit.way_probability, fit.confidence, samples));
}

void report_no_sets(JobRun& run, const std::string& cache, Status status,
                    const std::string& reason) {
  const auto report = [&](const std::string& metric) {
    run.report(status == Status::not_present ? not_present(metric, reason)
                                             : not_resolvable(metric, reason));
  };
  for (const char* metric : set_metrics) report(cache + metric);
  for (const char* metric : replacement_metrics) report(cache + metric);
}

namespace {

/// First caches are mostly virtually addressed: then lines of many pages show more bits of the
/// index. What they show counts if it holds and does not contradict what one page showed.
void look_further(JobRun& run, const ConflictSetup& setup, std::uint64_t size_bytes,
                  std::uint64_t limit_bytes, SetFindings& found) {
  constexpr std::size_t widest = 64;  // of more ways there are few sets, and little to see of bits
  if (!found.sets.conflict || found.sets.conflict->ways() > widest) return;
  LinePool wide = found.space;
  wide.span_bytes =
      std::min(std::bit_ceil(size_bytes * spans_of_cache), std::bit_floor(limit_bytes));
  if (wide.span_bytes <= found.space.span_bytes) return;
  SetLayout sets = measure_sets(run, setup, wide);
  if (!is_confirmed(sets)) return;
  if (found.sets.resolved() && found.sets.ways_per_set != sets.ways_per_set) return;
  found.space = wide;
  found.sets = std::move(sets);
}

}  // namespace

SetFindings characterize_sets(JobRun& run, const CacheUnderTest& cache, std::uint64_t size_bytes,
                              std::uint64_t line_bytes) {
  SetFindings found;
  const std::uint64_t limit_bytes =
      cache.space_bytes > 0 ? cache.space_bytes : run.info().memory_bytes / 4;
  found.space = choose_line_pool(cache, size_bytes, line_bytes, limit_bytes);
  Lines pass_evictors;
  if (cache.inner) {
    auto lines = find_pass_evictors(run, cache, size_bytes, line_bytes, found.space.span_bytes);
    if (!lines) {
      report_no_sets(run, cache.name, Status::not_resolvable,
                     "no compact region of lines pushes others out of the nearer caches and leaves "
                     "most of this one free");
      return found;
    }
    pass_evictors = std::move(*lines);
    found.space.co_resident = lines_under(pass_evictors, line_bytes);
  }
  const ConflictSetup setup = set_up_conflicts(run, cache, size_bytes, line_bytes, pass_evictors);
  found.sets = measure_sets(run, setup, found.space);
  if (cache.chase.path != LoadPath::cg && pass_evictors.empty()) {
    look_further(run, setup, size_bytes, limit_bytes, found);
  }
  report_sets(run, cache.name, found.sets, line_bytes);
  if (found.sets.resolved()) {
    found.filled_bytes = measure_filled(run, setup, found.space, found.sets);
    found.replacement = measure_replacement(run, setup, found.space, found.sets);
    report_replacement(run, cache.name, *found.replacement);
    return found;
  }
  for (const char* metric : replacement_metrics) {
    run.report(not_resolvable(cache.name + metric, "no set is known to be walked alone"));
  }
  return found;
}

}  // namespace sonde
