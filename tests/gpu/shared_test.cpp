// Shared memory by footprint and under atomics on a real GPU.
#include "analysis/structure/cores/shared_banks.hpp"
#include "gpu/gpu_test.hpp"

#include <numeric>

namespace sonde {
namespace {

class SharedGpuTest : public GpuTest {
 protected:
  /// Median window of a ring of words on three SMs.
  double ring_cycles(std::uint32_t footprint_bytes, std::uint32_t step_bytes) {
    SharedChaseProbe probe{.thread_offsets_bytes = {0},
                           .accesses = 256,
                           .sms = {0, 1, 2},
                           .words = footprint_bytes / step_bytes,
                           .step_bytes = step_bytes,
                           .hop_words = footprint_bytes / step_bytes / 2};
    while (std::gcd(probe.hop_words, probe.words) != 1) ++probe.hop_words;
    const std::vector<std::uint32_t> windows = all_windows(device().run(probe));
    EXPECT_EQ(windows.size(), 3u * 256);
    return median(windows);
  }

  /// Cycles of an addition of a warp, median of three SMs.
  double atomic_cycles(AtomicForm form, std::vector<std::uint32_t> offsets) {
    const SharedAtomicProbe probe{.form = form,
                                  .thread_offsets_bytes = std::move(offsets),
                                  .accesses = 256,
                                  .sms = {0, 1, 2}};
    std::vector<double> cycles;
    for (const LaneTrace& lane : device().run(probe).lanes) {
      cycles.push_back(cycles_per_access(lane));
    }
    std::ranges::sort(cycles);
    return cycles.at(1);
  }
  double at_words(AtomicForm form, int together) {
    std::vector<std::uint32_t> offsets;
    for (int thread = 0; thread < 32; ++thread) {
      offsets.push_back(static_cast<std::uint32_t>(thread / together * 4));
    }
    return atomic_cycles(form, std::move(offsets));
  }
  double at_banks(AtomicForm form, int together) {
    const SharedBanks banks{.count = 32, .bank_bytes = 4};
    return atomic_cycles(form, conflict_offsets(32, together, banks));
  }
};

/// Wong 2010, section IV-F: shared memory is not cached.
TEST_F(SharedGpuTest, latency_is_the_same_for_all_footprints) {
  const auto largest = static_cast<std::uint32_t>(device().info().shared_bytes_per_block - 1024);
  const double small = ring_cycles(1024, 36);
  for (std::uint32_t step : {36u, 132u}) {
    for (std::uint32_t footprint = 1024; footprint < 2 * largest; footprint *= 2) {
      const std::uint32_t bytes = std::min(footprint, largest);
      const double cycles = ring_cycles(bytes, step);
      EXPECT_NEAR(cycles, small, 1) << bytes;
    }
  }
}

TEST_F(SharedGpuTest, atomics_wait_for_those_of_the_same_word_and_bank) {
  for (int together = 1; together <= 32; together *= 2) {
    const double returned = at_words(AtomicForm::returned, together);
    const double unused = at_words(AtomicForm::unused, together);
    // A load takes some 20 cycles, and an addition is no faster; an SM issues at most one a cycle.
    EXPECT_GE(returned, 20);
    EXPECT_GE(at_banks(AtomicForm::returned, together), 20);
    EXPECT_GE(unused, 1);
    EXPECT_GE(at_words(AtomicForm::counted, together), 1);
    // A pass over the banks for each thread that needs one of its own, in a cycle at least.
    EXPECT_GE(at_banks(AtomicForm::unused, together), together);
    // Nobody waits longer than a retry of every thread would take.
    EXPECT_LT(returned, 200 * together);
    EXPECT_LE(unused, returned + 1);
  }
  EXPECT_GT(at_banks(AtomicForm::returned, 32), at_banks(AtomicForm::returned, 1) + 30);
}

}  // namespace
}  // namespace sonde
