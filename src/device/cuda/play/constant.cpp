// Streams of constants: fills the bank, tells each block where its threads begin, and checks the
// sum of the words that they loaded.
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"
#include "kernels/chase/chase.hpp"
#include "kernels/chase/constant_stream.hpp"

#include <algorithm>
#include <span>

namespace sonde::cuda {
namespace {

static_assert(kernels::constant_ilp == constant_loads_in_flight);

int threads_of(const ConstantStreamProbe& probe) { return probe.warps * probe.warp_threads; }

/// All words differ, so that a wrong load shows in the sum. The factor is Knuth's for
/// multiplicative hashing (2^32 / golden ratio).
void fill_bank(std::span<std::uint32_t> words) {
  std::uint32_t number = 0;
  for (std::uint32_t& word : words) word = ++number * 2654435761u;
}

/// The sum of all words that the blocks on this SM load, untimed loads too, modulo 2^32. A thread
/// goes round and round through its piece, so each word counts once for every round.
std::uint32_t expected_sum(const ConstantStreamProbe& probe, std::span<const std::uint32_t> bank,
                           std::size_t place) {
  const std::uint64_t loads = constant_warmup_accesses(probe) + probe.accesses;
  std::uint32_t sum = 0;
  for (int number = 0; number < probe.blocks_on(place) * threads_of(probe); ++number) {
    const ConstantPiece piece = constant_piece(probe, probe.sms[place], number % threads_of(probe),
                                               number / threads_of(probe));
    for (std::uint64_t load = 0; load < piece.words; ++load) {
      const std::uint64_t rounds = loads / piece.words + (load < loads % piece.words);
      sum +=
          static_cast<std::uint32_t>(rounds) * bank[piece.offset_bytes(load, probe.step_bytes) / 4];
    }
  }
  return sum;
}

kernels::ConstantStreamLaunch describe_stream(const ConstantStreamProbe& probe) {
  kernels::ConstantStreamLaunch launch;
  launch.warps = static_cast<std::uint32_t>(probe.warps);
  launch.warp_threads = static_cast<std::uint32_t>(probe.warp_threads);
  launch.warmup_rows =
      static_cast<std::uint32_t>(constant_warmup_accesses(probe) / constant_loads_in_flight);
  launch.timed_rows = static_cast<std::uint32_t>(probe.accesses / constant_loads_in_flight);
  return launch;
}

kernels::ConstantRoute route_on(const ConstantStreamProbe& probe, std::size_t place) {
  const auto start_bytes = [&](int block) {
    return static_cast<std::uint32_t>(constant_piece(probe, probe.sms[place], 0, block).start *
                                      probe.step_bytes);
  };
  const ConstantPiece piece = constant_piece(probe, probe.sms[place], 0);
  return {.start_bytes = {start_bytes(0), start_bytes(1)},
          .blocks = static_cast<std::uint32_t>(probe.blocks_on(place)),
          .step_bytes = static_cast<std::uint32_t>(probe.step_bytes),
          .piece_bytes = static_cast<std::uint32_t>(piece.words * probe.step_bytes)};
}

}  // namespace

Trace play(Session& session, const ConstantStreamProbe& probe) {
  const int blocks = probe.blocks_on(0);
  const auto block_threads = static_cast<unsigned>(blocks * probe.warps) * warp_threads;
  if (block_threads > static_cast<unsigned>(session.info().max_threads_per_block)) {
    throw_device_error("a constant stream has {} warps in a block (at most {} fit). Ask for fewer",
                       blocks * probe.warps, session.info().max_threads_per_block / warp_threads);
  }
  const layout::SharedPlan shared =
      layout::plan_shared(session.info(), kernels::constant_stream_shared_bytes);
  const auto loads = probe.accesses * static_cast<std::uint64_t>(threads_of(probe));
  LaneLaunch lanes(session, {.sms = probe.sms, .recorded = 0, .accesses = loads},
                   limit_for(4 * loads * probe.sms.size()));
  LaunchArrays& arrays = session.arrays();
  const auto bank = arrays.add_input<std::uint32_t>(kernels::bank_bytes / 4);
  const auto routes = arrays.add_input<kernels::ConstantRoute>(probe.sms.size());
  kernels::ConstantStreamLaunch launch = describe_stream(probe);
  launch.routes = routes.device;
  fill_bank(bank.host);
  for (std::size_t rank = 0; rank < probe.sms.size(); ++rank) {
    routes.host[rank] = route_on(probe, rank);
  }
  Trace trace = lanes.run(kernels::constant_stream, launch, block_threads, shared, [&] {
    SONDE_CUDA_CHECK(kernels::fill_constant_stream_bank(bank.device, session.stream()));
  });
  for (std::size_t lane = 0; lane < probe.sms.size(); ++lane) {
    lanes.check_final_value(lane, expected_sum(probe, bank.host, lane));
    trace.lanes[lane].accesses = loads * static_cast<std::uint64_t>(probe.blocks_on(lane));
  }
  return trace;
}

}  // namespace sonde::cuda
