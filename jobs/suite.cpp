// The suite: read this file to see all that sonde measures, then one job.
#include "jobs/suite.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "jobs/jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace sonde {
namespace {

using enum SuiteLevel;

constexpr std::array jobs{
    Job{"device", "inventory and health of the GPU", quick, run_device},
    Job{"clock", "what reading the clock costs, its step and its scope", quick, run_clock},
    Job{"cache.l1",
        "size, line, sector, sets, index and replacement of the L1",
        quick,
        run_cache_l1,
        {"clock"}},
    Job{"cache.readonly",
        "the same of the first cache of read-only loads",
        quick,
        run_cache_readonly,
        {"clock"}},
    Job{"cache.l2",
        "the same of the L2, and the sides of a divided one",
        quick,
        run_cache_l2,
        {"clock"}},
    Job{"cache.texture_l1",
        "structure of the first cache of texture fetches",
        standard,
        run_cache_texture_l1,
        {"clock", "cache.l2"}},
    Job{"cache.texture_l2",
        "structure of the second cache of texture fetches",
        standard,
        run_cache_texture_l2,
        {"clock", "cache.l2", "cache.texture_l1"}},
    Job{"cache.constant_l1",
        "structure of the first cache of the constant bank",
        standard,
        run_cache_constant_l1,
        {"clock", "cache.l2"}},
    Job{"cache.constant_l2",
        "structure of the second cache of the constant bank",
        standard,
        run_cache_constant_l2,
        {"clock", "cache.l2", "cache.constant_l1"}},
    Job{"cache.constant_l3",
        "structure of the third cache of the constant bank",
        standard,
        run_cache_constant_l3,
        {"clock", "cache.l2", "cache.constant_l2"}},
    Job{"cache.instruction",
        "structure of the caches of code",
        standard,
        run_cache_instruction,
        {"clock", "cache.l2"}},
    Job{"tlb", "levels, reach and entries of the TLBs, page size", standard, run_tlb, {"clock"}},
    Job{"latency",
        "hit latency of each level per load path, the access patterns P1 to P6",
        quick,
        run_latency,
        {"clock", "cache.l1", "cache.readonly", "cache.l2", "tlb"}},
    Job{"placement",
        "latencies by SM, and which SMs form TPCs and GPCs",
        standard,
        run_placement,
        {"clock", "cache.l1", "cache.l2"}},
    Job{"shared",
        "latency, bank conflicts and throughput of shared memory",
        quick,
        run_shared,
        {"clock"}},
    Job{"global.throughput",
        "read, write and copy bandwidth of global memory",
        quick,
        run_global_throughput,
        {"clock"}},
    Job{"bypass",
        "how many warps should use the L1, by access pattern",
        standard,
        run_bypass,
        {"clock", "cache.l1"}},
};

const Job& find_job(std::string_view name) {
  for (const Job& job : jobs) {
    if (job.name == name) return job;
  }
  std::vector<std::string_view> names;
  for (const Job& job : jobs) names.push_back(job.name);
  throw ConfigError(fmt::format("unknown job '{}' (there are: {})", name, fmt::join(names, ", ")));
}

void add_with_prerequisites(const Job& job, std::set<std::string_view>& wanted) {
  if (!wanted.insert(job.name).second) return;
  for (std::string_view name : job.builds_on) {
    if (!name.empty()) add_with_prerequisites(find_job(name), wanted);
  }
}

class OverTime : public Error {
  using Error::Error;
};

}  // namespace

std::span<const Job> all_jobs() { return jobs; }

SuiteLevel parse_suite_level(std::string_view name) {
  if (const auto level = find_value(suite_level_names, name)) return *level;
  throw ConfigError(fmt::format("unknown suite '{}' (there are: {})", name,
                                fmt::join(list_names(suite_level_names), ", ")));
}

std::vector<const Job*> select_jobs(SuiteLevel level, const std::vector<std::string>& names) {
  std::set<std::string_view> wanted;
  for (const std::string& name : names) add_with_prerequisites(find_job(name), wanted);
  std::vector<const Job*> selected;
  for (const Job& job : jobs) {
    const bool is_wanted = names.empty() ? job.level <= level : wanted.contains(job.name);
    if (is_wanted) selected.push_back(&job);
  }
  return selected;
}

JobOutcome run_job(const Job& job, Device& device, SuiteLevel level, std::uint64_t seed,
                   const std::vector<JobResult>& earlier, double time_limit_s,
                   const std::function<void()>& on_probe) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed_s = [start] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  JobRun run(device, job.name, level, derive_seed(seed, job.name), earlier, [&] {
    if (on_probe) on_probe();
    if (elapsed_s() > time_limit_s) {
      throw OverTime(fmt::format("took longer than {:.0f} s (see --job-timeout-s)", time_limit_s));
    }
  });
  Status status = Status::ok;
  std::string reason;
  bool device_lost = false;
  try {
    job.run(run);
  } catch (const DeviceLostError& error) {
    status = Status::failed;
    reason = error.what();
    device_lost = true;
  } catch (const Error& error) {
    status = Status::failed;
    reason = error.what();
  }
  run.report_rest("", Status::failed,
                  reason.empty() ? "the job ended without an answer (a defect of sonde)" : reason);
  JobOutcome outcome{run.take_result(), device_lost};
  outcome.result.job = job.name;
  outcome.result.status = status;
  outcome.result.reason = reason;
  outcome.result.elapsed_s = elapsed_s();
  return outcome;
}

}  // namespace sonde
