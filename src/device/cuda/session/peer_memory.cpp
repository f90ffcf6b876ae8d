// Opens the link to each peer at its first use. A failure on a peer does not lose the own GPU.
#include "device/cuda/session/peer_memory.hpp"

#include "base/units.hpp"
#include "device/cuda/session/cuda_check.hpp"
#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

/// Makes another GPU the current one while it lives.
class OnGpu {
 public:
  OnGpu(int ordinal, int back) : back_(back) { error_ = cudaSetDevice(ordinal); }
  ~OnGpu() { SONDE_CUDA_WARN(cudaSetDevice(back_)); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  cudaError_t error() const { return error_; }

 private:
  int back_;
  cudaError_t error_ = cudaSuccess;
};

/// @throws DeviceError if there is an error
void check(cudaError_t error, const std::string& uuid, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // the next launch shall not report it again
  throw_device_error("{} GPU {} failed: {} ({}; its link cannot be measured). See dmesg", what,
                     uuid, cudaGetErrorString(error), cudaGetErrorName(error));
}

}  // namespace

PeerMemory::PeerMemory(int own_ordinal, const std::vector<DeviceChoice>& peers)
    : own_ordinal_(own_ordinal) {
  for (const DeviceChoice& peer : peers) held_.push_back({.peer = peer});
}

PeerMemory::~PeerMemory() {
  for (const Held& held : held_) {
    if (held.memory != nullptr) SONDE_CUDA_WARN(cudaFree(held.memory));
  }
}

void PeerMemory::enable(Held& held) {
  if (held.enabled) return;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, own_ordinal_, held.peer.ordinal), held.peer.uuid,
        "asking for peer access to");
  if (can == 0) {
    throw_device_error(
        "no peer access to GPU {} (the driver refuses it: MIG, an IOMMU, or no common PCIe root or "
        "NVLink). See nvidia-smi topo -p2p rw",
        held.peer.uuid);
  }
  check(cudaDeviceEnablePeerAccess(held.peer.ordinal, 0), held.peer.uuid,
        "enabling peer access to");
  held.enabled = true;
}

void PeerMemory::reserve(Held& held, std::uint64_t size_bytes) {
  if (held.size_bytes >= size_bytes) return;
  const OnGpu there(held.peer.ordinal, own_ordinal_);
  check(there.error(), held.peer.uuid, "a context on");
  if (held.memory != nullptr) check(cudaFree(held.memory), held.peer.uuid, "freeing memory of");
  held.memory = nullptr;
  held.size_bytes = 0;
  void* memory = nullptr;
  check(cudaMalloc(&memory, size_bytes), held.peer.uuid, "taking memory of");
  held.memory = static_cast<std::byte*>(memory);
  held.size_bytes = size_bytes;
  // Zeroed only here: when all GPUs work, it would wait for the kernels of the peer, and the own
  // kernel for it. The host waits, as the kernels of the own GPU do not wait for this.
  check(cudaMemset(held.memory, 0, size_bytes), held.peer.uuid, "zeroing memory of");
  check(cudaStreamSynchronize(nullptr), held.peer.uuid, "zeroing memory of");
}

std::byte* PeerMemory::buffer(const std::string& uuid, std::uint64_t size_bytes) {
  const auto held = std::ranges::find(
      held_, uuid, [](const Held& one) -> auto& { return one.peer.uuid; });
  if (held == held_.end()) {
    throw_device_error("GPU {} is no peer of this one (it was not opened with it)", uuid);
  }
  enable(*held);
  reserve(*held, size_bytes);
  return held->memory;
}

}  // namespace sonde::cuda
