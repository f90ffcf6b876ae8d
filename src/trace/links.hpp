// The links of a GPU to the host and to other GPUs, and the errors that the driver logged, as the
// driver reports them. Plain data, the same for every backend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A field is empty if the driver does not report it.
struct PcieLink {
  std::optional<int> generation{};       // current; an idle link may save power
  std::optional<int> width{};            // current number of lanes
  std::optional<int> most_generation{};  // that GPU and slot allow together
  std::optional<int> most_width{};
  std::optional<std::uint64_t> replays{};  // packets sent again since the driver was loaded
};

struct NvLink {
  int number = 0;
  bool active = false;
  std::optional<std::uint64_t> crc_errors{};  // all counters: since the driver was loaded
  std::optional<std::uint64_t> replays{};
  std::optional<std::uint64_t> recoveries{};
};

struct Links {
  PcieLink pcie;
  std::vector<NvLink> nvlinks{};  // all links of the GPU
};

/// Xid errors of this GPU in the kernel's log.
struct XidLog {
  std::vector<int> codes{};   // in the order of the log
  double begins_after_s = 0;  // time of the log's oldest line, in seconds after boot
  std::string unreadable{};   // why the log could not be read (no codes then)
};

}  // namespace sonde
