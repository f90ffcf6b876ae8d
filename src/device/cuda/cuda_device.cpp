// A GPU by CUDA: lets its session measure, and plays each kind of probe by an overload of play.
#include "device/cuda/cuda_device.hpp"

#include "device/cuda/play.hpp"
#include "device/device_error.hpp"

namespace sonde {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(const DeviceChoice& choice, std::uint64_t seed)
      : session_(std::make_unique<cuda::Session>(choice.ordinal, seed)) {
    if (info().uuid != choice.uuid) {
      throw_device_error(
          "GPU {} is {} and not {} (the GPUs changed since they were listed). Start again",
          choice.ordinal, info().uuid, choice.uuid);
    }
  }
  /// What a lost GPU holds is left to the end of the process: to free it could hang.
  ~CudaDevice() override {
    if (session_->lost()) static_cast<void>(session_.release());
  }

  const DeviceInfo& info() const override { return session_->info(); }
  Health health() override { return session_->health(); }

 protected:
  Trace play(const ProbeSpec& spec) override {
    return session_->measure([&] {
      return std::visit([&](const auto& probe) { return cuda::play(*session_, probe); }, spec);
    });
  }

 private:
  std::unique_ptr<cuda::Session> session_;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(const DeviceChoice& choice, std::uint64_t seed) {
  return std::make_unique<CudaDevice>(choice, seed);
}

}  // namespace sonde
