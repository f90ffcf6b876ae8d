// The links of a GPU as its driver tells of them: to the host, and to other GPUs; and the errors
// that the driver logged. Plain data, the same for every backend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Empty: the driver does not tell.
struct PcieLink {
  std::optional<int> generation{};       // now; a link that has nothing to do may save power
  std::optional<int> width{};            // lanes, now
  std::optional<int> most_generation{};  // that GPU and slot can have together
  std::optional<int> most_width{};
  std::optional<std::uint64_t> replays{};  // packets sent again since the driver was loaded
};

struct NvLink {
  int number = 0;
  bool active = false;
  std::optional<std::uint64_t> crc_errors{};  // since the driver was loaded; likewise the others
  std::optional<std::uint64_t> replays{};
  std::optional<std::uint64_t> recoveries{};
};

struct Links {
  PcieLink pcie;
  std::vector<NvLink> nvlinks{};  // those that the GPU has
};

/// Xid errors that the kernel's log holds of this GPU.
struct XidLog {
  std::vector<int> codes{};   // in the order of the log
  double begins_after_s = 0;  // how long after boot the oldest line was written that is there still
  std::string unreadable{};   // why the log could not be read; then there are no codes
};

}  // namespace sonde
