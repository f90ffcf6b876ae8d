// See cuda_device.hpp. Each kind of probe has its own file, play_*.cpp.
#include "device/cuda/cuda_device.hpp"

#include "base/error.hpp"
#include "device/cuda/inventory.hpp"
#include "device/cuda/players.hpp"
#include "device/cuda/session.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(const DeviceChoice& choice, std::uint64_t seed)
      : session_(std::make_unique<cuda::Session>(choice.ordinal, seed)) {
    if (info().uuid != choice.uuid) {
      throw DeviceError(
          fmt::format("GPU {} is {} and not {} (the GPUs changed since they were "
                      "listed). Start again",
                      choice.ordinal, info().uuid, choice.uuid));
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
    if (session_->lost()) {
      throw DeviceLostError(
          "the GPU was lost by an earlier probe (nothing more can be measured on "
          "it in this process)");
    }
    try {
      Conditions conditions = session_->start_conditions();
      Trace trace = std::visit([this](const auto& probe) { return play_probe(probe); }, spec);
      session_->finish_conditions(conditions);
      trace.conditions = conditions;
      return trace;
    } catch (const DeviceLostError&) {
      session_->mark_lost();
      throw;
    }
  }

 private:
  Trace play_probe(const ChaseProbe& probe) { return cuda::play_chase(*session_, probe); }
  Trace play_probe(const ClockProbe& probe) { return cuda::play_clock(*session_, probe); }
  Trace play_probe(const TimestampProbe& probe) { return cuda::play_timestamps(*session_, probe); }
  Trace play_probe(const ClusterProbe& probe) { return cuda::play_clusters(*session_, probe); }
  Trace play_probe(const StreamProbe& probe) { return cuda::play_stream(*session_, probe); }
  Trace play_probe(const SharedChaseProbe& probe) {
    return cuda::play_shared_chase(*session_, probe);
  }
  Trace play_probe(const SharedStreamProbe& probe) {
    return cuda::play_shared_stream(*session_, probe);
  }
  Trace play_probe(const BypassProbe& probe) { return cuda::play_bypass(*session_, probe); }

  std::unique_ptr<cuda::Session> session_;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(const DeviceChoice& choice, std::uint64_t seed) {
  return std::make_unique<CudaDevice>(choice, seed);
}

}  // namespace sonde
