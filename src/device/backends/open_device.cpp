// The one table of backends, and the one place that knows which of them are part of this build.
#include "device/backends/open_device.hpp"

#include "base/error.hpp"
#include "device/sim/gone.hpp"
#include "device/sim/model/die.hpp"
#include "device/sim/model/model_files.hpp"
#include "device/sim/play/peer.hpp"
#include "device/sim/sim_device.hpp"
#ifdef SONDE_HAS_CUDA
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/survey.hpp"
#endif

#include <algorithm>
#include <array>

namespace sonde {

/// How GPUs of one kind are reached.
struct Backend {
  std::string_view name;
  bool has_models = false;      // the name is followed by a colon and models
  bool reaches_unseen = false;  // a process may reach GPUs that only other ranks list
  void (*check)(const BackendChoice&);
  std::vector<DeviceChoice> (*list)(int world_rank, std::uint64_t seed);
  std::unique_ptr<Device> (*open)(const BackendChoice&, const DeviceChoice&, std::uint64_t seed,
                                  double memory_share, const std::vector<NodeGpu>&);
  std::optional<DriverSurvey> (*survey)();
};

namespace {

constexpr const char* usage =
    " (it says what is measured) use cuda, or sim:<model>[,<model>...] as 'sonde list models' "
    "shows them";

#ifndef SONDE_HAS_CUDA
[[noreturn]] void refuse_cuda() {
  throw ConfigError(
      "this sonde was built without CUDA (it cannot see real GPUs) build it where nvcc is found, "
      "or "
      "use --backend sim:<model>");
}
std::vector<DeviceChoice> list_cuda_devices() { refuse_cuda(); }
std::unique_ptr<Device> open_cuda_device(const DeviceChoice&, std::uint64_t, double,
                                         const std::vector<NodeGpu>&) {
  refuse_cuda();
}
DriverSurvey survey_cuda() { return {.cuda_in_build = false}; }
#endif

void check_cuda(const BackendChoice&) {
#ifndef SONDE_HAS_CUDA
  refuse_cuda();
#endif
}

void check_models(const BackendChoice& choice) {
  for (const std::string& model : choice.models) sim::load_faulty_model(model);
  sim::prepare_to_lose_gpus();
}

/// A simulated rank sees the one GPU that was made for its place in the world.
std::vector<DeviceChoice> list_simulated(int world_rank, std::uint64_t seed) {
  return {{.uuid = sim::make_uuid(sim::die_seed(seed, world_rank)), .ordinal = world_rank}};
}

/// Models are dealt to the ranks in order and over again.
sim::FaultyModel model_of_rank(const BackendChoice& backend, int world_rank) {
  const auto rank = static_cast<std::size_t>(world_rank);
  return sim::load_faulty_model(backend.models[rank % backend.models.size()]);
}

/// The ordinal of a simulated GPU is the rank that it was made for.
std::unique_ptr<Device> open_simulated(const BackendChoice& backend, const DeviceChoice& choice,
                                       std::uint64_t seed, double /*memory_share*/,
                                       const std::vector<NodeGpu>& peers) {
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

constexpr std::array backends{
    Backend{.name = "cuda",
            .check = check_cuda,
            .list = [](int, std::uint64_t) { return list_cuda_devices(); },
            .open =
                [](const BackendChoice&, const DeviceChoice& choice, std::uint64_t seed,
                   double share, const std::vector<NodeGpu>& peers) {
                  return open_cuda_device(choice, seed, share, peers);
                },
            .survey = [] { return std::optional(survey_cuda()); }},
    Backend{.name = "sim",
            .has_models = true,
            .reaches_unseen = true,
            .check = check_models,
            .list = list_simulated,
            .open = open_simulated,
            .survey = [] { return std::optional<DriverSurvey>(); }}};

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
  const std::size_t colon = text.find(':');
  for (const Backend& backend : backends) {
    if (backend.name != text.substr(0, colon)) continue;
    if (backend.has_models != (colon != std::string::npos)) break;
    if (!backend.has_models) return {.backend = &backend, .models = {}};
    return {.backend = &backend, .models = split_models(text, colon + 1)};
  }
  throw ConfigError("no backend '" + text + "'" + usage);
}

void check_backend(const BackendChoice& choice) { choice.backend->check(choice); }

std::vector<DeviceChoice> list_visible_devices(const BackendChoice& choice, int world_rank,
                                               std::uint64_t seed) {
  return choice.backend->list(world_rank, seed);
}

bool can_reach(const BackendChoice& backend, const std::vector<DeviceChoice>& visible,
               const std::string& uuid) {
  return backend.backend->reaches_unseen ||
         std::ranges::find(visible, uuid, &DeviceChoice::uuid) != visible.end();
}

std::unique_ptr<Device> open_device(const BackendChoice& backend, const DeviceChoice& choice,
                                    std::uint64_t seed, double memory_share,
                                    const std::vector<NodeGpu>& peers) {
  return backend.backend->open(backend, choice, seed, memory_share, peers);
}

std::optional<DriverSurvey> survey_driver(const BackendChoice& backend) {
  return backend.backend->survey();
}

std::vector<std::string> list_models() {
  std::vector<std::string> names;
  for (const sim::ShippedFile& model : sim::shipped_files()) names.emplace_back(model.name);
  return names;
}

}  // namespace sonde
