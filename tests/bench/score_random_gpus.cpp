// Simulated GPUs of a population or of model files, each measured by a whole suite in a process of
// its own: how many of the values that they declare come back, by family of metrics. Ends with 1 if
// a bar is missed.
#include "base/error.hpp"
#include "sim/score_table.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sonde::test {
namespace {

using nlohmann::json;

json to_json(const GpuScore& score) {
  json values = json::array();
  for (const ScoredValue& value : score.values) {
    values.push_back(
        {value.metric, static_cast<int>(value.verdict), value.is_confident, value.line});
  }
  return {{"values", values},
          {"lost_jobs", score.lost_jobs},
          {"job_seconds", score.job_seconds},
          {"not_judged", score.not_judged}};
}

GpuScore from_json(const GpuToScore& gpu, const json& text) {
  GpuScore score{.gpu = describe(gpu),
                 .lost_jobs = text["lost_jobs"],
                 .job_seconds = text["job_seconds"],
                 .not_judged = text["not_judged"]};
  for (const json& value : text["values"]) {
    score.values.push_back(
        {value[0], static_cast<Verdict>(value[1].get<int>()), value[2], value[3]});
  }
  return score;
}

struct Options {
  std::uint64_t first_seed = 1;
  std::uint64_t gpus = 400;
  Population population = Population::odd;
  std::filesystem::path written;
  unsigned processes = 1;
  unsigned gpu_limit_s = 1800;
  bool with_unresolved = false;
  std::vector<std::string> jobs;
  std::string suite = "standard";
  ScoreOptions score;
  Bars bars;
};

/// Runs seeds, so many at a time, and collects what the processes leave in a folder.
class Workers {
 public:
  Workers(const Options& options, ScoreTable& table) : options_(options), table_(table) {
    std::string made = (std::filesystem::temp_directory_path() / "sonde_scores_XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) throw Error("cannot make a folder for the scores");
    folder_ = made;
  }
  ~Workers() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void run(const std::vector<GpuToScore>& gpus) {
    for (const GpuToScore& gpu : gpus) {
      if (running_.size() >= options_.processes) collect();
      start(gpu);
    }
    while (!running_.empty()) collect();
  }

 private:
  std::filesystem::path file_of(const GpuToScore& gpu) const {
    return folder_ / (describe(gpu) + ".json");
  }

  void start(const GpuToScore& gpu) {
    const pid_t child = fork();
    if (child < 0) throw Error("cannot start a process");
    if (child > 0) {
      running_[child] = gpu;
      return;
    }
    alarm(options_.gpu_limit_s);
    try {
      std::ofstream(file_of(gpu)) << to_json(score_gpu(gpu, options_.score)).dump();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", describe(gpu), error.what());
      _exit(1);
    }
    _exit(0);
  }

  void collect() {
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    const auto found = running_.find(child);
    if (found == running_.end()) return;
    const GpuToScore gpu = found->second;
    running_.erase(found);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      const GpuScore score = from_json(gpu, json::parse(std::ifstream(file_of(gpu))));
      fmt::print(stderr, "{}: {} values, {} wrong, {} jobs lost\n", score.gpu, score.values.size(),
                 std::ranges::count(score.values, Verdict::wrong, &ScoredValue::verdict),
                 score.lost_jobs.size());
      table_.add(score);
      return;
    }
    const std::string why = WIFSIGNALED(status)
                                ? fmt::format("the process ended by signal {}", WTERMSIG(status))
                                : "the process failed";
    table_.add(score_lost_gpu(gpu, options_.score, why));
  }

  const Options& options_;
  ScoreTable& table_;
  std::filesystem::path folder_;
  std::map<pid_t, GpuToScore> running_;
};

/// The models of a folder, by name.
std::vector<GpuToScore> written_gpus(const std::filesystem::path& folder, std::uint64_t seed) {
  std::vector<GpuToScore> gpus;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") gpus.push_back({.seed = seed, .model = entry.path()});
  }
  std::ranges::sort(gpus, {}, &GpuToScore::model);
  return gpus;
}

std::vector<GpuToScore> gpus_to_score(const Options& options) {
  if (!options.written.empty()) return written_gpus(options.written, options.first_seed);
  std::vector<GpuToScore> gpus;
  for (std::uint64_t i = 0; i < options.gpus; ++i)
    gpus.push_back({.seed = options.first_seed + i, .population = options.population});
  return gpus;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--first-seed", options.first_seed, "1 to 999 are for development")
      ->capture_default_str();
  const std::map<std::string, Population> populations{{"papers", Population::papers},
                                                      {"plausible", Population::plausible},
                                                      {"odd", Population::odd}};
  app.add_option("--population", options.population,
                 "papers (the shipped models in turn), plausible (GT200 to Blackwell) or odd")
      ->transform(CLI::CheckedTransformer(populations))
      ->default_str("odd");
  app.add_option("--gpus", options.gpus, "how many are scored")->capture_default_str();
  app.add_option("--processes", options.processes, "GPUs at a time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "only these and what they build on")->delimiter(',');
  app.add_option("--suite", options.suite, "quick, standard or full")->capture_default_str();
  app.add_option("--job-limit-s", options.score.job_limit_s, "a job over it is lost")
      ->capture_default_str();
  app.add_option("--gpu-limit-s", options.gpu_limit_s, "a GPU over it is lost")
      ->capture_default_str();
  app.add_option("--written", options.written, "folder of models, instead of a population")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--unresolved", options.with_unresolved, "print what is unresolved, too");
  Bars& bars = options.bars;
  app.add_option("--least-honest-share", bars.least_honest_share)->capture_default_str();
  app.add_option("--least-family-share", bars.least_family_share)->capture_default_str();
  app.add_option("--most-unresolved-share", bars.most_unresolved_share)->capture_default_str();
  app.add_option("--least-confident-share", bars.least_confident_share)->capture_default_str();
  app.add_option("--most-lost-jobs", bars.most_lost_jobs)->capture_default_str();
}

int run(int argc, char** argv) {
  CLI::App app{"Scores whole suites on simulated GPUs"};
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  options.score.level = parse_suite_level(options.suite);
  options.score.jobs = select_jobs(options.score.level, options.jobs);
  ScoreTable table;
  Workers(options, table).run(gpus_to_score(options));
  table.print(options.with_unresolved);
  const std::vector<std::string> missed = table.missed(options.bars);
  for (const std::string& line : missed) fmt::print("MISSED {}\n", line);
  return missed.empty() ? 0 : 1;
}

}  // namespace
}  // namespace sonde::test

int main(int argc, char** argv) {
  try {
    return sonde::test::run(argc, argv);
  } catch (const sonde::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
