// What a driver reports about a GPU without measuring. Plain data, the same for every backend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// Inventory of one GPU. Unknown text is empty, unknown numbers are 0.
struct DeviceInfo {
  std::string uuid;
  std::string name;
  std::string serial;
  std::string pci_bus_id;  // domain:bus:device.function
  std::string vbios;
  std::string driver_version;
  std::string runtime_version;
  int compute_major = 0;
  int compute_minor = 0;
  int sm_count = 0;
  int warp_threads = 32;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int max_cluster_blocks = 0;  // 0: no thread block clusters
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;                // as reported, never used as a result
  std::uint64_t shared_bytes_per_block = 0;  // the most that a block may ask for
  std::uint64_t shared_bytes_per_sm = 0;
  std::uint64_t reserved_shared_bytes_per_block = 0;
  std::vector<std::uint64_t> shared_carveouts_bytes;  // possible carve-outs, ascending; empty if
                                                      // shared memory and L1 are separate
  double sm_clock_hz = 0;                             // highest
  double memory_clock_hz = 0;                         // highest, as the driver prints it
  int memory_bus_bits = 0;
  int memory_data_rate = 0;  // transfers per memory clock
  /// True if parts of an SM have instruction caches of their own before the shared one.
  bool sm_partition_instruction_caches = false;
  bool ecc = false;
  bool mig = false;
  bool mps = false;
  int foreign_processes = 0;  // compute processes of other users on this GPU

  /// 0 if shared memory and L1 are separate.
  std::uint64_t largest_carveout_bytes() const {
    return shared_carveouts_bytes.empty() ? 0 : shared_carveouts_bytes.back();
  }

  /// memory_clock_hz x memory_data_rate x bus width (Mei and Chu 2016, section 5.1); 0 if unknown.
  double theoretical_bytes_per_s() const {
    return memory_clock_hz * memory_data_rate * memory_bus_bits / 8.0;
  }
};

/// A GPU that a rank sees but no rank measures.
struct UnauditedDevice {
  std::string node;
  std::string uuid;
};

/// The NVML clocks event reasons that lower clocks against the user's wish (nvml.h,
/// nvmlClocksEventReason*). Idle, application clocks, sync boost and display do not belong to them.
inline constexpr std::uint64_t power_throttle_mask = 0x04 | 0x80;    // software cap, power brake
inline constexpr std::uint64_t thermal_throttle_mask = 0x20 | 0x40;  // software, hardware thermal
inline constexpr std::uint64_t slowdown_throttle_mask = 0x08;        // hardware slowdown
inline constexpr std::uint64_t harmful_throttle_mask =
    power_throttle_mask | thermal_throttle_mask | slowdown_throttle_mask;

/// Readings that change while a GPU works. NaN or 0: the driver does not report it.
struct Health {
  double temperature_c = 0;
  double power_w = 0;
  double sm_clock_hz = 0;
  double memory_clock_hz = 0;
  std::uint64_t throttle_reasons = 0;  // NVML clocks event reasons, a bit mask
  std::uint64_t ecc_corrected = 0;     // since the last reset of the counters
  std::uint64_t ecc_uncorrected = 0;
  std::uint64_t remapped_rows = 0;
  bool remap_pending = false;
  bool remap_failure = false;
  /// The most compute processes of other users seen at one time since the GPU was opened.
  int foreign_processes = 0;
};

}  // namespace sonde
