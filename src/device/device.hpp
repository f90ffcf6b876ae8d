// A GPU as the jobs see it, real or simulated. No job may ask which it is.
#pragma once

#include "device/probe/probe.hpp"
#include "trace/inventory.hpp"
#include "trace/links.hpp"
#include "trace/trace.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sonde {

/// A recorded access takes two bytes of shared memory: a timed window of up to 65534 cycles; 65535
/// stands for 65535 or more. The block keeps 64 bytes more for the sink of its loads.
inline constexpr std::uint64_t record_bytes = 2;
inline constexpr std::uint64_t record_overhead_bytes = 64;
// A chase with more timed than recorded accesses also keeps a histogram in shared memory, 4 bytes a
// bin (trace.hpp).

/// Lanes that may chase on one SM at once, each a warp of one block.
inline constexpr std::size_t most_lanes_per_sm = 16;

/// A GPU of the node that a run measures; to the others it is a peer.
struct NodeGpu {
  std::string uuid;
  int rank = 0;           // of the process that measures it
  bool reachable = true;  // by this process, as a peer
};

/// What carries loads from one GPU to another.
enum class PeerLink { unknown, nvlink, pcie };

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Inventory, read once when the device was opened.
  virtual const DeviceInfo& info() const = 0;

  /// Clocks, temperature, throttling and error counters now, and the most foreign processes seen
  /// since the device was opened.
  virtual Health health() = 0;

  /// The links of the GPU now. PCIe generation and width are the highest seen since the job began,
  /// as an idle link may save power.
  virtual Links links() { return {}; }

  /// Errors of this GPU that the driver logged.
  virtual XidLog xids() { return {.unreadable = "the backend has no log of the driver"}; }

  /// A job begins. As far as the backend can, this resets what earlier jobs left behind (caches,
  /// random numbers of a simulation), so that a job that is resumed alone finds the same state.
  virtual void begin_job() {}

  /// From here on jobs are measured once more. A simulation draws its noise anew; the device stays
  /// the same.
  virtual void draw_anew() {}

  /// What the driver says of the link to a peer that the device was opened with.
  virtual PeerLink link_to(const std::string& /*peer_uuid*/) { return PeerLink::unknown; }

  /// The number that the GPU itself gives an SM of this device. It differs only if the device
  /// stands for some SMs of a GPU (some_sms.hpp).
  virtual int sm_of_gpu(int sm) const { return sm; }

  /// Registers per thread of the kernels that can fill an SM (OccupancyProbe), ascending; or none.
  virtual std::vector<int> register_counts() { return {}; }

  /// Machine code of a step of an operation (ArithmeticProbe), as "FMUL, MUFU.SIN"; empty: unknown.
  virtual std::string machine_code(const std::string& /*op*/) { return {}; }

  /// Plays a probe.
  /// @throws DeviceError if this probe failed, or cannot run on this device and why
  /// @throws DeviceLostError if no further probe can run
  Trace run(const ProbeSpec& spec);

  /// The most accesses that a chase can record one by one with this carve-out.
  std::uint64_t recordable_accesses(std::uint64_t shared_carveout_bytes) const;

 protected:
  Device() = default;
  virtual Trace play(const ProbeSpec& spec) = 0;
};

/// A GPU that could be opened: the data by which ranks agree before any GPU is opened.
struct DeviceChoice {
  std::string uuid;
  int ordinal = 0;
  // As in DeviceInfo, so that a run can be refused or estimated before it begins:
  std::string name = "";
  int sm_count = 0;
  std::vector<std::uint64_t> shared_carveouts_bytes = {};
};

}  // namespace sonde
