// The lanes of a chase that take one load path: the words or the code that they access, and the
// launch that plays them. play/chase.cpp runs one such launch, or two at once.
#pragma once

#include "device/cuda/lanes/chase_launch.hpp"

#include <memory>

namespace sonde::cuda {

/// The constructor adds its arrays to those of the session and fills them. Then queue and run its
/// plan, and check it.
class PathLanes {
 public:
  virtual ~PathLanes() = default;

  /// Queues the writing of the words, and the flush if the probe asks for it.
  /// @param shape of the chase's kernel
  virtual void queue_before(const LaunchShape& shape) = 0;

  /// Queues the chase or, if the shape has no blocks, only loads its kernel.
  void queue_chase(const LaunchShape& shape, cudaStream_t stream) const {
    launch(kernel_, plan_.launch(), shape, stream);
  }

  /// After a run. @throws DeviceError if a lane did not end where its list does
  virtual void check() const = 0;

  /// The value that leads to an offset: the place of a word, or of a block of code.
  virtual std::uint64_t place(std::uint64_t offset_bytes) const = 0;

  ChaseLaunchPlan& plan() { return plan_; }

 protected:
  /// @param probe outlives this
  PathLanes(Session& session, const ChaseProbe& probe, kernels::Kernel<kernels::ChaseLaunch> kernel)
      : session_(session), probe_(probe), plan_(session, probe), kernel_(kernel) {}
  PathLanes(const PathLanes&) = delete;
  PathLanes& operator=(const PathLanes&) = delete;

  Session& session_;
  const ChaseProbe& probe_;
  ChaseLaunchPlan plan_;

 private:
  kernels::Kernel<kernels::ChaseLaunch> kernel_;
};

/// Lanes that load: by chains, or by scripts where the lists cannot be chains.
/// @throws DeviceError
std::unique_ptr<PathLanes> make_data_lanes(Session& session, const ChaseProbe& probe);

/// Lanes that execute code.
/// @throws DeviceError if the program has less code
std::unique_ptr<PathLanes> make_code_lanes(Session& session, const ChaseProbe& probe);

}  // namespace sonde::cuda
