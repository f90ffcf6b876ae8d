// The one switch between the backends, and the one place that knows whether CUDA is there.
#include "device/open_device.hpp"

#include "base/error.hpp"
#include "device/sim/die.hpp"
#include "device/sim/model/model_files.hpp"
#include "device/sim/sim_device.hpp"
#ifdef SONDE_HAS_CUDA
#include "device/cuda/cuda_device.hpp"
#endif

namespace sonde {
namespace {

constexpr const char* usage =
    " (it says what is measured) use cuda, or sim:<model>[,<model>...] as 'sonde list models' "
    "shows them";

#ifndef SONDE_HAS_CUDA
[[noreturn]] void refuse_cuda() {
  throw ConfigError(
      "this sonde was built without CUDA (it cannot see real GPUs) build it where "
      "nvcc is found, or use --backend sim:<model>");
}
std::vector<DeviceChoice> list_cuda_devices() { refuse_cuda(); }
std::unique_ptr<Device> open_cuda_device(const DeviceChoice&, std::uint64_t) { refuse_cuda(); }
#endif

void check_cuda() {
#ifndef SONDE_HAS_CUDA
  refuse_cuda();
#endif
}

/// Models are dealt to the ranks in order and over again; the ordinal of a simulated GPU is the
/// rank that it was made for.
const std::string& model_of(const BackendChoice& backend, int world_rank) {
  return backend.models[static_cast<std::size_t>(world_rank) % backend.models.size()];
}

}  // namespace

BackendChoice parse_backend(const std::string& text) {
  if (text == "cuda") return {.kind = BackendChoice::Kind::cuda, .models = {}};
  if (!text.starts_with("sim:")) throw ConfigError("no backend '" + text + "'" + usage);
  BackendChoice backend{.kind = BackendChoice::Kind::sim, .models = {}};
  for (std::size_t at = 4; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    backend.models.push_back(text.substr(at, comma - at));
    if (backend.models.back().empty()) {
      throw ConfigError("an empty model name in '" + text + "'" + usage);
    }
    at = comma + 1;
  }
  return backend;
}

void check_backend(const BackendChoice& backend) {
  switch (backend.kind) {
    case BackendChoice::Kind::cuda: check_cuda(); return;
    case BackendChoice::Kind::sim:
      for (const std::string& model : backend.models) sim::load_faulty_model(model);
      return;
  }
}

std::vector<DeviceChoice> list_visible_devices(const BackendChoice& backend, int world_rank,
                                               std::uint64_t seed) {
  switch (backend.kind) {
    case BackendChoice::Kind::cuda: return list_cuda_devices();
    case BackendChoice::Kind::sim:
      return {{.uuid = sim::make_uuid(sim::die_seed(seed, world_rank)), .ordinal = world_rank}};
  }
  throw Error("unknown backend");
}

std::unique_ptr<Device> open_device(const BackendChoice& backend, const DeviceChoice& choice,
                                    std::uint64_t seed) {
  switch (backend.kind) {
    case BackendChoice::Kind::cuda: return open_cuda_device(choice, seed);
    case BackendChoice::Kind::sim:
      return std::make_unique<sim::SimDevice>(
          sim::load_faulty_model(model_of(backend, choice.ordinal)),
          sim::die_seed(seed, choice.ordinal));
  }
  throw Error("unknown backend");
}

std::vector<std::string> list_models() {
  std::vector<std::string> names;
  for (const sim::ShippedModel& model : sim::shipped_models()) names.emplace_back(model.name);
  return names;
}

}  // namespace sonde
