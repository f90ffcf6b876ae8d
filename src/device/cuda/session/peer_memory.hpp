// Memory of other GPUs of the node, for probes that reach into it. This process makes a context of
// its own on each of them, so that no other process has to hand out anything, or to live as long
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
  /// Touches none of them yet.
  /// @param own_ordinal of the GPU that reaches into the others
  /// @param peers as this process numbers them
  PeerMemory(int own_ordinal, const std::vector<DeviceChoice>& peers);
  /// Gives the memory back.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// A buffer on that peer that kernels of the own GPU reach, zeros at first. One for each peer:
  /// what a larger one before it held, it still spans.
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
