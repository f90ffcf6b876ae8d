// Divides the constant bank among the threads of a probe, for every backend alike.
#include "device/probe/constant_probe.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace sonde {
namespace {

/// Its multiples modulo 1 are spread more evenly than those of any other number (Knuth, The Art of
/// Computer Programming 3, section 6.4), also for a few SMs in a row, which may share a cache.
constexpr double golden_ratio = 0.6180339887498949;
/// The second block of an SM begins half a piece after the first, so that neither finds in a cache
/// what the other has read.
constexpr double half_turn = 0.5;

std::uint64_t threads_of(const ConstantStreamProbe& probe) {
  return static_cast<std::uint64_t>(probe.warps) * static_cast<std::uint64_t>(probe.warp_threads);
}

}  // namespace

ConstantPiece constant_piece(const ConstantStreamProbe& probe, int sm, int thread, int block) {
  const std::uint64_t words = probe.footprint_bytes / probe.step_bytes / threads_of(probe);
  const double turn = golden_ratio * sm + half_turn * block;
  return {
      .first = static_cast<std::uint64_t>(thread) * words,
      .words = words,
      .start = static_cast<std::uint64_t>((turn - std::floor(turn)) * static_cast<double>(words))};
}

std::uint64_t constant_warmup_accesses(const ConstantStreamProbe& probe) {
  const std::uint64_t rows =
      (constant_piece(probe, 0, 0).words + constant_loads_in_flight - 1) / constant_loads_in_flight;
  return rows * constant_loads_in_flight;
}

nlohmann::json describe(const ConstantStreamProbe& probe) {
  return {{"sms", probe.sms},
          {"warps", probe.warps},
          {"warp_threads", probe.warp_threads},
          {"footprint_bytes", probe.footprint_bytes},
          {"step_bytes", probe.step_bytes},
          {"accesses", probe.accesses},
          {"doubled_sms", probe.doubled_sms}};
}

void check(const ConstantStreamProbe& probe, int sm_count) {
  check_sms(probe.sms, sm_count);
  require(!probe.sms.empty() && probe.warps > 0 && probe.warp_threads > 0,
          "a constant stream needs SMs, warps and threads");
  require(probe.doubled_sms >= 0 && probe.doubled_sms <= static_cast<int>(probe.sms.size()),
          "doubled_sms of a constant stream must not exceed its SMs");
  require(probe.warp_threads <= static_cast<int>(warp_threads),
          "warp_threads of a constant stream must not exceed 32");
  require(probe.footprint_bytes > 0 && probe.footprint_bytes <= constant_bank_bytes,
          "footprint_bytes of a constant stream must lie within the 64 KiB of the bank");
  require(probe.step_bytes > 0 && probe.step_bytes % 4 == 0,
          "step_bytes of a constant stream must be a multiple of 4");
  require(probe.footprint_bytes / probe.step_bytes >= threads_of(probe),
          "each thread of a constant stream needs a word of its own");
  require(probe.accesses > 0 && probe.accesses % constant_loads_in_flight == 0,
          "accesses of a constant stream must be a multiple of 8");
}

}  // namespace sonde
