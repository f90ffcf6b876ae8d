// Atomic additions to shared memory by warps whose threads meet in words or in banks. Every launch
// runs on all SMs, each of which is a sample.
#include "analysis/statistics.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sonde {
namespace {

/// Of a launch: 10 us without a conflict, some 50 us if all threads wait for each other.
constexpr std::uint64_t additions = 256;

/// What is varied: the form, and whether threads meet in a word or only in a bank.
struct AtomicSeries {
  const char* metric;
  AtomicForm form;
  const char* cost_metric;  // slope over the threads; nullptr: not asked for
};
constexpr AtomicSeries by_words[] = {
    {"shared.atomic_cycles", AtomicForm::returned, "shared.atomic_cost_cycles"},
    {"shared.atomic_unused_cycles", AtomicForm::unused, nullptr},
    {"shared.atomic_counted_cycles", AtomicForm::counted, nullptr}};
constexpr AtomicSeries by_banks[] = {
    {"shared.atomic_bank_cycles", AtomicForm::returned, "shared.atomic_bank_cost_cycles"},
    {"shared.atomic_unused_bank_cycles", AtomicForm::unused, nullptr}};

/// Every `together` threads share a word, neighbouring ones, and each word has a bank of its own.
std::vector<std::uint32_t> word_offsets(int warp_threads, int together) {
  std::vector<std::uint32_t> offsets;
  for (int thread = 0; thread < warp_threads; ++thread) {
    offsets.push_back(static_cast<std::uint32_t>(4 * (thread / together)));
  }
  return offsets;
}

/// Points of a series on their way to its slope.
struct AtomicCosts {
  std::vector<double> threads;
  std::vector<double> cycles;
};

void measure_point(JobRun& run, const AtomicSeries& series, int together,
                   std::vector<std::uint32_t> offsets, AtomicCosts& costs) {
  const std::string metric = fmt::format("{}.{}", series.metric, together);
  const Trace& trace = run.run(metric, SharedAtomicProbe{.form = series.form,
                                                         .thread_offsets_bytes = std::move(offsets),
                                                         .accesses = additions,
                                                         .sms = all_sms(run.info().sm_count)});
  const std::vector<double> cycles = cycles_per_access(trace);
  costs.threads.push_back(together);
  costs.cycles.push_back(median(cycles));
  run.report(found_median(metric, cycles));
}

void report_cost(JobRun& run, const AtomicSeries& series, const AtomicCosts& costs) {
  if (series.cost_metric == nullptr) return;
  const LinearFit line = fit_line(costs.threads, costs.cycles);
  run.report(found(series.cost_metric, line.slope, line.r2, costs.cycles.size()));
}

void report_by_words(JobRun& run, const AtomicSeries& series) {
  const int threads = run.info().warp_threads;
  AtomicCosts costs;
  for (int together = 1; together <= threads; together *= 2) {
    measure_point(run, series, together, word_offsets(threads, together), costs);
  }
  report_cost(run, series, costs);
}

void report_by_banks(JobRun& run, const AtomicSeries& series, const SharedBanks& banks) {
  const int threads = run.info().warp_threads;
  AtomicCosts costs;
  for (int together = 2; together <= threads; together *= 2) {
    measure_point(run, series, together, conflict_offsets(threads, together, banks, 4), costs);
  }
  report_cost(run, series, costs);
}

}  // namespace

void report_shared_atomics(JobRun& run, const std::optional<SharedBanks>& banks) {
  const auto refusal = refusal_of([&] {
    for (const AtomicSeries& series : by_words) report_by_words(run, series);
    if (!banks) return;
    for (const AtomicSeries& series : by_banks) report_by_banks(run, series, *banks);
  });
  run.leave_open("shared.atomic_", refusal.value_or("the banks of shared memory are not known"));
}

}  // namespace sonde
