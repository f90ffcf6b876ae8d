// Writes a random run file for tests of readers: make_run_file <path> <devices>
#include "base/error.hpp"
#include "store/analysis_file.hpp"
#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 3) return 2;
  try {
    const auto devices = static_cast<std::size_t>(std::atoi(argv[2]));
    write_run_alone(
        argv[1], test::some_provenance(), {{"node0", "GPU-idle"}}, devices, [](std::size_t i) {
          DeviceResult device = test::random_device(11, static_cast<int>(i), 2000);
          device.jobs = {test::random_job(i, "cache.l1", 2000), test::random_job(i, "sharing")};
          device.jobs[0].findings = {found("cache.l1.line_bytes", 128.0, 1, 9),
                                     found("cache.l1.replacement", "lru", 0.5, 7)};
          return device;
        });
    append_analysis(argv[1], {R"({"schema": 1})",
                              {{"all", "cache.l1.line_bytes", devices, 128, 0, 128, 128, 0, ""}},
                              {{"GPU-0", "pass", "unknown", ""}}});
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
