// A whole run at once.
#include "store/read_run.hpp"

#include "store/run_reader.hpp"

namespace sonde {

RunResult read_run(const std::filesystem::path& path, WithTraces traces) {
  const RunReader reader(path);
  return {reader.provenance(), reader.read_devices({0, reader.device_count()}, traces),
          reader.read_unaudited()};
}

}  // namespace sonde
