// Results as run files, and processes of their own that write them and die.
#pragma once

#include "store/write_run.hpp"
#include "support/random_run.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace sonde::test {

inline void write_run_file(const std::filesystem::path& path, const RunResult& run) {
  write_run_alone(path, run.provenance, run.unaudited, run.devices.size(),
                  [&run](std::size_t i) { return run.devices[i]; });
}

inline void write_run_file(const std::filesystem::path& path, std::vector<DeviceResult> devices) {
  write_run_file(path, {some_provenance(), std::move(devices), {}});
}

/// @return what wait() says of a process that did this work and ended with what it gives
template <class Work>
int status_of_process(Work&& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace sonde::test
