// From a GPU to the verdicts on all that was found of it.
#include "sim/score/random_gpu_score.hpp"

#include "analysis/metrics.hpp"
#include "device/backends/open_device.hpp"
#include "device/sim/model/model_files.hpp"
#include "sim/score/declared_suite.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace sonde::test {
namespace {

/// The seven shipped models in turn.
std::string shipped_name(std::uint64_t seed) {
  const std::vector<std::string> names = sim::list_shipped();
  return names[seed % names.size()];
}

/// The model of a GPU, by name; that of a drawn one by a file that is there as long as this lives.
class ModelFile {
 public:
  explicit ModelFile(const GpuToScore& gpu) : path_(shipped_name(gpu.seed)) {
    if (gpu.population == Population::papers) return;
    path_ = folder_ / "drawn.json";
    std::ofstream(path_) << (gpu.population == Population::plausible ? draw_plausible_gpu(gpu.seed)
                                                                     : draw_gpu(gpu.seed));
  }
  std::string path() const { return path_.string(); }

 private:
  const TemporaryFolder folder_;
  std::filesystem::path path_;
};

const Finding* find_in(const std::vector<JobResult>& results, std::string_view metric) {
  for (const JobResult& result : results) {
    if (const Finding* finding = find_finding(result.findings, metric)) return finding;
  }
  return nullptr;
}

bool is_confident(const Finding* finding) {
  if (finding == nullptr || finding->confidence < high_confidence) return false;
  using enum Status;
  return finding->status == ok || finding->status == unstable || finding->status == not_present;
}

ScoredValue score(const DeclaredValue& declared, const Finding* finding, const std::string& gpu) {
  ScoredValue scored{.metric = declared.metric,
                     .verdict = judge(declared, finding),
                     .is_confident = is_confident(finding),
                     .line = {}};
  if (scored.verdict == Verdict::right) return scored;
  scored.line =
      fmt::format("{} {} of {}: declared {}, found {}",
                  scored.verdict == Verdict::wrong ? "WRONG" : "unresolved", declared.metric, gpu,
                  describe(declared.value), finding == nullptr ? "nothing" : describe(*finding));
  if (is_confident(finding) || (finding != nullptr && finding->confidence > 0)) {
    scored.line += fmt::format(" [confidence {:.2f}]", finding->confidence);
  }
  return scored;
}

/// What the jobs under test are asked for.
void judge_all(GpuScore& score_of_gpu, const std::vector<DeclaredValue>& declared,
               const std::vector<JobResult>& results, const ScoreOptions& options) {
  std::set<std::string_view> judged;
  const auto is_asked = [&](const Metric& metric) {
    return std::ranges::any_of(options.jobs,
                               [&](const Job* job) { return job->name == metric.job; });
  };
  for (const DeclaredValue& value : declared) {
    const Metric* metric = find_metric(value.metric);
    if (metric == nullptr || !is_asked(*metric)) continue;
    judged.insert(metric->name);
    score_of_gpu.values.push_back(score(value, find_in(results, value.metric), score_of_gpu.gpu));
  }
  for (const Metric& metric : all_metrics()) {
    if (is_asked(metric) && !judged.contains(metric.name)) {
      ++score_of_gpu.not_judged[std::string(metric.job)];
    }
  }
}

}  // namespace

std::string family_of(std::string_view metric) {
  const std::size_t first = metric.find('.');
  const bool is_cache = metric.substr(0, first) == "cache";
  return std::string(metric.substr(0, is_cache ? metric.find('.', first + 1) : first));
}

std::string describe(const GpuToScore& gpu) {
  switch (gpu.population) {
    case Population::papers: return fmt::format("papers {} ({})", gpu.seed, shipped_name(gpu.seed));
    case Population::plausible: return fmt::format("plausible {}", gpu.seed);
    case Population::odd: break;
  }
  return fmt::format("odd {}", gpu.seed);
}

GpuScore score_gpu(const GpuToScore& gpu, const ScoreOptions& options) {
  const ModelFile file(gpu);
  const BackendChoice backend = parse_backend("sim:" + file.path());
  const auto device =
      open_device(backend, list_visible_devices(backend, 0, gpu.seed).at(0), gpu.seed);
  GpuScore score_of_gpu{.gpu = describe(gpu)};
  std::vector<JobResult> results;
  for (const Job* job : options.jobs) {
    JobOutcome outcome =
        run_job(*job, *device, options.level, gpu.seed, results, options.job_limit_s, {});
    if (outcome.result.status == Status::failed) {
      score_of_gpu.lost_jobs.push_back(
          fmt::format("{} of {}: {}", job->name, score_of_gpu.gpu, outcome.result.reason));
    }
    score_of_gpu.job_seconds[outcome.result.job] = outcome.result.elapsed_s;
    results.push_back(std::move(outcome.result));
  }
  judge_all(score_of_gpu, declared_suite(sim::load_model(file.path()), gpu.seed, *device), results,
            options);
  return score_of_gpu;
}

}  // namespace sonde::test
