// Any bytes as the shard that an earlier run left: `--resume` goes on with it, or measures anew,
// and what it writes can be read again.
#include "fuzz/fuzz_input.hpp"
#include "store/run_reader.hpp"
#include "store/shard.hpp"
#include "support/random_run.hpp"

#include <cstdlib>
#include <fstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static const test::TemporaryFolder parts;
  static const DeviceResult device = test::good_device();
  const auto finished = parts / (device.info.uuid + ".h5");
  for (const auto& entry : std::filesystem::directory_iterator(parts.path())) {
    std::filesystem::remove(entry.path());
  }
  const std::vector<std::uint8_t> content = test::to_run_file({data, size});
  std::ofstream(finished.string() + ".part", std::ios::binary)
      .write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));

  ResumedShard resumed = Shard::resume(parts.path(), device, test::some_provenance());
  resumed.shard.finish(device);
  const auto jobs = RunReader(finished).read_devices({0, 1}, Depth::probes).at(0).jobs;
  if (jobs.size() != resumed.done.size()) std::abort();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (test::print(jobs[i]) != test::print(resumed.done[i])) std::abort();
  }
  return 0;
}
