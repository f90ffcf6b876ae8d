// Lists of lines into chases, and their windows into counts of misses.
#include "jobs/sets/cache_probe.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sonde {
namespace {

// Replacement by lot needs some passes until lines of earlier probes are gone, and some more until
// every line of an overfull set has missed twice.
constexpr std::uint64_t many_passes = 8;
constexpr std::uint64_t few_passes = 3;
constexpr std::uint64_t short_list = 4096;
// Entries of a list may stand in shared memory co_resident their record, four bytes each.
constexpr std::uint64_t list_entry_bytes = 4;
constexpr std::size_t most_lanes = 256;

std::uint64_t passes_over(std::uint64_t length) {
  return length <= short_list ? many_passes : few_passes;
}

/// Most accesses that a lane with a list of this length can record.
std::uint64_t record_room(const ConflictSetup& setup, std::uint64_t length) {
  const std::uint64_t room = setup.cache.chase.recordable_accesses;
  const std::uint64_t list = length * list_entry_bytes / record_bytes;
  return list < room / 2 ? room - list : room;
}

/// Walks of one length, on as many SMs as there are: windows of `recorded` accesses after
/// `skipped`.
/// The traces of searches are too many to be kept whole.
enum class Evidence { kept_whole, of_a_search };

std::vector<std::vector<double>> chase_together(JobRun& run, const ConflictSetup& setup,
                                                std::span<const Offsets* const> chases,
                                                std::uint64_t skipped, std::uint64_t recorded,
                                                Evidence evidence) {
  const ChaseSetup& chase = setup.cache.chase;
  ChaseProbe probe;
  probe.path = chase.path;
  probe.shared_carveout_bytes = chase.shared_carveout_bytes;
  probe.buffer_bytes = chase.buffer_bytes;
  for (std::size_t i = 0; i < chases.size(); ++i) {
    if (chase.buffer_bytes == 0) {
      const std::uint64_t last = *std::max_element(chases[i]->begin(), chases[i]->end());
      probe.buffer_bytes = std::max(probe.buffer_bytes, last + code_block_bytes);
    }
    probe.lanes.push_back({.sm = setup.sms[i], .offsets_bytes = *chases[i]});
  }
  if (probe.path == LoadPath::constant) {
    probe.buffer_bytes = std::min(probe.buffer_bytes, constant_bank_bytes);
  }
  // Lines of the chase before this one would hit in a cache that outlives launches.
  if (evidence == Evidence::kept_whole) probe.preparation = Preparation::flushed;
  probe.warmup_accesses = skipped;
  probe.timed_accesses = recorded;
  probe.recorded_accesses = recorded;
  const Trace trace = evidence == Evidence::of_a_search
                          ? run.ask(setup.cache.name + " conflicts", probe)
                          : run.run(setup.cache.name + " replacement", probe);
  std::vector<std::vector<double>> latencies;
  for (const LaneTrace& lane : trace.lanes) {
    std::vector<double>& cycles = latencies.emplace_back();
    for (std::uint32_t window : lane.window_cycles) {
      cycles.push_back(window - chase.overhead_cycles);
    }
  }
  return latencies;
}

bool is_miss(const CacheUnderTest& cache, double cycles) {
  return cycles > cache.threshold_cycles && cycles <= cache.ceiling_cycles;
}

/// Counts for chases of one length over lists of one length, in as many launches as records need.
std::vector<MissCounts> count_misses(JobRun& run, const ConflictSetup& setup,
                                     std::span<const Offsets* const> chases, std::size_t listed) {
  const std::uint64_t length = chases.front()->size();
  const std::uint64_t passes = passes_over(length);
  const std::uint64_t room = record_room(setup, length);
  std::vector<MissCounts> counts(chases.size());
  for (MissCounts& count : counts) {
    count.misses.resize(listed);
    count.passes = static_cast<std::uint32_t>(passes);
  }
  std::vector<std::vector<bool>> pass_missed(chases.size(), std::vector<bool>(passes));
  for (std::uint64_t done = 0; done < passes * length;) {
    const std::uint64_t recorded = std::min(room, passes * length - done);
    const auto latencies =
        chase_together(run, setup, chases, passes * length + done, recorded, Evidence::of_a_search);
    for (std::size_t chase = 0; chase < chases.size(); ++chase) {
      for (std::uint64_t i = 0; i < recorded; ++i) {
        if (!is_miss(setup.cache, latencies[chase][i])) continue;
        pass_missed[chase][(done + i) / length] = true;
        const std::uint64_t position = (done + i) % length;
        if (position < listed) ++counts[chase].misses[position];
      }
    }
    done += recorded;
  }
  for (std::size_t chase = 0; chase < chases.size(); ++chase) {
    counts[chase].passes_with_misses = static_cast<std::uint32_t>(
        std::count(pass_missed[chase].begin(), pass_missed[chase].end(), true));
  }
  return counts;
}

/// A list of `lines` lines for each SM, each in memory of its own.
std::vector<Lines> lists_apart(std::size_t count, std::uint64_t lines, std::uint64_t line_bytes) {
  std::vector<Lines> lists;
  for (std::size_t i = 0; i < count; ++i) {
    Lines& list = lists.emplace_back();
    for (std::uint64_t line = 0; line < lines; ++line) {
      list.push_back((i * lines + line) * line_bytes);
    }
  }
  return lists;
}

bool disturb_each_other(JobRun& run, const ConflictSetup& setup, std::uint64_t lines,
                        std::uint64_t line_bytes) {
  const std::vector<MissCounts> counts =
      ask_device(run, setup)(lists_apart(setup.sms.size(), lines, line_bytes));
  return std::any_of(counts.begin(), counts.end(),
                     [](const MissCounts& count) { return overflows(count); });
}

}  // namespace

