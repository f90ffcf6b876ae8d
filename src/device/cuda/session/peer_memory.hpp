// Memory of other GPUs of the node, for probes that access it. This process makes a context of its
// own on each of them, so that it does not depend on the process that measures that GPU
// (docs/decisions/0009-one-process-opens-its-peers.md).
#pragma once

#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::cuda {

class PeerMemory {
 public:
  /// Touches no peer yet.
  /// @param own_ordinal of the GPU that accesses the others
  /// @param peers as this process numbers them
  PeerMemory(int own_ordinal, const std::vector<DeviceChoice>& peers);
  /// Frees the memory.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// A buffer on that peer that kernels of the own GPU can access. Each peer has one, which grows
  /// when needed and is then zero.
  /// @throws DeviceError if it is no peer, or cannot be reached, and why
  std::byte* buffer(const std::string& uuid, std::uint64_t size_bytes);

 private:
  struct Held {
    DeviceChoice peer;
    bool enabled = false;
    std::byte* memory = nullptr;
    std::uint64_t size_bytes = 0;
  };
  void enable(Held& held);
  void reserve(Held& held, std::uint64_t size_bytes);

  int own_ordinal_;
  std::vector<Held> held_;
};

}  // namespace sonde::cuda
