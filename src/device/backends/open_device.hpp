// Turns --backend into devices.
#pragma once

#include "device/device.hpp"
#include "trace/gpu_survey.hpp"

#include <optional>

namespace sonde {

enum class Backend { cuda, sim };

/// What --backend says: "cuda", or "sim:" with models (names of shipped ones or paths to JSON
/// files, each with optional faults "+slow_sm=17:3") that are dealt to the ranks in order.
struct BackendChoice {
  Backend backend = Backend::cuda;
  std::vector<std::string> models;  // sim: at least one
};

/// @throws ConfigError if the text names no backend; models are looked up by check_backend.
BackendChoice parse_backend(const std::string& text);

/// Loads every model once so that a typo is found before any rank works.
/// @throws ConfigError naming the model and what is wrong, or that CUDA was left out of this build
void check_backend(const BackendChoice& backend);

/// GPUs that this process can see. A simulated rank sees the one GPU that was made for it.
/// @throws DeviceError if a driver cannot list its GPUs; without GPU the list is empty
std::vector<DeviceChoice> list_visible_devices(const BackendChoice& backend, int world_rank,
                                               std::uint64_t seed);

/// True if a process that sees these devices can reach that GPU of its node, too. A simulated rank
/// sees one GPU, and reaches all.
bool can_reach(const BackendChoice& backend, const std::vector<DeviceChoice>& visible,
               const std::string& uuid);

/// Opens one of the devices that list_visible_devices gave on this rank.
/// @param memory_share of its free memory that probes may take, 0..1
/// @param peers whose memory its probes may name; each can be reached
/// @throws DeviceError
std::unique_ptr<Device> open_device(const BackendChoice& backend, const DeviceChoice& choice,
                                    std::uint64_t seed, double memory_share = 1,
                                    const std::vector<NodeGpu>& peers = {});

/// What the driver reports of itself and its GPUs; nothing if they are simulated. A faulty driver
/// may let it hang.
std::optional<DriverSurvey> survey_driver(const BackendChoice& backend);

/// Names of the shipped simulated GPUs.
std::vector<std::string> list_models();

}  // namespace sonde
