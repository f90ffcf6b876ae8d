// The suite: read this file to see all that sonde measures, then read one job.
#include "jobs/suite.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <set>

namespace sonde {

// Every job: one function, in the file of its name. It reports its findings by JobRun::report and
// throws only what a probe throws.
void run_device(JobRun& run);
void run_clock(JobRun& run);
void run_cache_l1(JobRun& run);
void run_cache_readonly(JobRun& run);
void run_cache_l2(JobRun& run);
void run_cache_texture_l1(JobRun& run);
void run_cache_texture_l2(JobRun& run);
void run_cache_constant_l1(JobRun& run);
void run_cache_constant_l2(JobRun& run);
void run_cache_constant_l3(JobRun& run);
void run_cache_instruction(JobRun& run);
void run_tlb(JobRun& run);
void run_latency(JobRun& run);
void run_chase(JobRun& run);
void run_topology(JobRun& run);
void run_placement(JobRun& run);
void run_slices(JobRun& run);
void run_sharing(JobRun& run);
void run_shared(JobRun& run);
void run_arithmetic(JobRun& run);
void run_dsm(JobRun& run);
void run_host(JobRun& run);
void run_control(JobRun& run);
void run_registers(JobRun& run);
void run_global_throughput(JobRun& run);
void run_l2_throughput(JobRun& run);
void run_bypass(JobRun& run);
void run_constant_throughput(JobRun& run);
void run_soak(JobRun& run);
void run_peer(JobRun& run);

namespace {

using enum SuiteLevel;

/// @param builds_on jobs whose findings it reads
template <class... Names>
constexpr Job make_job(std::string_view name, SuiteLevel level, void (*run)(JobRun&),
                       std::string_view summary, Names... builds_on) {
  return {
      .name = name, .summary = summary, .level = level, .run = run, .builds_on = {builds_on...}};
}

constexpr Job over_node(Job job) {
  job.reach = JobReach::node;
  job.sms = JobSms::all;
  return job;
}

constexpr Job over_all_sms(Job job) {
  job.sms = JobSms::all;
  return job;
}

template <std::size_t count>
constexpr Job with_options(Job job, const JobOption (&options)[count]) {
  job.options = options;
  return job;
}

constexpr JobOption of_chases[]{options::carveout_bytes};
constexpr JobOption of_streams[]{options::block_threads, options::blocks_per_sm, options::ilp};
constexpr JobOption of_operations[]{options::warps, options::ilp};
constexpr JobOption of_a_soak[]{
    {"duration_s", "s", 1, 86'400, {}, "60", "for how long the GPU is at work"}};

constexpr std::array jobs{
    over_all_sms(make_job("device", quick, run_device, "inventory and health of the GPU")),
    make_job("clock", quick, run_clock, "what reading the clock costs, its step and its scope"),
    with_options(make_job("cache.l1", quick, run_cache_l1,
                          "size, line, sector, sets, index and replacement of the L1", "clock"),
                 of_chases),
    with_options(make_job("cache.readonly", quick, run_cache_readonly,
                          "the same of the first cache of read-only loads", "clock", "cache.l1"),
                 of_chases),
    make_job("cache.l2", quick, run_cache_l2,
             "the same of the L2, and the partitions of a divided one", "clock"),
    make_job("cache.texture_l1", standard, run_cache_texture_l1,
             "structure of the first cache of texture fetches", "clock", "cache.l1", "cache.l2"),
    make_job("cache.texture_l2", standard, run_cache_texture_l2,
             "structure of the second cache of texture fetches", "clock", "cache.l2",
             "cache.texture_l1"),
    make_job("cache.constant_l1", standard, run_cache_constant_l1,
             "structure of the first cache of the constant bank", "clock", "cache.l2"),
    make_job("cache.constant_l2", standard, run_cache_constant_l2,
             "structure of the second cache of the constant bank", "clock", "cache.l2",
             "cache.constant_l1"),
    make_job("cache.constant_l3", standard, run_cache_constant_l3,
             "structure of the third cache of the constant bank", "clock", "cache.l2",
             "cache.constant_l2"),
    make_job("cache.instruction", standard, run_cache_instruction,
             "structure of the caches of code", "clock", "cache.l2"),
    over_all_sms(
        make_job("topology", standard, run_topology, "which SMs form TPCs and GPCs", "clock")),
    make_job("tlb", standard, run_tlb, "levels, reach and entries of the TLBs, page size", "clock",
             "topology"),
    with_options(make_job("latency", quick, run_latency,
                          "hit latency of each level per load path, the access patterns P1 to P6",
                          "clock", "cache.l1", "cache.readonly", "cache.l2", "tlb"),
                 of_chases),
    with_options(
        make_job("chase", full, run_chase,
                 "one chase of the footprint, stride, order, load path and carve-out that are set",
                 "clock"),
        options::of_one_chase),
    over_all_sms(make_job("placement", quick, run_placement,
                          "latencies and bandwidth by SM, and units that stand out", "clock",
                          "cache.l1", "cache.l2", "cache.constant_l1", "cache.constant_l2",
                          "cache.instruction", "topology")),
    over_all_sms(
        make_job("slices", standard, run_slices,
                 "which lines lie in which slice of the L2, by what function, and how far each is",
                 "clock", "cache.l2", "topology")),
    over_all_sms(make_job("sharing", standard, run_sharing,
                          "which SMs share each cache, and which load paths share one array",
                          "clock", "cache.l1", "cache.readonly", "cache.l2", "cache.texture_l1",
                          "cache.texture_l2", "cache.constant_l1", "cache.constant_l2",
                          "cache.constant_l3", "cache.instruction", "topology")),
    with_options(make_job("shared", quick, run_shared,
                          "latency, bank conflicts and throughput of shared memory", "clock"),
                 of_streams),
    with_options(make_job("arithmetic", standard, run_arithmetic,
                          "latency and throughput of operations, against warps and side by side"),
                 of_operations),
    over_all_sms(make_job("dsm", standard, run_dsm,
                          "latency and bandwidth of the shared memory of other blocks of a cluster",
                          "clock", "topology")),
    over_all_sms(make_job("control", standard, run_control,
                          "diverged warps, barriers, threads that wait for each other, sleeping",
                          "clock")),
    make_job("registers", standard, run_registers,
             "registers of an SM, and how many blocks it holds"),
    make_job("bypass", standard, run_bypass, "how many warps should use the L1, by access pattern",
             "clock", "cache.l1"),
    with_options(over_all_sms(make_job("global.throughput", quick, run_global_throughput,
                                       "read, write and copy bandwidth of global memory", "clock")),
                 of_streams),
    over_all_sms(make_job("l2.throughput", quick, run_l2_throughput,
                          "read and write bandwidth of the L2", "clock", "cache.l2")),
    over_all_sms(make_job("constant.throughput", standard, run_constant_throughput,
                          "bandwidth of the constant caches by number of blocks",
                          "cache.constant_l1", "cache.constant_l2", "cache.constant_l3",
                          "topology")),
    with_options(
        over_all_sms(make_job(
            "soak", full, run_soak,
            "reads and arithmetic until the GPU is warm: how rate, clock and temperature change")),
        of_a_soak),
    // Last of the jobs on one GPU: it looks for errors that earlier jobs caused.
    make_job("host", quick, run_host,
             "copies to and from the host, the state of the links, errors since the first job",
             "device", "clock"),
    over_node(make_job("peer", standard, run_peer,
                       "latency and bandwidth from GPU to GPU inside a node, by pair", "clock"))};

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

[[noreturn]] void fail_for_setting(const std::string& item) {
  std::vector<std::string> names;
  for (const Job& job : jobs) {
    for (const JobOption& option : job.options) {
      names.push_back(fmt::format("{}.{}", job.name, option.name));
    }
  }
  throw ConfigError(fmt::format(
      "'{}' is neither an option of the run nor of a job: write JOB.OPTION=VALUE (there are: {})",
      item, fmt::join(names, ", ")));
}

/// @returns the value in the form that the job reads
std::string check_setting(const std::string& name, const JobOption& option,
                          const std::string& text) {
  if (option.unit.empty()) {
    if (std::ranges::find(option.choices, text) != option.choices.end()) return text;
    throw ConfigError(
        fmt::format("{} must be one of {}, not '{}'", name, fmt::join(option.choices, ", "), text));
  }
  const auto number = parse_quantity(text);
  if (number && *number >= option.least && *number <= option.most &&
      std::trunc(*number) == *number) {
    return fmt::format("{:.0f}", *number);
  }
  throw ConfigError(fmt::format("{} must be a whole number of {:.0f} to {:.0f}{}, not '{}'", name,
                                option.least, option.most,
                                option.unit == "byte" ? " (such as 4KiB)" : "", text));
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

std::vector<const Job*> select_jobs_of_some_sms(const std::vector<const Job*>& jobs,
                                                const std::vector<std::string>& names) {
  std::vector<const Job*> selected;
  for (const Job* job : jobs) {
    if (job->sms == JobSms::any || !names.empty()) selected.push_back(job);
    if (job->sms == JobSms::any || std::ranges::find(names, job->name) == names.end()) continue;
    throw ConfigError(
        fmt::format("the job {} looks at all SMs at once: run it without --sms", job->name));
  }
  return selected;
}

const JobOption* find_job_option(std::string_view name) {
  for (const Job& job : jobs) {
    if (!name.starts_with(std::string(job.name) + ".")) continue;
    const auto option =
        std::ranges::find(job.options, name.substr(job.name.size() + 1), &JobOption::name);
    if (option != job.options.end()) return &*option;
  }
  return nullptr;
}

std::map<std::string, JobSettings> parse_job_settings(const std::vector<std::string>& items) {
  std::map<std::string, JobSettings> settings;
  for (const std::string& item : items) {
    const std::size_t mark = std::min(item.find('='), item.size());
    const std::string name = item.substr(0, mark);
    const JobOption* option = find_job_option(name);
    if (option == nullptr || mark == item.size()) fail_for_setting(item);
    const std::string job = name.substr(0, name.size() - option->name.size() - 1);
    settings[job][std::string(option->name)] = check_setting(name, *option, item.substr(mark + 1));
  }
  return settings;
}

JobOutcome run_job(const Job& job, Device& device, SuiteLevel level, std::uint64_t seed,
                   const std::vector<JobResult>& earlier, double time_limit_s,
                   const std::function<void()>& on_probe, const JobSettings& settings,
                   const NodeGpus& node) {
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
  run.set_settings(settings);
  run.set_node(node);
  Status status = Status::ok;
  std::string reason;
  bool device_lost = false;
  try {
    device.begin_job();
    job.run(run);
  } catch (const NoAnswer& error) {
    status = error.status;
    reason = error.what();
    run.report_rest("", status, reason);
  } catch (const ProbeTooLargeError& error) {
    status = Status::not_resolvable;  // not a failure: a second try would ask for as much
    reason = error.what();
    run.report_rest("", status, reason);
  } catch (const DeviceLostError& error) {
    status = Status::failed;
    reason = error.what();
    device_lost = true;
  } catch (const std::bad_alloc&) {
    status = Status::failed;
    reason = "the host has no memory left (the job asked for more) free some";
  } catch (const std::exception& error) {
    status = Status::failed;
    reason = error.what();
  }
  run.report_rest("", Status::failed,
                  reason.empty() ? "the job ended without an answer (a defect of sonde)" : reason);
  JobOutcome outcome{run.take_result(), device_lost};
  outcome.result.job = job.name;
  outcome.result.status = status;
  if (!reason.empty()) outcome.result.reason = reason;
  outcome.result.elapsed_s = elapsed_s();
  return outcome;
}

}  // namespace sonde
