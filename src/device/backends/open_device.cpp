// Knows which backends there are, and which of them are part of this build; no other file does.
#include "device/backends/open_device.hpp"

#include "base/error.hpp"
#include "device/sim/model/die.hpp"
#include "device/sim/model/model_files.hpp"
#include "device/sim/play/peer.hpp"
#include "device/sim/sim_device.hpp"
#ifdef SONDE_HAS_CUDA
#include "device/cuda/cuda_device.hpp"
#endif

#include <algorithm>
#include <string_view>

namespace sonde {

namespace {

constexpr const char* usage =
    " (it names what is measured). Use cuda, or sim:<model>[,<model>...] as 'sonde list models' "
    "shows them";

#ifdef SONDE_HAS_CUDA
void check_cuda() {}
#else
[[noreturn]] void check_cuda() {
  throw ConfigError(
      "this sonde was built without CUDA (it cannot see real GPUs) build it where nvcc is found, "
      "or "
      "use --backend sim:<model>");
}
std::vector<DeviceChoice> list_cuda_devices() { check_cuda(); }
std::unique_ptr<Device> open_cuda_device(const DeviceChoice&, std::uint64_t, double,
                                         const std::vector<NodeGpu>&) {
  check_cuda();
}
DriverSurvey survey_cuda() { return {.cuda_in_build = false}; }
#endif

/// Models are dealt to the ranks in order and over again.
sim::FaultyModel model_of_rank(const BackendChoice& backend, int world_rank) {
  const auto rank = static_cast<std::size_t>(world_rank);
  return sim::load_faulty_model(backend.models[rank % backend.models.size()]);
}

/// The ordinal of a simulated GPU is the rank that it was made for.
std::unique_ptr<Device> open_simulated(const BackendChoice& backend, const DeviceChoice& choice,
                                       std::uint64_t seed, const std::vector<NodeGpu>& peers) {
  sim::FaultyModel own = model_of_rank(backend, choice.ordinal);
  std::vector<sim::LinkedPeer> linked;
  for (const NodeGpu& peer : peers) {
    const sim::FaultyModel other = model_of_rank(backend, peer.rank);
    linked.push_back({.uuid = peer.uuid,
                      .link = sim::join_ends({.faulty = own, .world_rank = choice.ordinal},
                                             {.faulty = other, .world_rank = peer.rank})});
  }
  return std::make_unique<sim::SimDevice>(std::move(own), sim::die_seed(seed, choice.ordinal),
                                          std::move(linked));
}

std::vector<std::string> split_models(const std::string& text, std::size_t at) {
  std::vector<std::string> models;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    models.push_back(text.substr(at, comma - at));
    if (models.back().empty()) throw ConfigError("an empty model name in '" + text + "'" + usage);
    at = comma + 1;
  }
  return models;
}

}  // namespace

BackendChoice parse_backend(const std::string& text) {
  constexpr std::string_view prefix = "sim:";
  if (text == "cuda") return {};
  if (text.starts_with(prefix)) {
    return {.backend = Backend::sim, .models = split_models(text, prefix.size())};
  }
  throw ConfigError("no backend '" + text + "'" + usage);
}

void check_backend(const BackendChoice& choice) {
  if (choice.backend == Backend::cuda) return check_cuda();
  for (const std::string& model : choice.models) sim::load_faulty_model(model);
  sim::prepare_to_lose_gpus();
}

std::vector<DeviceChoice> list_visible_devices(const BackendChoice& choice, int world_rank,
                                               std::uint64_t seed) {
  if (choice.backend == Backend::cuda) return list_cuda_devices();
  const DeviceInfo info = model_of_rank(choice, world_rank).model.device;
  return {{.uuid = sim::make_uuid(sim::die_seed(seed, world_rank)),
           .ordinal = world_rank,
           .name = info.name,
           .sm_count = info.sm_count,
           .shared_carveouts_bytes = info.shared_carveouts_bytes}};
}

bool can_reach(const BackendChoice& backend, const std::vector<DeviceChoice>& visible,
               const std::string& uuid) {
  return backend.backend == Backend::sim ||
         std::ranges::find(visible, uuid, &DeviceChoice::uuid) != visible.end();
}

std::unique_ptr<Device> open_device(const BackendChoice& backend, const DeviceChoice& choice,
                                    std::uint64_t seed, double memory_share,
                                    const std::vector<NodeGpu>& peers) {
  return backend.backend == Backend::cuda ? open_cuda_device(choice, seed, memory_share, peers)
                                          : open_simulated(backend, choice, seed, peers);
}

std::optional<DriverSurvey> survey_driver(const BackendChoice& backend) {
  if (backend.backend == Backend::sim) return std::nullopt;
  return survey_cuda();
}

std::vector<std::string> list_models() { return sim::list_shipped(); }

}  // namespace sonde
