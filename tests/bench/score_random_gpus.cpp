// Simulated GPUs of a population, each measured by a whole suite: how many of the values that they
// declare come back, by family of metrics. Ends with 1 if a bar is missed.
#include "base/error.hpp"
#include "sim/score/score_table.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>

namespace sonde::test {
namespace {

struct Options {
  std::uint64_t first_seed = 1;
  std::uint64_t gpus = 400;
  Population population = Population::odd;
  unsigned threads = 1;
  bool with_unresolved = false;
  bool with_model_only = false;
  std::vector<std::string> jobs;
  std::string suite = "standard";
  ScoreOptions score;
  Bars bars;
};

ScoreTable score_all(const Options& options) {
  ScoreTable table;
  std::mutex one_at_a_time;
  std::atomic<std::uint64_t> next = 0;
  const auto work = [&] {
    for (std::uint64_t at = next++; at < options.gpus; at = next++) {
      const GpuScore score = score_gpu(
          {.seed = options.first_seed + at, .population = options.population}, options.score);
      const std::lock_guard lock(one_at_a_time);
      fmt::print(stderr, "{}: {} values, {} wrong, {} jobs lost\n", score.gpu, score.values.size(),
                 std::ranges::count(score.values, Verdict::wrong, &ScoredValue::verdict),
                 score.lost_jobs.size());
      table.add(score);
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < options.threads; ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& worker : workers) worker.get();
  return table;
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
  app.add_option("--threads", options.threads, "GPUs at a time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "only these and what they build on")->delimiter(',');
  app.add_option("--suite", options.suite, "quick, standard or full")->capture_default_str();
  app.add_option("--job-limit-s", options.score.job_limit_s, "a job over it is lost")
      ->capture_default_str();
  app.add_flag("--print-model", options.with_model_only, "the drawn model of the first seed");
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
  if (options.with_model_only) {
    fmt::print("{}\n", options.population == Population::plausible
                           ? draw_plausible_gpu(options.first_seed)
                           : draw_gpu(options.first_seed));
    return 0;
  }
  options.score.level = parse_suite_level(options.suite);
  options.score.jobs = select_jobs(options.score.level, options.jobs);
  const ScoreTable table = score_all(options);
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
