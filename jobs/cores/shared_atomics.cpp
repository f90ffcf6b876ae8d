// Atomic additions to shared memory by warps whose threads share words or banks. Every launch runs
// on all SMs; each SM is a sample.
#include "analysis/statistics.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>

namespace sonde {
namespace {

/// Per launch: 10 us without conflicts, about 50 us if all threads wait for each other.
constexpr std::uint64_t additions = 256;

/// A form of addition, for threads that share a word or only a bank.
struct AtomicSeries {
  const char* metric;
  AtomicForm form;
  const char* cost_metric;  // slope over the threads; nullptr: not reported
};
constexpr AtomicSeries by_words[] = {
    {"shared.atomic_cycles", AtomicForm::returned, "shared.atomic_cost_cycles"},
    {"shared.atomic_unused_cycles", AtomicForm::unused, nullptr},
    {"shared.atomic_counted_cycles", AtomicForm::counted, nullptr}};
constexpr AtomicSeries by_banks[] = {
    {"shared.atomic_bank_cycles", AtomicForm::returned, "shared.atomic_bank_cost_cycles"},
    {"shared.atomic_unused_bank_cycles", AtomicForm::unused, nullptr}};

/// Measures a series for `fewest` threads together, twice as many, and so on.
void report_series(JobRun& run, const AtomicSeries& series, int fewest,
                   const std::function<std::vector<std::uint32_t>(int together)>& offsets_of) {
  std::vector<double> threads, medians_cycles;
  for (int together = fewest; together <= run.info().warp_threads; together *= 2) {
    const std::string metric = fmt::format("{}.{}", series.metric, together);
    const std::vector<double> cycles = cycles_per_access(
        run.run(metric, SharedAtomicProbe{.form = series.form,
                                          .thread_offsets_bytes = offsets_of(together),
                                          .accesses = additions,
                                          .sms = all_sms(run)}));
    threads.push_back(together);
    medians_cycles.push_back(median(cycles));
    run.report(found_median(metric, cycles));
  }
  if (series.cost_metric == nullptr) return;
  const LinearFit line = fit_line(threads, medians_cycles);
  run.report(series.cost_metric, line.slope, medians_cycles.size(), line.r2);
}

}  // namespace

void report_shared_atomics(JobRun& run, const std::optional<SharedBanks>& banks) {
  const int warp_threads = run.info().warp_threads;
  // Every `together` neighbouring threads share a word; each word has its own bank.
  const auto by_word = [&](int together) {
    std::vector<std::uint32_t> offsets;
    for (int thread = 0; thread < warp_threads; ++thread) {
      offsets.push_back(static_cast<std::uint32_t>(4 * (thread / together)));
    }
    return offsets;
  };
  const auto by_bank = [&](int together) {
    return conflict_offsets(warp_threads, together, *banks);
  };
  const auto refusal = refusal_of([&] {
    for (const AtomicSeries& series : by_words) report_series(run, series, 1, by_word);
    if (!banks) return;
    for (const AtomicSeries& series : by_banks) report_series(run, series, 2, by_bank);
  });
  run.leave_open("shared.atomic_", refusal.value_or("the banks of shared memory are not known"));
}

}  // namespace sonde
