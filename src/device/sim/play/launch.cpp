// What all plays share: clocks, carve-outs, and the checks that end a launch.
#include "device/sim/play/launch.hpp"

#include "base/failure_marks.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "device/layout/carveout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sonde::sim {

std::uint64_t read_clock(const Launch& launch, int sm, std::uint64_t cycles) {
  const std::uint64_t now = launch.die.sm(sm).clock_base_cycles + cycles;
  return now - now % launch.model.clock.granularity_cycles;
}

std::uint64_t read_timer(const Launch& launch, double time_ns) {
  // The timer starts from the host's time; any value far from 0 will do.
  constexpr std::uint64_t epoch_ns = 1'700'000'000'000'000'000ULL;
  const auto whole_ns = static_cast<std::uint64_t>(time_ns);
  return epoch_ns + whole_ns - whole_ns % launch.model.clock.globaltimer_step_ns;
}

void check_data(const Launch& launch) {
  const std::uint64_t period = launch.faults.wrong_data_period;
  if (period != 0 && launch.number % period == 0) {
    throw DeviceError(
        fmt::format("{} the memory returned what was never written (the times mean nothing) check "
                    "the memory of this GPU",
                    wrong_data_mark));
  }
}

std::uint64_t choose_carveout(const DeviceInfo& info, std::uint64_t block_bytes,
                              std::optional<std::uint64_t> wanted_bytes) {
  const auto& carveouts = info.shared_carveouts_bytes;
  if (block_bytes == 0 && !wanted_bytes) return carveouts.empty() ? 0 : carveouts.front();
  return layout::plan_shared(info, block_bytes, wanted_bytes).carveout_bytes;
}

int most_blocks(const Model& model, int block_threads, std::uint64_t block_shared_bytes) {
  const DeviceInfo& info = model.device;
  if (block_threads > info.max_threads_per_block ||
      block_shared_bytes > info.shared_bytes_per_block) {
    return 0;
  }
  const int slots = model.units.throughput.max_blocks_per_sm;
  const std::uint64_t block_bytes = block_shared_bytes + info.reserved_shared_bytes_per_block;
  const std::uint64_t by_shared =
      block_bytes == 0 ? info.shared_bytes_per_sm : info.shared_bytes_per_sm / block_bytes;
  return static_cast<int>(
      std::min<std::uint64_t>(by_shared, std::min(slots, info.max_threads_per_sm / block_threads)));
}

int resident_blocks(const Model& model, int block_threads, std::uint64_t block_shared_bytes) {
  const int resident = most_blocks(model, block_threads, block_shared_bytes);
  if (resident == 0) {
    throw DeviceError("a block of " + std::to_string(block_threads) + " threads with " +
                      format_bytes(block_shared_bytes) +
                      " of shared memory does not fit on an SM, ask for a smaller one");
  }
  return resident;
}

int warps_of(int block_threads) {
  constexpr int threads = warp_threads;
  return (block_threads + threads - 1) / threads;
}

std::vector<int> first_sms(int count) {
  std::vector<int> sms(static_cast<std::size_t>(count));
  std::iota(sms.begin(), sms.end(), 0);
  return sms;
}

}  // namespace sonde::sim