Lines lines_under(const Lines& offsets, std::uint64_t line_bytes) {
  std::set<std::uint64_t> lines;
  for (std::uint64_t offset : offsets) lines.insert(offset / line_bytes * line_bytes);
  return {lines.begin(), lines.end()};
}

MissOracle ask_device(JobRun& run, const ConflictSetup& setup) {
  return [&run, &setup](std::span<const Lines> lists) {
    std::map<std::size_t, std::vector<std::size_t>> by_length;
    std::vector<Offsets> chases(lists.begin(), lists.end());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      chases[i].insert(chases[i].end(), setup.pass_evictors.begin(), setup.pass_evictors.end());
      by_length[lists[i].size()].push_back(i);
    }
    std::vector<MissCounts> answers(lists.size());
    for (const auto& [length, numbers] : by_length) {
      for (std::size_t first = 0; first < numbers.size(); first += setup.sms.size()) {
        std::vector<const Offsets*> together;
        for (std::size_t i = first; i < std::min(first + setup.sms.size(), numbers.size()); ++i) {
          together.push_back(&chases[numbers[i]]);
        }
        std::vector<MissCounts> counts = count_misses(run, setup, together, length);
        for (std::size_t i = 0; i < counts.size(); ++i) {
          answers[numbers[first + i]] = std::move(counts[i]);
        }
      }
    }
    return answers;
  };
}

std::vector<std::vector<bool>> record_traces(JobRun& run, const ConflictSetup& setup,
                                             const std::vector<Offsets>& chases) {
  std::vector<std::vector<bool>> missed;
  for (std::size_t first = 0; first < chases.size(); first += setup.sms.size()) {
    std::vector<const Offsets*> together;
    for (std::size_t i = first; i < std::min(first + setup.sms.size(), chases.size()); ++i) {
      together.push_back(&chases[i]);
    }
    const auto latencies =
        chase_together(run, setup, together, 0, chases.front().size(), Evidence::kept_whole);
    for (const std::vector<double>& cycles : latencies) {
      std::vector<bool>& chase = missed.emplace_back();
      // Translations may add to a miss here: few lines, each in a page of its own.
      for (double latency : cycles) chase.push_back(latency > setup.cache.threshold_cycles);
    }
  }
  return missed;
}

ConflictSetup set_up_conflicts(JobRun& run, const CacheUnderTest& cache, std::uint64_t size_bytes,
                               std::uint64_t line_bytes, const Lines& pass_evictors) {
  constexpr double filling = 0.6;  // hashed sets overflow earlier than full ones
  constexpr int widest_group = 4;  // SMs that share a cache of the first level
  const auto filled =
      static_cast<std::uint64_t>(filling * static_cast<double>(size_bytes)) / line_bytes;
  // Two lists and what all share are to be more than fits.
  const std::uint64_t shared = lines_under(pass_evictors, line_bytes).size();
  const std::uint64_t lines = filled - std::min(filled, shared / 2);
  const std::uint64_t end_bytes =
      !pass_evictors.empty()  ? *std::min_element(pass_evictors.begin(), pass_evictors.end())
      : cache.space_bytes > 0 ? cache.space_bytes
                              : std::numeric_limits<std::uint64_t>::max();
  ConflictSetup setup{.cache = cache, .sms = {cache.chase.sm}, .pass_evictors = pass_evictors};
  for (int group = 1; group <= widest_group; ++group) {
    ConflictSetup apart = setup;
    apart.sms.clear();
    for (int sm = 0; sm < run.info().sm_count && apart.sms.size() < most_lanes; sm += group) {
      apart.sms.push_back(sm);
    }
    if (apart.sms.size() < 2) break;
    const bool room = apart.sms.size() * lines * line_bytes <= end_bytes;
    if (room && !disturb_each_other(run, apart, std::max<std::uint64_t>(1, lines), line_bytes)) {
      setup.sms = apart.sms;
      break;
    }
  }
  return setup;
}

}  // namespace sonde
