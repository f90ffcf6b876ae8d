// How fast simulated GPUs play: accesses per second of processor time. `sim_bench jobs` asks while
// the structure jobs run, which is what a user waits for; `sim_bench chases` chases in random order
// by load path and span, which shows where the time goes.
#include "base/error.hpp"
#include "base/random.hpp"
#include "device/sim/model/model_files.hpp"
#include "device/sim/sim_device.hpp"
#include "jobs/suite.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <ctime>
#include <limits>

namespace sonde::sim {
namespace {

constexpr std::uint64_t step_bytes = 128;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

/// Accesses played, and the processor time they took: other programs on the machine disturb it less
/// than time on the wall.
struct Pace {
  std::uint64_t accesses = 0;
  std::clock_t ticks = 0;

  Pace& operator+=(const Pace& other) {
    accesses += other.accesses;
    ticks += other.ticks;
    return *this;
  }
  double seconds() const { return static_cast<double>(ticks) / CLOCKS_PER_SEC; }
  double millions_per_second() const {
    return ticks == 0 ? 0 : static_cast<double>(accesses) / seconds() / 1e6;
  }
};

std::uint64_t accesses_of(const ChaseProbe& probe) {
  const std::uint64_t by_lane =
      probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
  return by_lane * probe.lanes.size();
}

/// A simulated GPU that keeps the pace of all chases.
class MeteredDevice final : public Device {
 public:
  explicit MeteredDevice(const Model& model) : device_(FaultyModel{model, {}}, die_seed(1, 0)) {}

  const DeviceInfo& info() const override { return device_.info(); }
  Health health() override { return device_.health(); }
  /// Since the last call.
  Pace take_pace() { return std::exchange(pace_, {}); }

 protected:
  Trace play(const ProbeSpec& spec) override {
    const std::clock_t begin = std::clock();
    Trace trace = device_.run(spec);
    if (const auto* chase = std::get_if<ChaseProbe>(&spec)) {
      pace_ += {.accesses = accesses_of(*chase), .ticks = std::clock() - begin};
    }
    return trace;
  }

 private:
  SimDevice device_;
  Pace pace_;
};

void print_pace(std::string_view model, std::string_view what, const Pace& pace) {
  fmt::print("{:<12} {:<24} {:>9.1f} M in {:>6.2f} s {:>7.1f} M/s\n", model, what,
             static_cast<double>(pace.accesses) / 1e6, pace.seconds(), pace.millions_per_second());
  std::fflush(stdout);
}

const std::vector<std::string> structure_jobs = {"cache.l1",          "cache.readonly",
                                                 "cache.l2",          "cache.texture_l1",
                                                 "cache.texture_l2",  "cache.constant_l1",
                                                 "cache.constant_l2", "cache.constant_l3",
                                                 "cache.instruction", "tlb"};

void bench_jobs(const std::string& name, const std::vector<std::string>& jobs) {
  MeteredDevice device(load_model(name));
  std::vector<JobResult> results;
  Pace all;
  for (const Job* job : select_jobs(SuiteLevel::full, jobs)) {
    results.push_back(run_job(*job, device, SuiteLevel::standard, 1, results,
                              std::numeric_limits<double>::infinity(), [] {})
                          .result);
    const Pace pace = device.take_pace();
    if (pace.accesses > 0) print_pace(name, job->name, pace);
    all += pace;
  }
  print_pace(name, "all", all);
}

/// Spans that fit into an inner cache, into an outer one, and into none.
std::vector<std::uint64_t> spans_of(LoadPath path) {
  if (path == LoadPath::constant) return {2 * kib, constant_bank_bytes};
  if (path == LoadPath::instruction) return {4 * kib, mib};
  return {8 * kib, mib, 20 * mib, 200 * mib};
}

/// Lines of the span chosen at random; the first half of the accesses warm up.
ChaseProbe random_chase(LoadPath path, std::uint64_t span_bytes, std::uint64_t accesses) {
  ChaseProbe probe;
  probe.buffer_bytes = span_bytes;
  probe.lanes = {{.sm = 0, .offsets_bytes = {}, .path = path}};
  probe.warmup_accesses = accesses / 2;
  probe.timed_accesses = accesses - probe.warmup_accesses;
  Random random(span_bytes);
  const std::uint64_t lines = span_bytes / step_bytes;
  for (std::uint64_t i = 0; i < std::min(lines, accesses); ++i) {
    probe.lanes[0].offsets_bytes.push_back(random.below(lines) * step_bytes);
  }
  return probe;
}

void bench_chases(const std::string& name, std::string_view only_path, std::uint64_t accesses) {
  const Model model = load_model(name);
  MeteredDevice device(model);
  for (std::size_t i = 0; i < load_path_count; ++i) {
    if (!model.paths[i]) continue;
    const auto path = static_cast<LoadPath>(i);
    if (!only_path.empty() && to_text(path) != only_path) continue;
    for (std::uint64_t span_bytes : spans_of(path)) {
      device.run(random_chase(path, span_bytes, accesses));
      print_pace(name, fmt::format("{} {} KiB", to_text(path), span_bytes / kib),
                 device.take_pace());
    }
  }
}

int bench(int argc, char** argv) {
  CLI::App app{"How fast simulated GPUs play, in accesses per second of processor time."};
  app.require_subcommand(1);
  std::vector<std::string> models;
  for (const ShippedModel& shipped : shipped_models()) models.emplace_back(shipped.name);
  app.add_option("--models", models, "instead of all that are shipped")->delimiter(',');
  std::vector<std::string> names = structure_jobs;
  std::uint64_t accesses = 4'000'000;
  std::string path;
  CLI::App* jobs = app.add_subcommand("jobs", "all chases of jobs");
  jobs->add_option("--jobs", names, "instead of all that look for structure")->delimiter(',');
  CLI::App* chases = app.add_subcommand("chases", "in random order, by load path and span");
  chases->add_option("--accesses", accesses, "of each chase")->check(CLI::Range(2, 1'000'000'000));
  chases->add_option("--path", path, "instead of all load paths");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const std::string& model : models) {
      if (jobs->parsed()) bench_jobs(model, names);
      if (chases->parsed()) bench_chases(model, path, accesses);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "sim_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace sonde::sim

int main(int argc, char** argv) { return sonde::sim::bench(argc, argv); }
