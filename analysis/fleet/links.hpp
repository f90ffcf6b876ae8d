// Charges on the ground of the device itself: Xids, and links to the host and to other GPUs.
#pragma once

#include "analysis/fleet/fleet.hpp"

namespace sonde {

/// Charges from what the jobs `device` and `host` were told of links and errors: Xids
/// (xids.hpp), PCIe replays, NVLink errors, links that are down, narrow or slow, and copies that
/// are far slower than the link.
std::vector<Charge> link_charges(const RunResult& run);

}  // namespace sonde
