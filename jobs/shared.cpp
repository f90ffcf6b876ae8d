// Job `shared`: latency of shared memory, whether there is a cache in front of it, costs of bank
// conflicts and atomics, the banks, and the copy throughput of an SM over the shapes of a grid (Mei
// and Chu 2016, section 6; Wong 2010, section IV-F). Method: docs/methods/shared.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/shared_banks.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint64_t chase_accesses = 64;  // as in Mei and Chu 2016, section 6.2
constexpr int largest_stride = 64;
/// Two rows of 32 banks of 8 bytes, the widest known banks: enough for infer_banks.
constexpr int scanned_words = 128;

/// What all chases of this job have in common.
struct SharedChases {
  std::vector<int> sms;
  int warp_threads = 0;
  double overhead_cycles = 0;
};

const Trace& chase(JobRun& run, const SharedChases& setup, std::string label,
                   std::vector<std::uint32_t> offsets) {
  return run.run(std::move(label), SharedChaseProbe{std::move(offsets), 4, BankMode::four_bytes,
                                                    chase_accesses, setup.sms});
}

void report_latency(JobRun& run, const SharedChases& setup) {
  const Trace& trace = chase(run, setup, "one thread", {0});
  run.report(found_median("shared.latency_cycles", latencies_of(trace, setup.overhead_cycles)));
  const std::vector<double> amortised = cycles_per_access(trace);
  run.report(found("shared.amortised_latency_cycles", median(amortised), 1,
                   chase_accesses * trace.lanes.size(), median_absolute_deviation(amortised)));
}

std::optional<SharedBanks> find_banks(JobRun& run, const SharedChases& setup) {
  std::vector<double> pair_latency_cycles;
  for (std::uint32_t words = 0; words < scanned_words; ++words) {
    const Trace& trace = chase(run, setup, fmt::format("pair at {} words", words), {0, 4 * words});
    pair_latency_cycles.push_back(
        precise_latency_cycles(all_windows(trace), setup.overhead_cycles));
  }
  const auto banks = infer_banks(pair_latency_cycles);
  if (!banks) {
    run.leave_open("shared.bank_",
                   fmt::format("no regular conflicts between two threads up to {} words apart",
                               scanned_words - 1));
    return std::nullopt;
  }
  run.report("shared.bank_count", banks->count, scanned_words);
  run.report("shared.bank_bytes", banks->bank_bytes, scanned_words);
  return banks;
}

void report_conflicts(JobRun& run, const SharedChases& setup,
                      const std::optional<SharedBanks>& banks) {
  std::vector<double> ways_measured{1};
  std::vector<double> latencies{*run.number("shared.latency_cycles")};
  for (int ways : {2, 4, 8, 16, 32}) {
    const std::string metric = fmt::format("shared.conflict_cycles.{}", ways);
    if (!banks || setup.warp_threads % ways != 0) {
      run.leave_open(metric, banks ? "a warp has too few threads"
                                   : "the banks of shared memory are not known");
      continue;
    }
    const Trace& trace = chase(run, setup, fmt::format("{}-way conflict", ways),
                               conflict_offsets(setup.warp_threads, ways, *banks));
    Finding conflict = found_median(metric, latencies_of(trace, setup.overhead_cycles));
    ways_measured.push_back(ways);
    latencies.push_back(std::get<double>(conflict.value));
    run.report(std::move(conflict));
  }
  if (latencies.size() < 3) {
    return run.leave_open("shared.conflict_", "too few conflicts were measured");
  }
  const LinearFit line = fit_line(ways_measured, latencies);
  run.report("shared.conflict_cost_cycles", line.slope, latencies.size(), line.r2);
  run.report("shared.conflict_linearity_r2", line.r2, latencies.size());
}

/// Reports the latencies of all strides, or why this device does not run such a chase.
void report_strides(JobRun& run, const SharedChases& setup, const std::string& metric,
                    int element_bytes, BankMode mode) {
  std::vector<double> latencies;
  const auto refusal = refusal_of([&] {
    for (int stride = 0; stride <= largest_stride; ++stride) {
      const std::string label = fmt::format("stride {}, {} B words{}", stride, element_bytes,
                                            mode == BankMode::eight_bytes ? ", 8 B banks" : "");
      const SharedChaseProbe probe{stride_offsets(setup.warp_threads, stride, element_bytes),
                                   element_bytes, mode, chase_accesses, setup.sms};
      latencies.push_back(
          precise_latency_cycles(all_windows(run.run(label, probe)), setup.overhead_cycles));
    }
  });
  if (refusal) return run.report(not_present(metric, *refusal));
  run.report(metric, std::move(latencies),
             (largest_stride + 1) * chase_accesses * setup.sms.size());
}

/// Loads reach the rate of the banks, less the time in which a block starts. If they are slower
/// than that, something else limits them.
constexpr double rate_tolerance = 0.1;

/// Reports how many words a bank gives in a cycle, the peak rate of the banks, the share of it that
/// copies reach, and how many warps must have a load of a word in flight for it (Mei and Chu 2016,
/// table VII and section 6.1).
void report_peak(JobRun& run, const SharedChases& setup, const std::optional<SharedBanks>& banks) {
  const auto leave_open = [&](const char* reason) {
    for (const char* metric :
         {"shared.peak_bytes_per_cycle_per_sm", "shared.efficiency", "shared.littles_law_warps"}) {
      run.leave_open(metric, reason);
    }
  };
  if (!banks) return leave_open("the banks of shared memory are not known");
  const double row_bytes = static_cast<double>(banks->count * banks->bank_bytes);
  const double words = shared_load_rate(run) / row_bytes;
  run.report("shared.bank_words_per_cycle", words, run.info().sm_count);
  const double word_cycles = std::max(1.0, std::round(1 / words));
  if (std::abs(words * word_cycles - 1) > rate_tolerance) {
    return leave_open("a bank gives no word every 1, 2, 3, ... cycles");
  }
  const double peak = row_bytes / word_cycles;
  const double warp_bytes = 4.0 * setup.warp_threads;
  run.report("shared.peak_bytes_per_cycle_per_sm", peak, scanned_words);
  run.report("shared.efficiency", *run.number("shared.bytes_per_cycle_per_sm") / peak,
             run.info().sm_count);
  run.report("shared.littles_law_warps", peak * *run.number("shared.latency_cycles") / warp_bytes,
             scanned_words);
}

}  // namespace

void run_shared(JobRun& run) {
  const SharedChases setup{spread_sms(run, voting_sms), run.info().warp_threads,
                           window_overhead_cycles(run)};
  report_latency(run, setup);
  report_shared_footprints(run, setup.sms, setup.overhead_cycles);
  const auto banks = find_banks(run, setup);
  report_conflicts(run, setup, banks);
  report_strides(run, setup, "shared.stride_latency_cycles", 4, BankMode::four_bytes);
  report_strides(run, setup, "shared.stride_latency_8b_cycles", 8, BankMode::four_bytes);
  report_strides(run, setup, "shared.stride_latency_wide_mode_cycles", 4, BankMode::eight_bytes);
  report_shared_atomics(run, banks);
  report_shared_copies(run);
  report_peak(run, setup, banks);
}

}  // namespace sonde
