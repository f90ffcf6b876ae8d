// Chases the same lists on all SMs and compares their answers.
#include "jobs/cache/every_sm.hpp"

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/sets/layout_check.hpp"
#include "base/random.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>

namespace sonde {
namespace {

/// Relative to the size on one SM: smaller caches overflow at the first, larger ones hold the
/// second.
constexpr std::array footprints{0.9, 1.2};
/// Number of groups of sets: all sets at once may not fit if the cache has more tags than data.
constexpr std::uint64_t set_groups = 4;
constexpr std::size_t policy_accesses = 1000;
constexpr std::size_t confirming_tries = 3;
// Number of answers by which an odd SM differs from most SMs, each time. A set overflows by a miss
// in every pass, which no outlier causes; a single access can be an outlier.
constexpr std::size_t odd_by_lines = 2;
constexpr std::size_t odd_by_sets = 1;
constexpr std::size_t odd_by_accesses = 10;

Lines lines_up_to(std::uint64_t span_bytes, std::uint64_t line_bytes) {
  Lines lines;
  for (std::uint64_t line = 0; line < span_bytes; line += line_bytes) lines.push_back(line);
  return lines;
}

using Answers = std::vector<std::vector<bool>>;

/// Which lines of the footprints each SM misses repeatedly.
Answers ask_footprints(CacheProbe& probe, std::uint64_t size_bytes) {
  Answers answers(static_cast<std::size_t>(probe.run().info().sm_count));
  for (const double footprint : footprints) {
    const auto span_bytes = static_cast<std::uint64_t>(footprint * static_cast<double>(size_bytes));
    const Lines lines =
        lines_up_to(std::min(span_bytes, probe.pool().span_bytes), probe.pool().line_bytes);
    const std::vector<MissCounts> counts = probe.ask_every_sm(lines);
    for (std::size_t sm = 0; sm < counts.size(); ++sm) {
      for (std::size_t i = 0; i < lines.size(); ++i) {
        answers[sm].push_back(misses_again(counts[sm], i));
      }
    }
  }
  return answers;
}

/// `count` lines of every set whose number is `group` modulo set_groups, set after set.
Lines list_sets(const SetFindings& found, std::uint64_t group, std::size_t count) {
  const std::vector<Lines> by_set = lines_by_set(found.layout.index, found.pool, count);
  Lines list;
  for (std::uint64_t set = group; set < by_set.size(); set += set_groups) {
    if (by_set[set].size() == count)
      list.insert(list.end(), by_set[set].begin(), by_set[set].end());
  }
  return list;
}

/// Adds whether each set of a list overflowed: a miss in every pass.
void add_overflows(const MissCounts& counts, std::size_t lines_of_set, std::vector<bool>& answers) {
  for (std::size_t first = 0; first < counts.misses.size(); first += lines_of_set) {
    const auto of_set = std::span(counts.misses).subspan(first, lines_of_set);
    answers.push_back(std::accumulate(of_set.begin(), of_set.end(), 0U) >= counts.passes);
  }
}

/// Which sets of each SM overflow with as many lines as ways, and which with one line more.
Answers ask_sets(CacheProbe& probe, const SetFindings& found, std::size_t& asked_sets) {
  const std::uint32_t ways = found.layout.ways_per_set.front();
  Answers answers(static_cast<std::size_t>(probe.run().info().sm_count));
  asked_sets = 0;
  for (std::uint64_t group = 0; group < set_groups; ++group) {
    for (const std::uint32_t count : {ways, ways + 1}) {
      const Lines list = list_sets(found, group, count);
      if (list.empty()) continue;
      if (count == ways) asked_sets += list.size() / count;
      const std::vector<MissCounts> counts = probe.ask_every_sm(list);
      for (std::size_t sm = 0; sm < counts.size(); ++sm)
        add_overflows(counts[sm], count, answers[sm]);
    }
  }
  return answers;
}

/// Which accesses of a chase over one set miss on each SM; empty if the set has too few lines.
Answers ask_policy(CacheProbe& probe, const SetFindings& found) {
  const std::uint32_t ways = found.layout.ways_per_set.front();
  const std::size_t wanted = policy_trace_lines(ways);
  const Lines lines = choose_far_apart(
      lines_of_set(found.layout.index, found.pool, 0, candidates_of_a_line * wanted), wanted);
  if (lines.size() < wanted) return {};
  const std::size_t length = std::min(policy_accesses, probe.longest_record(0));
  const std::vector<std::uint16_t> order =
      policy_trace(ways, length, derive_seed(probe.pool().seed, "every SM"));
  Answers answers;
  for (AccessRecord& record : probe.record_on_every_sm(lines, order)) {
    answers.push_back(std::move(record.missed));
  }
  return answers;
}

/// The SMs that every try finds, each with other memory. On an H200, wrong answers of many SMs came
/// in two tries in a row, and never in more.
template <class Find>
std::vector<int> find_again(JobRun& run, CacheProbe& probe, const Find& find) {
  std::vector<int> odd_sms = find(probe);
  for (std::size_t number = 1; number <= confirming_tries && !odd_sms.empty(); ++number) {
    CacheProbe elsewhere = probe.at_place(draw_replicate(run, "odd SMs", number).place);
    const std::vector<int> again = find(elsewhere);
    std::vector<int> both;
    std::ranges::set_intersection(odd_sms, again, std::back_inserter(both));
    odd_sms = std::move(both);
  }
  return odd_sms;
}

bool can_be_asked(const SetFindings& found) {
  const SetLayout& layout = found.layout;
  return found.confirmed() && can_number_sets(layout.index) &&
         layout.index.kind != IndexKind::unresolved && found.pool.co_resident.empty() &&
         layout.ways_per_set.front() == layout.ways_per_set.back();
}

}  // namespace

void leave_odd_sms(CacheUnderTest& cache, CacheGeometry& geometry) {
  CacheProbe probe(cache, geometry.size_bytes(), geometry.line_bytes);
  cache.odd_sms = find_again(cache.run, probe, [&](CacheProbe& asked) {
    return find_odd_sms(ask_footprints(asked, geometry.size_bytes()), odd_by_lines);
  });
  if (!std::ranges::binary_search(cache.odd_sms, cache.chase.sm)) return;
  cache.chase.sm = 0;
  while (std::ranges::binary_search(cache.odd_sms, cache.chase.sm)) ++cache.chase.sm;
  std::string reason;
  if (const auto elsewhere = measure_geometry(cache, reason)) {
    geometry = measure_size(cache, *elsewhere);
  }
}

void report_every_sm(const CacheUnderTest& cache, CacheProbe& probe, const SetFindings& found) {
  const std::string alike = cache.name + ".alike_sms";
  const std::string odd = cache.name + ".odd_sms";
  if (!can_be_asked(found) || probe.sharing_sms() == 0) {
    const std::string reason = probe.sharing_sms() == 0
                                   ? "SMs share it, so no SM can be measured alone"
                                   : "no sets were found that could be looked for on other SMs";
    cache.run.report(not_resolvable(alike, reason));
    return cache.run.report(not_resolvable(odd, reason));
  }
  std::vector<int> odd_sms = cache.odd_sms;
  const auto add = [&odd_sms](const std::vector<int>& more) {
    odd_sms.insert(odd_sms.end(), more.begin(), more.end());
  };
  std::size_t asked_sets = 0;
  add(find_again(cache.run, probe, [&](CacheProbe& asked) {
    return find_odd_sms(ask_sets(asked, found, asked_sets), odd_by_sets);
  }));
  const bool by_rule =
      found.replacement && found.replacement->policy && found.replacement->way_probability.empty();
  if (by_rule) {
    add(find_again(cache.run, probe, [&](CacheProbe& asked) {
      return find_odd_sms(ask_policy(asked, found), odd_by_accesses);
    }));
  }
  std::ranges::sort(odd_sms);
  odd_sms.erase(std::unique(odd_sms.begin(), odd_sms.end()), odd_sms.end());
  const auto sms = static_cast<std::uint64_t>(cache.run.info().sm_count);
  cache.run.report(sonde::found(alike, static_cast<double>(sms - odd_sms.size()), 1, sms),
                   fmt::format("the ways of {} sets were measured on each SM{}", asked_sets,
                               by_rule ? ", and the replacement of one set" : ""));
  if (odd_sms.empty()) {
    return cache.run.report(not_present(odd, "all SMs give the same result"));
  }
  cache.run.report(
      sonde::found(odd, std::vector<double>(odd_sms.begin(), odd_sms.end()), 1, sms),
      fmt::format("in every try, SM {} differed from most SMs", fmt::join(odd_sms, ", ")));
}

}  // namespace sonde
