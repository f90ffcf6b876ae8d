// Job `sharing`: which SMs share each cache, which caches of different load paths are one array,
// and which caches hold constants and code. Method: docs/methods/sharing.md.
#include "analysis/sharing.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/cache/path_levels.hpp"
#include "jobs/run/known_groups.hpp"
#include "jobs/sharing/arrays.hpp"
#include "jobs/sharing/scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace sonde {
namespace {

/// A cache that other jobs report, and how to chase it.
struct KnownCache {
  std::string_view name;
  LoadPath path;
  RecordSpace record_space;
  std::string_view before = "";  // the inner cache of the path
};

constexpr std::array known_caches{
    KnownCache{"l1", LoadPath::all_levels, RecordSpace::with_largest_l1},
    KnownCache{"readonly", LoadPath::read_only, RecordSpace::with_largest_l1},
    KnownCache{"texture_l1", LoadPath::texture_1d, RecordSpace::with_largest_l1},
    KnownCache{"texture_l2", LoadPath::texture_1d, RecordSpace::with_largest_l1, "texture_l1"},
    KnownCache{"constant_l1", LoadPath::constant, RecordSpace::longest},
    KnownCache{"constant_l2", LoadPath::constant, RecordSpace::longest, "constant_l1"},
    KnownCache{"constant_l3", LoadPath::constant, RecordSpace::longest, "constant_l2"},
    KnownCache{"instruction_l0", LoadPath::instruction, RecordSpace::longest},
    KnownCache{"instruction_l1", LoadPath::instruction, RecordSpace::longest, "instruction_l0"},
    KnownCache{"instruction_l2", LoadPath::instruction, RecordSpace::longest, "instruction_l1"},
    KnownCache{"instruction_l3", LoadPath::instruction, RecordSpace::longest, "instruction_l2"}};

constexpr std::array constant_caches{"constant_l1", "constant_l2", "constant_l3"};
constexpr std::array code_caches{"instruction_l0", "instruction_l1", "instruction_l2",
                                 "instruction_l3"};

struct CachePair {
  const char* one;
  const char* other;
};
constexpr std::array pairs{
    CachePair{"l1", "readonly"},          CachePair{"l1", "texture_l1"},
    CachePair{"readonly", "texture_l1"},  CachePair{"l1", "constant_l1"},
    CachePair{"readonly", "constant_l1"}, CachePair{"texture_l1", "constant_l1"}};

/// A cache, or why its sharing is not known.
struct Candidate {
  std::optional<SharedCache> shared = {};
  Status status = Status::not_resolvable;
  std::string reason = {};
};
using Candidates = std::map<std::string, Candidate, std::less<>>;

/// Size of the space of a path. A device that has less code refuses more.
std::uint64_t space_of(const ChaseSetup& setup) {
  if (setup.path == LoadPath::constant) return constant_bank_bytes;
  return setup.path == LoadPath::instruction ? most_code_bytes(setup) : 0;
}

/// What all chases through a cache have in common.
CoRunCache set_up_cache(JobRun& run, const KnownCache& known, double hit_cycles) {
  CoRunCache cache{.name = fmt::format("cache.{}", known.name),
                   .chase = set_up_chase(run, known.path, known.record_space)};
  cache.space_bytes = space_of(cache.chase);
  const auto before = run.number(fmt::format("cache.{}.hit_latency_cycles", known.before));
  if (before) cache.inner_cycles = (*before + hit_cycles) / 2;
  return cache;
}

/// A constant cache with hits but without misses, so that it holds the whole bank.
std::optional<CoRunCache> find_bank_holder(JobRun& run, const KnownCache& known) {
  const std::string name = fmt::format("cache.{}", known.name);
  const auto hit_cycles = run.number(name + ".hit_latency_cycles");
  const auto l2_cycles = run.number("cache.l2.hit_latency_cycles");
  if (known.path != LoadPath::constant || !hit_cycles || !l2_cycles) return std::nullopt;
  if (run.number(name + ".miss_latency_cycles")) return std::nullopt;
  CoRunCache cache = set_up_cache(run, known, *hit_cycles);
  cache.size_bytes = constant_bank_bytes;
  cache.line_bytes = common_line_bytes;
  cache.miss_cycles = (*hit_cycles + *l2_cycles) / 2;  // other caches may lie between
  return cache;
}

/// The shortest latency of a miss. The measured misses may have come from the memory if the L2
/// holds hardly more than the cache, while the L2 serves them here; or some waited for a
/// translation.
double shortest_miss_cycles(const JobRun& run, const Finding& miss, double hit_cycles) {
  double shortest = std::get<double>(miss.value);
  const auto take = [&](std::optional<double> cycles) {
    if (cycles && *cycles > hit_cycles) shortest = std::min(shortest, *cycles);
  };
  for (const double cycles : miss.modes) take(cycles);
  for (const char* behind : {"cache.l2.hit_latency_cycles", "latency.dram_cycles"})
    take(run.number(behind));
  return shortest;
}

Candidate find_candidate(JobRun& run, const KnownCache& known) {
  const std::string name = fmt::format("cache.{}", known.name);
  // If lines are lost gradually, the size that certainly stays.
  const auto size_bytes = run.number(name + ".size_bytes");
  const auto held_bytes = size_bytes ? size_bytes : run.number(name + ".first_miss_bytes");
  const auto step_bytes = step_of_cache(run, name);
  const auto hit_cycles = run.number(name + ".hit_latency_cycles");
  const auto miss_cycles = run.number(name + ".miss_latency_cycles");
  if (auto holder = find_bank_holder(run, known)) {
    return {.shared = SharedCache{.cache = std::move(*holder), .holds_bank = true}};
  }
  if (!hit_cycles || !miss_cycles) {
    const Finding* size = run.answer(name + ".size_bytes");
    const bool absent = size != nullptr && size->status == Status::not_present;
    return {.status = absent ? Status::not_present : Status::not_resolvable,
            .reason = absent ? size->reason : "its hit or miss latency is not known"};
  }
  CoRunCache cache = set_up_cache(run, known, *hit_cycles);
  cache.size_bytes = held_bytes.value_or(0);
  cache.size_confidence = size_bytes ? run.answer(name + ".size_bytes")->confidence : 0;
  cache.line_bytes = std::max(static_cast<std::uint64_t>(step_bytes.value_or(longest_line_bytes)),
                              access_bytes(known.path));
  cache.miss_cycles =
      (*hit_cycles +
       shortest_miss_cycles(run, *run.answer(name + ".miss_latency_cycles"), *hit_cycles)) /
      2;
  return {.shared = SharedCache{.cache = std::move(cache)}};
}

void report_scope(JobRun& run, const std::string& name, const CacheSharing& sharing) {
  const std::string prefix = "sharing." + name + ".";
  if (sharing.sms.empty()) {
    return run.leave_open(prefix, sharing.reason);
  }
  constexpr double confidence = 0.99;
  const int sm_count = run.info().sm_count;
  const auto report = [&](const char* metric, Value value, double sure, std::string remark) {
    Finding finding = found(prefix + metric, std::move(value), sure, sharing.probes);
    finding.replicates = 2;
    run.report(std::move(finding), std::move(remark));
  };
  report("sms", static_cast<double>(sharing.sms.size()), confidence,
         fmt::format("of {} SMs, {} share it with SM 0", sm_count, sharing.sms.size() - 1));
  const ScopeName scope = name_scope(sharing.sms, sm_count, known_groups(run));
  if (scope.name) {
    return report("scope", *scope.name, std::min(confidence, scope.confidence), scope.remark);
  }
  run.leave_open(
      prefix + "scope",
      fmt::format("{} of {} SMs share it, and which SMs form a TPC or a GPC is not known",
                  sharing.sms.size(), sm_count));
}

Candidates report_scopes(JobRun& run) {
  Candidates candidates;
  for (const KnownCache& known : known_caches) {
    const std::string name(known.name);
    Candidate& candidate = candidates[name] = find_candidate(run, known);
    if (!candidate.shared) {
      run.report_rest("sharing." + name + ".", candidate.status, candidate.reason);
      continue;
    }
    const CacheSharing sharing = find_cache_sharing(run, candidate.shared->cache);
    candidate.shared->sms = sharing.sms;
    report_scope(run, name, sharing);
  }
  return candidates;
}

void report_pair(JobRun& run, Candidates& candidates, const CachePair& pair) {
  const std::string metric = fmt::format("sharing.{}_{}", pair.one, pair.other);
  for (const char* name : {pair.one, pair.other}) {
    const Candidate& candidate = candidates.find(name)->second;
    if (candidate.shared) continue;
    return run.report(
        no_answer(metric, candidate.status, fmt::format("cache.{}: {}", name, candidate.reason)));
  }
  const ArrayVerdict verdict = compare_arrays(run, *candidates.find(pair.one)->second.shared,
                                              *candidates.find(pair.other)->second.shared);
  if (!verdict.one_array) return run.leave_open(metric, verdict.reason);
  run.report(found(metric, std::string(*verdict.one_array ? "yes" : "no"), verdict.confidence,
                   verdict.probes),
             verdict.reason);
}

/// Finds the cache of code that is one array with a constant cache (Wong 2010, figure 21).
void report_code(JobRun& run, Candidates& candidates, const char* constants) {
  const std::string metric = fmt::format("sharing.{}_code", constants);
  Candidate& bank = candidates.find(constants)->second;
  if (!bank.shared) return run.report(no_answer(metric, bank.status, bank.reason));
  std::string unknown;
  std::uint64_t probes = 0;
  double confidence = 0;  // of the least certain comparison; 0: there was none
  for (const char* name : code_caches) {
    Candidate& code = candidates.find(name)->second;
    if (!code.shared && code.status == Status::not_present) continue;
    if (!code.shared) {
      unknown = fmt::format("cache.{}: {}", name, code.reason);
      continue;
    }
    const ArrayVerdict verdict = compare_arrays(run, *bank.shared, *code.shared);
    probes += verdict.probes;
    if (verdict.one_array == true) {
      return run.report(metric, std::string(name), probes, verdict.confidence);
    }
    if (!verdict.one_array) unknown = verdict.reason;
    confidence = confidence == 0 ? verdict.confidence : std::min(confidence, verdict.confidence);
  }
  if (!unknown.empty()) return run.leave_open(metric, unknown);
  if (confidence == 0) return run.report(not_present(metric, "no cache of code was found"));
  run.report(metric, "no", probes, confidence);
}

/// Decides by the sizes that the L1 had with each carve-out.
void report_shared_memory(JobRun& run) {
  const char* metric = "sharing.l1_shared_memory";
  const auto carveout_bytes = run.vector("cache.l1.carveout_bytes");
  const auto size_bytes = run.vector("cache.l1.size_by_carveout_bytes");
  if (const Finding* l1 = run.answer("cache.l1.size_bytes");
      l1 != nullptr && l1->status == Status::not_present) {
    return run.report(not_present(metric, l1->reason));
  }
  if (!carveout_bytes || !size_bytes) {
    return run.leave_open(metric, "sizes of the L1 by carve-out are not known");
  }
  const auto shrinks = shrinks_with_carveout(*carveout_bytes, *size_bytes);
  if (!shrinks) {
    return run.leave_open(
        metric, "sizes of the L1 by carve-out follow neither rule, or there is one carve-out");
  }
  constexpr double confidence = 0.95;
  run.report(metric, *shrinks ? "yes" : "no", size_bytes->size(), confidence);
}

}  // namespace

void run_sharing(JobRun& run) {
  Candidates candidates = report_scopes(run);
  for (const CachePair& pair : pairs) report_pair(run, candidates, pair);
  for (const char* constants : constant_caches) report_code(run, candidates, constants);
  report_shared_memory(run);
}

}  // namespace sonde
